import { expect, test } from "bun:test"
import { FORM_SCRIPT } from "../../../src/http/site/form-script.ts"
import { BROWSER_TEST_MS, IN_A_BROWSER, isBrowserMissing } from "./browser.ts"
import { ANY_KEY, EMAIL_FIELD, eventFor, formPage, scriptPages, sentForm, tagFor, typeAndLeave } from "./form-page.ts"

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the page's words come before those of the script: of the field, of a call, of the tag`,
  async () => {
    const { open } = await scriptPages()
    const field = (id: string, more = "") => `<input id="${id}" type="email" aria-label="${id}" ${more}>`
    const fields = `${EMAIL_FIELD}${field("own", 'data-mailkind-review="Own words for {email}"')}${field("none", 'data-mailkind-review=""')}
      ${field("placed", 'data-mailkind-message="place" aria-describedby="hint"')}<p id="hint">Hint</p><p id="place"></p>`
    const { page } = await open({ fields, tagMore: 'data-review="Words of the tag" data-disposable="No bins"' })
    const shown = async (email: string, id: string, words: string): Promise<void> => {
      await typeAndLeave(page, email, `#${id}`)
      await page.getByText(words, { exact: true }).first().waitFor()
    }
    await shown("free@x.example", "email", "Words of the tag")
    await shown("bin@x.example", "email", "No bins")
    await page.evaluate(
      "mailkind.configure({ words: { review: ({ email }) => '<b>' + email + '</b>', suggestion: '{email}' } })",
    )
    await shown("free1@x.example", "email", "<b>free1@x.example</b>")
    await shown("jane@gmial.com", "email", "jane@gmail.com")
    await shown("free2@x.example", "own", "Own words for free2@x.example")
    await shown("free3@x.example", "placed", "<b>free3@x.example</b>")
    expect(await page.locator("#place").getAttribute("role")).toBe("status")
    expect(await page.locator("#placed").getAttribute("aria-describedby")).toBe("hint place")
    await typeAndLeave(page, "free4@x.example", "#none")
    await eventFor(page, "result", "free4@x.example")
    await shown("free5@x.example", "email", "<b>free5@x.example</b>")
    expect(await page.locator("#none").getAttribute("aria-describedby")).toBeNull()
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a page may prevent the question, the words and the correction`,
  async () => {
    const { open, server } = await scriptPages()
    const { page } = await open({})
    const prevent = (name: string) =>
      page.evaluate(`document.addEventListener("mailkind:${name}", event => event.preventDefault(), { once: true })`)
    await prevent("check")
    await typeAndLeave(page, "free@x.example")
    await eventFor(page, "check", "free@x.example")
    expect(server.asked).toEqual([])
    expect(await page.evaluate("document.noted.length")).toBe(1)
    // A page has got the consent of its visitor.
    await page.evaluate("void email.dispatchEvent(new Event('change', { bubbles: true }))")
    await eventFor(page, "result", "free@x.example")
    expect(await page.evaluate("mailkind.configure() ?? null")).toBeNull()
    await prevent("result")
    await typeAndLeave(page, "free1@x.example")
    await eventFor(page, "result", "free1@x.example")
    await prevent("accept")
    await typeAndLeave(page, "jane@gmial.com")
    await page.getByRole("button", { name: "Did you mean" }).click()
    await eventFor(page, "accept", "jane@gmail.com")
    expect(await page.inputValue("#email")).toBe("jane@gmial.com")
    expect(await page.locator(".mailkind").textContent()).toBe("Did you mean jane@gmail.com?")
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the settings are those of the tag, of the page before the script, and of calls`,
  async () => {
    const { open, server } = await scriptPages()
    const { page } = await open({
      fields: `${EMAIL_FIELD}<input id="strict" type="email" data-mailkind-policy="strict" aria-label="Strict"><input id="other" class="mail" aria-label="Other">`,
      tagMore: 'data-policy="lenient" data-name="verdict" data-fields="#email, #strict"',
      before: "window.mailkind = { timeout: 9000, words: { review: 'Early words' } }",
    })
    await typeAndLeave(page, "free@x.example")
    await page.getByText("Early words").waitFor()
    await typeAndLeave(page, "free@x.example", "#strict")
    await eventFor(page, "result", "free@x.example")
    await typeAndLeave(page, "free@x.example", "#other")
    await page.evaluate("mailkind.configure({ policy: 'b2b', fields: '.mail' })")
    await typeAndLeave(page, "free1@x.example", "#other")
    await eventFor(page, "result", "free1@x.example")
    expect(server.asked).toEqual([
      { email: "free@x.example", policy: "lenient" },
      { email: "free@x.example", policy: "strict" },
      { email: "free1@x.example", policy: "b2b" },
    ])
    await page.click("#send")
    expect(await sentForm(page)).toMatchObject({ email: "free@x.example", verdict: "review" })
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the script works in the head without defer, as a module, inserted by a script, and as a copy of the website`,
  async () => {
    const { open, server } = await scriptPages()
    const tag = tagFor(server)
    const inserted = `const tag = document.createElement("script"); tag.src = "${server.url}/form.js"; tag.dataset.key = "${ANY_KEY}"; document.head.append(tag)`
    const copy = `<script data-server="${server.url}/" data-key="${ANY_KEY}">${FORM_SCRIPT}</script>`
    for (const [name, made] of Object.entries({
      head: tag.replace("defer", ""),
      module: tag.replace("defer", 'type="module" crossorigin'),
      inserted: `<script>${inserted}</script>`,
      copy,
    })) {
      const { page, said } = await open({ tag: made })
      await page.evaluate("window.mailkind ?? new Promise(done => document.addEventListener('mailkind:ready', done))")
      await typeAndLeave(page, `free-${name}@x.example`)
      await page.getByText("Please check this address.").waitFor()
      expect({ name, said }).toEqual({ name, said: [] })
    }
  },
  BROWSER_TEST_MS,
)

/** What is wrong with a tag or a page, and what the console says of it. */
const WRONG_TAGS: Readonly<Record<string, { readonly key: string; readonly says: string }>> = {
  "no key": { key: "", says: "The script has no key." },
  "a secret key": { key: `svc_live_${"A".repeat(38)}`, says: "data-key holds a secret key" },
  "another text": { key: "pk_test_1", says: "data-key is no publishable key." },
}

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a tag without a publishable key sends nothing, says why in the console, and leaves the form as it was`,
  async () => {
    const { open, server } = await scriptPages()
    for (const [fault, { key, says }] of Object.entries(WRONG_TAGS)) {
      const { page, said } = await open({ key })
      await typeAndLeave(page, "free@x.example")
      await page.evaluate("mailkind.attach(document)")
      await typeAndLeave(page, "bin@x.example")
      expect({ fault, said: said.join("\n") }).toEqual({ fault, said: expect.stringContaining(says) })
      expect(said.join("\n")).toContain("No address is checked.")
      await page.click("#send")
      expect(await sentForm(page)).toMatchObject({ email: "bin@x.example" })
    }
    expect(server.asked).toEqual([])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a second copy of the script does nothing, a wrong selector is named, and a frame has a script of its own`,
  async () => {
    const { open, server } = await scriptPages()
    const { page, said } = await open({ more: tagFor(server) })
    await typeAndLeave(page, "free@x.example")
    await eventFor(page, "result", "free@x.example")
    expect(said).toEqual([expect.stringContaining("form.js is twice on this page.")])
    expect(await page.locator(".mailkind").count()).toBe(1)

    const wrong = await open({
      tagMore: 'data-fields="input[["',
      fields: `${EMAIL_FIELD}<input id="marked" data-mailkind aria-label="Marked">`,
    })
    expect(wrong.said).toEqual([expect.stringContaining("This is no CSS selector: input[[")])
    await typeAndLeave(wrong.page, "free1@x.example", "#marked")
    await eventFor(wrong.page, "result", "free1@x.example")

    const inner = formPage(tagFor(server)).replaceAll('"', "&quot;")
    const frames = await open({
      more: `<iframe id="frame" title="Frame" srcdoc="${inner}"></iframe><iframe title="Sandbox" sandbox="allow-scripts" srcdoc="${inner}"></iframe>`,
    })
    const frame = frames.page.frameLocator("#frame")
    await frame.locator("#email").fill("free2@x.example")
    await frame.locator("#email").blur()
    await frame.getByText("Please check this address.").waitFor()
    await frames.page.frameLocator("[sandbox]").locator("#email").focus()
    expect(frames.said.join("\n")).toContain("A file or a sandboxed frame has no origin")
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, an insecure page has hints too, and its console says what that means`,
  async () => {
    const { open } = await scriptPages()
    const { page } = await open({})
    const site = "http://shop.example"
    const api = { url: "http://mailkind.example" }
    const headers = {
      "Access-Control-Allow-Origin": site,
      "Access-Control-Allow-Headers": "Authorization, Content-Type",
    }
    const context = page.context()
    await context.route(`${site}/**`, route => route.fulfill({ contentType: "text/html", body: formPage(tagFor(api)) }))
    await context.route(`${api.url}/form.js`, route =>
      route.fulfill({ contentType: "text/javascript", body: FORM_SCRIPT }),
    )
    const sent: string[] = []
    await context.route(`${api.url}/v1/check`, async route => {
      sent.push(JSON.stringify(await route.request().allHeaders()))
      await route.fulfill({ headers, json: { recommendation: "block" } })
    })
    const said: string[] = []
    page.on("console", message => said.push(message.text()))
    await page.goto(`${site}/secret-path`)
    expect(await page.evaluate("isSecureContext")).toBe(false)
    await typeAndLeave(page, "jane@x.example")
    await page.getByText("Please use another address.").waitFor()
    expect(said.join("\n")).toContain("This page is not on https:.")
    expect(sent.join()).toContain(`Bearer ${ANY_KEY}`)
    expect(sent.join()).not.toContain("secret-path")
    expect(sent.join()).not.toContain("cookie")
  },
  BROWSER_TEST_MS,
)
