import { describe, expect, test } from "bun:test"
import { recordFeedback } from "../../src/customers/feedback/feedback.ts"
import { random } from "../customers/temp-store.ts"
import { openCommands } from "./open-commands.ts"

const DAY_MS = 86_400_000

/** The commands at 10 January 1970, over what happened on the days before. */
async function opened() {
  const harness = await openCommands()
  const { changes, run, runJson } = harness
  const on = (day: number) => {
    changes.now = (day - 1) * DAY_MS
  }
  const ids = new Map<string, string>()
  for (const [day, email, tier] of [
    [1, "jane@example.com", "0"],
    [3, "jan@acme.com", "2"],
    [5, "sam@acme.com", "2"],
  ] as const) {
    on(day)
    const { id } = await runJson("account", "create", email, "--tier", tier)
    ids.set(email, id)
  }
  const idOf = (email: string): string => ids.get(email) ?? ""
  await run("account", "suspend", "sam@acme.com")
  for (const [day, name] of [
    [6, "Shop"],
    [7, "Web 100%"],
  ] as const) {
    on(day)
    await run("key", "create", "--account", "jane@example.com", "--name", name)
  }
  for (const [day, email, domain] of [
    [6, "jane@example.com", "granite.com"],
    [7, "jan@acme.com", "mail.granite.com"],
    [8, "jan@acme.com", "notgranite.com"],
  ] as const) {
    on(day)
    const report = { accountId: idOf(email), domain, roleWord: null, comment: null }
    await recordFeedback(changes, random, { ...report, currentCategory: "unknown", reportedCategory: "business" })
    await run("block", "add", domain)
  }
  on(8)
  await run("account", "invite", "new@example.com", "--tier", "1")
  on(10)
  await run("account", "invite", "other@example.com", "--tier", "2")
  /** What a member of each row of a list is. */
  const listed = async (member: string, ...args: string[]): Promise<readonly unknown[]> =>
    (await runJson(...args)).map((row: Readonly<Record<string, unknown>>) => row[member])
  return { ...harness, idOf, listed }
}

describe("a list is filtered by all of its options together:", () => {
  test("accounts by text, state, tier, time and number", async () => {
    const { listed, run } = await opened()
    const emails = (...args: string[]) => listed("email", "account", "list", ...args)
    expect(await emails()).toEqual(["sam@acme.com", "jan@acme.com", "jane@example.com"])
    expect(await emails("--search", "jan")).toEqual(["jan@acme.com", "jane@example.com"])
    expect(await emails("--search", "@acme.com", "--state", "active")).toEqual(["jan@acme.com"])
    expect(await emails("--tier", "2", "--limit", "1")).toEqual(["sam@acme.com"])
    expect(await emails("--since", "1970-01-03", "--until", "1970-01-04")).toEqual(["jan@acme.com"])
    expect(await emails("--until", "1970-01-03")).toEqual(["jan@acme.com", "jane@example.com"])
    expect(await emails("--since", "5d", "--until", "12h")).toEqual(["sam@acme.com"])
    for (const wrong of [
      ["--state", "x"],
      ["--tier", "9"],
      ["--limit", "0"],
      ["--until", "tomorrow"],
    ])
      expect((await run("account", "list", ...wrong)).code).toBe(2)
  })

  test("keys by text, state, kind and time", async () => {
    const { listed, run, runJson } = await opened()
    const names = (...args: string[]) => listed("name", "key", "list", "--account", "jane@example.com", ...args)
    const [web] = await runJson("key", "list", "--account", "jane@example.com")
    expect(await names("--search", "wEb 100%")).toEqual(["Web 100%"])
    expect(await names("--search", web.last4)).toEqual(["Web 100%"])
    expect(await names("--until", "1970-01-06")).toEqual(["Shop"])
    await run("key", "revoke", web.id)
    expect(await names("--state", "revoked")).toEqual(["Web 100%"])
    expect(await names("--state", "active", "--kind", "secret")).toEqual(["Shop"])
    expect(await names("--kind", "publishable")).toEqual([])
  })

  test("reports by account, domain, status, time and number, and one is shown with its correction", async () => {
    const { listed, run, runJson, idOf } = await opened()
    const domains = (...args: string[]) => listed("domain", "feedback", "list", ...args)
    expect(await domains("--domain", "Granite.com")).toEqual(["mail.granite.com", "granite.com"])
    expect(await domains("--account", "jan@acme.com", "--since", "1970-01-08")).toEqual(["notgranite.com"])
    expect(await domains("--account", idOf("jane@example.com"))).toEqual(["granite.com"])
    expect(await domains("--limit", "2")).toEqual(["notgranite.com", "mail.granite.com"])
    expect(await domains("--domain", "%ranite.com")).toEqual([])
    const [{ id }] = await runJson("feedback", "list", "--domain", "granite.com", "--until", "1970-01-06")
    await run("feedback", "accept", id)
    expect(await domains("--status", "accepted")).toEqual(["granite.com"])
    expect(await runJson("feedback", "show", id)).toMatchObject({
      ...{ id, status: "accepted", correction: "business", correction_by: id, other_reports: [] },
    })
    expect((await run("feedback", "show", "fb_none")).code).toBe(1)
  })

  test("invitations by tier and time", async () => {
    const { listed } = await opened()
    expect(await listed("tier", "account", "invitations")).toEqual([2, 1])
    expect(await listed("tier", "account", "invitations", "--tier", "1")).toEqual([1])
    expect(await listed("tier", "account", "invitations", "--since", "1970-01-09")).toEqual([2])
  })

  test("entries of a block or allow list by text, kind and time", async () => {
    const { listed, run } = await opened()
    await run("block", "add", "sam@mail.granite.com")
    const entries = (...args: string[]) => listed("entry", "block", "list", ...args)
    expect(await entries("--search", "mail.", "--kind", "domain")).toEqual(["mail.granite.com"])
    expect(await listed("domain", "block", "list", "--kind", "address")).toEqual(["mail.granite.com"])
    expect(await entries("--until", "1970-01-07")).toEqual(["granite.com", "mail.granite.com"])
  })

  test("acts by account, kind, actor and time", async () => {
    const { run, idOf } = await opened()
    const kinds = async (...args: string[]) =>
      (await run("audit", "--json", ...args)).out
        .split("\n")
        .map(line => JSON.parse(line).act)
        .toSorted()
    expect(await kinds("--until", "1970-01-03")).toEqual(["account_created", "account_created"])
    expect(await kinds("--since", "1970-01-05", "--until", "1970-01-05")).toEqual([
      "account_created",
      "account_suspended",
    ])
    expect(await kinds("--account", idOf("sam@acme.com"), "--by", "ada")).toEqual([
      "account_created",
      "account_suspended",
    ])
  })
})
