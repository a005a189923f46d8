import { expect, test } from "bun:test"
import { createAddressWords, findRoleWord, readAddressHints } from "../../../src/check/address/address-hints.ts"

const LISTS = {
  role: ["info", "no-reply", "postmaster", "sales", "web2"],
  sharedInbox: ["info", "sales", "support", "customer-service", "customer", "büro"],
  group: ["all", "team", "all-staff", "dl"],
  region: ["berlin", "emea"],
  personName: [],
  groupDomains: ["googlegroups.com", "groups.io", "groups.outlook.com"],
}
const WORDS = createAddressWords(LISTS)
const hints = (localPart: string, domain = "acme.com") => readAddressHints(localPart, domain, WORDS)
const NONE = { isRole: false, sharedInbox: null, group: null, groupService: null }

test("a person's name gives no hints", () => {
  for (const name of [
    "jane",
    "jane.doe",
    "j-d",
    "saleswoman",
    "ateam",
    "information",
    "allison",
    "wall",
    "i.nfo",
    "sa.les",
    ".",
    "-",
    "_",
    "--",
  ]) {
    expect([name, hints(name)]).toEqual([name, NONE])
  }
})

test("a shared-inbox or group word matches the complete local part, its start or its end", () => {
  const shared: readonly (readonly [string, string | null])[] = [
    ["sales", "sales"],
    ["sales-emea", "sales"],
    ["sales.emea", "sales"],
    ["sales_emea", "sales"],
    ["emea-sales", "sales"],
    ["emea.east_sales", "sales"],
    ["-sales", "sales"],
    ["sales--x", "sales"],
    ["büro", "büro"],
    ["customer-service", "customer-service"],
    ["customer.service", "customer-service"],
    ["customer_service", "customer-service"],
    ["customerservice", "customerservice"],
    ["customer-service-de", "customer-service"],
    ["de.customer.service", "customer-service"],
    ["customer-care", "customer"],
    ["sales-support", "sales"],
    ["emea-sales-east", null],
    ["x-customer-service-y", null],
    ["sales2", null],
    ["presales", null],
    ["salesteam", null],
  ]
  for (const [name, word] of shared) expect([name, hints(name).sharedInbox]).toEqual([name, word])
  const groups: readonly (readonly [string, string | null])[] = [
    ["all", "all"],
    ["all-staff", "all-staff"],
    ["allstaff", "allstaff"],
    ["all.staff.berlin", "all-staff"],
    ["all-hands", "all"],
    ["dl-marketing", "dl"],
    ["berlin-team", "team"],
    ["my-team-x", null],
    ["teams", null],
  ]
  for (const [name, word] of groups) expect([name, hints(name).group]).toEqual([name, word])
})

test("a name can hint at a shared inbox and at a group", () => {
  expect(hints("sales-team")).toMatchObject({ sharedInbox: "sales", group: "team" })
})

test("a role word matches the complete local part, with or without a number of one or two digits", () => {
  for (const name of [
    "info",
    "sales",
    "postmaster",
    "no-reply",
    "no.reply",
    "no_reply",
    "noreply",
    "info2",
    "info-2",
    "info.01",
    "noreply1",
    "web2",
  ]) {
    expect([name, hints(name).isRole]).toEqual([name, true])
  }
  for (const name of ["jane-info", "info.jane", "info123", "info2024", "2info", "infosx", "12", "web", "n.oreply"]) {
    expect([name, hints(name).isRole]).toEqual([name, false])
  }
})

test("a group service is recognised by its domains and their subdomains", () => {
  expect(hints("jane", "googlegroups.com")).toEqual({ ...NONE, groupService: "googlegroups.com" })
  expect(hints("jane", "a.b.groups.io").groupService).toBe("groups.io")
  expect(hints("jane", "groups.outlook.com").groupService).toBe("groups.outlook.com")
  for (const domain of ["outlook.com", "xgroups.io", "groups.io.com", "io", ""])
    expect(hints("jane", domain)).toEqual(NONE)
})

test("an input without a local part gives no hints, whatever its domain", () => {
  expect(hints("", "googlegroups.com")).toEqual(NONE)
})

test("the quick look at the edges of a name never changes its hints", () => {
  const parts = ["info", "jane", "no", "reply", "all", "staff", "sales", "x", "2", "01", "info2", "team", ""]
  const all = [...parts, ...parts.flatMap(a => parts.flatMap(b => [`${a}.${b}`, `${a}-${b}`, `${a}_x-${b}`]))]
  const wordAt = (name: string, words: readonly string[]): string | null => {
    const tokens = name.split("-")
    const runs = tokens.map((_, at) => tokens.slice(0, tokens.length - at).join("-"))
    const tails = tokens.map((_, at) => tokens.slice(at).join("-"))
    return [...runs, ...tails].find(run => words.includes(run)) ?? null
  }
  for (const localPart of all) {
    const name = localPart.replace(/[._]/g, "-")
    const { isRole, sharedInbox, group } = readAddressHints(localPart, "acme.com", WORDS)
    expect({ localPart, sharedInbox, group }).toEqual({
      localPart,
      sharedInbox: wordAt(name, LISTS.sharedInbox),
      group: wordAt(name, LISTS.group),
    })
    expect({ localPart, isRole }).toEqual({ localPart, isRole: findRoleWord(localPart, WORDS) !== null })
  }
})

test("hints are the same when they are asked again, and when the whole address is at hand", () => {
  const names = ["jo", "jo12", "12", "info", "info2", "sales-emea", "jane.doe", "no-reply", "team", "te"]
  for (const name of [...names, ...names, ...names]) {
    const alone = readAddressHints(name, "acme.com", createAddressWords(LISTS))
    expect([name, readAddressHints(name, "acme.com", WORDS, `${name}@sales-info.com`)]).toEqual([name, alone])
  }
})

test("hints are cached from the second time on, so that local parts that come once displace none that recur", () => {
  const words = createAddressWords(LISTS)
  const isCachedAfterAsking = (): boolean => {
    readAddressHints("team", "acme.com", words)
    return words.recurringHints.get("team") !== undefined
  }
  expect([isCachedAfterAsking(), isCachedAfterAsking()]).toEqual([false, true])
})
