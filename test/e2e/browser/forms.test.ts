import { expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { Page } from "playwright-core"
import { type ServerProcess, serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { BROWSER_TEST_MS, IN_A_BROWSER, isBrowserMissing, openBrowser } from "./browser.ts"
import { signedIn } from "./signed-in.ts"

const ADMIN = "ada@example.com"

async function opened(): Promise<{ readonly page: Page; readonly server: ServerProcess }> {
  const [browser, server] = await Promise.all([openBrowser(), serverProcess({ MAILKIND_ADMINS: ADMIN })])
  onTestEnd(server.stop)
  await server.run("account", "create", ADMIN)
  const { page } = await signedIn(await browser.newContext(), server, ADMIN)
  return { page, server }
}

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a form whose button is pressed again while the server is slow is sent once, and its key is shown`,
  async () => {
    const { page, server } = await opened()
    await page.goto(`${server.url}/dashboard/keys/new`)
    const sent: string[] = []
    const { promise: pressedAgain, resolve: release } = Promise.withResolvers<void>()
    await page.route("**/dashboard/keys/new*", async route => {
      sent.push(route.request().method())
      await pressedAgain
      await route.continue()
    })
    await page.getByLabel("Name").fill("Shop server")
    const button = page.getByRole("button", { name: "Create key" })
    await button.scrollIntoViewIfNeeded()
    const box = await button.boundingBox()
    const press = () => page.mouse.click((box?.x ?? 0) + 5, (box?.y ?? 0) + 5)
    await Promise.all([page.waitForRequest("**/dashboard/keys/new*"), press()])
    await press()
    release()
    await page.getByRole("heading", { level: 1, name: "Your new key" }).waitFor()
    expect(await page.locator(".secret .copied").textContent()).toMatch(/^svc_live_/)
    expect(sent).toEqual(["POST"])
  },
  BROWSER_TEST_MS,
)

/** A form that is filled in wrongly. */
type Wrong = {
  readonly path: string
  /** What is typed, by the name of the field. */
  readonly typed: Readonly<Record<string, string>>
  /** The name of the field that is wrong. */
  readonly at: string
}

const LONG = "x".repeat(5000)

/** One for each field, on the pages of an account and of the administration. */
const wrongForms = (keyPath: string, accountPath: string): readonly Wrong[] => {
  const fieldsOf = (path: string, wrong: readonly (readonly [at: string, typed: Wrong["typed"]])[]) =>
    wrong.map(([at, typed]) => ({ path, typed, at }))
  return [
    ...fieldsOf("/", [["input", { input: "" }]]),
    ...fieldsOf("/dashboard/keys/new", [
      ["name", { name: "", units: "5" }],
      ["units", { name: "Shop", units: "none" }],
      ["rate", { name: "Shop", rate: "0", units: "7" }],
      ["expires", { name: "Shop", expires: "2001-01-01" }],
      ["networks", { name: "Shop", networks: "<b>home</b>" }],
    ]),
    ...fieldsOf(keyPath, [["units", { units: "0", rate: "3" }]]),
    ...fieldsOf("/dashboard/try", [["asked", { asked: "" }]]),
    ...fieldsOf("/dashboard/lists", [
      ["entries", { entries: "spam.example\nnot one!", note: "Why" }],
      ["entries", { entries: " ", note: "Why" }],
      ["note", { entries: "spam.example", note: LONG }],
    ]),
    ...fieldsOf("/dashboard/lists", [["file", {}]]),
    ...fieldsOf("/dashboard/feedback", [
      ["expected", { subject: "acme.com", comment: "Why" }],
      ["subject", { subject: "not a domain", expected: "business", comment: "Why" }],
      ["comment", { subject: "acme.com", expected: "business", comment: LONG }],
    ]),
    ...fieldsOf("/dashboard/requests?status=2xx", [["to", { from: "2026-01-02T00:00", to: "2026-01-01T00:00" }]]),
    ...fieldsOf("/dashboard/account", [["email", { email: "eve@example.com" }]]),
    ...fieldsOf("/admin/accounts", [["new-email", { "new-email": "not an address" }]]),
    ...fieldsOf(accountPath, [["note", { note: LONG }]]),
    ...fieldsOf("/admin/terms", [["material", { version: "1", url: "https://a.example/" }]]),
  ]
}

/** The browser lets everything through, as programs and old browsers do, and shows what is folded. */
const LET_THROUGH = `
  for (const form of document.forms) form.noValidate = true
  for (const field of document.querySelectorAll("[maxlength]")) field.removeAttribute("maxlength")
  for (const details of document.querySelectorAll("main details")) details.open = true`

/** The field with the focus, and whether the element that describes what is wrong with it stands in the same form. */
const FOCUSED = `(() => {
  const field = document.activeElement
  const fault = field.closest("form")?.querySelector("[id='" + field.name + "-fault']")
  return {
    focus: field.name ?? field.className,
    isMarked: field.getAttribute("aria-invalid") === "true",
    isExplained: !!fault?.textContent && (field.getAttribute("aria-describedby") ?? "").split(" ").includes(fault.id),
  }
})()`

/** Fills in a form, sends it, and tells what the page then shows. */
async function refused(page: Page, url: string, { path, typed, at }: Wrong) {
  const form = page.locator(`main form:has([name="${at}"]:not([type="hidden"]))`)
  await page.goto(`${url}${path}`)
  await page.evaluate(LET_THROUGH)
  for (const [name, value] of Object.entries(typed)) {
    const field = form.locator(`[name="${name}"]`)
    if ((await field.evaluate(element => element.tagName)) === "SELECT") await field.selectOption(value)
    else await field.fill(value)
  }
  const [answer] = await Promise.all([page.waitForNavigation(), form.locator("[type=submit]").first().click()])
  await page.locator(":focus").waitFor({ state: "attached" })
  const kept = await Promise.all(
    Object.keys(typed).map(async name => [name, await form.locator(`[name="${name}"]`).inputValue()]),
  )
  return { status: answer?.status(), kept: Object.fromEntries(kept), shown: await page.evaluate(FOCUSED) }
}

const Made = Type.Object({ id: Type.String() })

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a refused form keeps what was typed, says what is wrong beside the field, and puts the focus there`,
  async () => {
    const { page, server } = await opened()
    const { id: account } = Value.Decode(Made, await server.run("account", "create", "jane@example.com"))
    const { id: key } = Value.Decode(Made, await server.run("key", "create", "--account", ADMIN, "--name", "Old"))
    for (const wrong of wrongForms(`/dashboard/keys/${key}`, `/admin/accounts/${account}`))
      expect({ wrong, ...(await refused(page, server.url, wrong)) }).toEqual({
        wrong,
        status: 400,
        kept: { ...wrong.typed },
        shown: { focus: wrong.at, isMarked: true, isExplained: true },
      })
  },
  BROWSER_TEST_MS,
)
