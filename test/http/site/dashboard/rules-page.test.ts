import { expect, test } from "bun:test"
import { ACCOUNT_RULE_NAMES } from "../../../../src/contract/account-rules.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { openSignedIn } from "../../../support/html-browser.ts"

const { path: RULES } = ROUTES.rules

/** What is chosen for each rule; empty: what the policy says. */
const chosenIn = (html: string) =>
  Object.fromEntries(
    ACCOUNT_RULE_NAMES.map(rule => {
      const field = html.match(new RegExp(`<select id="${rule}".*?</select>`, "s"))?.[0] ?? ""
      const [option = "none"] = field.match(/<option[^>]*selected[^>]*>/) ?? []
      return [rule, option.match(/value="(\w+)"/)?.[1] ?? ""]
    }),
  )

const NOTHING = Object.fromEntries(ACCOUNT_RULE_NAMES.map(rule => [rule, ""]))

test("the form saves the rules, shows them again, and takes them away", async () => {
  const { get, post, harness } = await openSignedIn()
  expect(chosenIn((await get(RULES)).html)).toEqual(NOTHING)
  const saved = await post(RULES, { ...NOTHING, personal: "block", new_domain: "review" })
  expect([saved.status, saved.redirectPath]).toEqual([303, `${RULES}?done=rules-saved`])
  const page = await get(saved.redirectPath ?? "")
  expect(page.text).toContain("Your rules are saved.")
  expect(chosenIn(page.html)).toEqual({ ...NOTHING, personal: "block", new_domain: "review" })
  const { body } = await harness.ask("GET /v1/rules")
  expect(body["rules"]).toMatchObject({ personal: "block", new_domain: "review", relay: null })
  await post(RULES, NOTHING)
  expect(chosenIn((await get(RULES)).html)).toEqual(NOTHING)
})

test("each rule stands beside what the policies say without it, and is marked where it says otherwise", async () => {
  const { get, post } = await openSignedIn()
  await post(RULES, { personal: "allow", disposable: "block", new_domain: "block" })
  const { text } = await get(RULES)
  expect(text).toContain("Personal addresses Changed Review Block Allow")
  expect(text).toContain("Disposable addresses Block Block Block")
  expect(text).toContain("New domains Changed Review Block Allow")
  expect(text).toContain("Free subdomains Review Review Allow")
  expect(text).toContain("Addresses with a tag Allow Allow Allow")
})

test("one button takes all rules away, and is there only when there are some", async () => {
  const { get, post } = await openSignedIn()
  expect((await get(RULES)).text).not.toContain("Reset all")
  await post(RULES, { personal: "block" })
  const { html } = await get(RULES)
  expect(html).toMatch(/<button[^>]*name="reset"[^>]*value="yes"/)
  const reset = await post(RULES, { personal: "block", reset: "yes" })
  expect(reset.redirectPath).toBe(`${RULES}?done=rules-reset`)
  expect(chosenIn((await get(RULES)).html)).toEqual(NOTHING)
})

test("rules that contradict each other, or are none, change nothing, and the field says why", async () => {
  const { get, post, postText } = await openSignedIn()
  await post(RULES, { relay: "allow" })
  const refused = [
    await postText(RULES, "personal=block&personal=allow", "application/x-www-form-urlencoded"),
    await post(RULES, { personal: "<b>never</b>" }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([400, 400])
  expect(refused[0]?.text).toContain("contradict each other")
  expect(refused[0]?.html).toMatch(/id="personal-fault"/)
  expect(refused[1]?.html).not.toContain("<b>never")
  expect(chosenIn((await get(RULES)).html)).toEqual({ ...NOTHING, relay: "allow" })
})

test("the card of a verdict says which rule decided", async () => {
  const { post } = await openSignedIn()
  const tried = async (policy: string) =>
    (await post(ROUTES.tryIt.path, { asked: "jane@gmail.com", policy })).text.replaceAll("\n", " ")
  await post(RULES, { personal: "block" })
  expect(await tried("b2b")).toContain("Your rule for personal addresses blocks it.")
  expect(await tried("b2b")).toContain("Your rules block it.")
  expect(await tried("strict")).not.toContain("Your rule")
})
