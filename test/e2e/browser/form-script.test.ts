import { expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { formScriptTag, pinnedFormScriptTag } from "../../../src/http/site/form-script.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import {
  accessFaults,
  BROWSER_TEST_MS,
  IN_A_BROWSER,
  isBrowserMissing,
  openBrowser,
  pageFaults,
  watchedPage,
} from "./browser.ts"
import { EMAIL_FIELD, eventFor, formPage, openForm, sentForm, typeAndLeave, website } from "./form-page.ts"

const Made = Type.Object({ key: Type.String() })

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the form script helps a visitor with a keyboard on an allowed website, under a strict policy and without a trace`,
  async () => {
    let html = ""
    let server = ""
    const policy = () =>
      `default-src 'none'; script-src 'self' ${server}; connect-src ${server}; form-action 'self'; require-trusted-types-for 'script'`
    const [allowed, stranger] = [website(() => html, policy), website(() => html, policy)]
    const [browser, { url, run, stop }] = await Promise.all([openBrowser(), serverProcess()])
    onTestEnd(stop)
    server = url
    await run("account", "create", "page@example.com", "--tier", "0")
    const made = await run("key", "create", "--account", "page@example.com", "--publishable", "--origin", allowed)
    const tag = formScriptTag(url, Value.Decode(Made, made).key)
    html = formPage(tag, EMAIL_FIELD.replace("type=", 'data-mailkind-policy="lenient" type='))
    const context = await browser.newContext()
    const { page, said } = await openForm(context, allowed)

    await typeAndLeave(page, "Jane.Doe+x@gmial.com")
    const offer = page.getByRole("status").getByRole("button", { name: "Did you mean Jane.Doe+x@gmail.com?" })
    await offer.waitFor()
    // The focus is where the visitor went: first there was no button.
    expect(await page.evaluate("document.activeElement.id")).toBe("send")
    expect(await page.locator("#email").getAttribute("aria-describedby")).toBe(
      await page.locator(".mailkind").getAttribute("id"),
    )
    expect(await accessFaults(page)).toEqual([])
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Enter")
    expect(await page.inputValue("#email")).toBe("Jane.Doe+x@gmail.com")
    expect(await page.evaluate("document.activeElement.id")).toBe("email")
    expect(await eventFor(page, "result", "Jane.Doe+x@gmail.com")).toMatchObject({ suggestion: null })
    expect(await page.locator(".mailkind").textContent()).toBe("")
    await page.keyboard.press("Enter")
    expect(await sentForm(page)).toEqual({ email: "Jane.Doe+x@gmail.com", mailkind: "allow" })

    // Where the policy has something against what was meant, the visitor hears it at once.
    html = formPage(tag)
    await page.goto(allowed)
    await typeAndLeave(page, "Jane.Doe+x@gmial.com")
    await page.getByRole("status").getByText("Please use your work email.").waitFor()
    const description = "document.getElementById(email.getAttribute('aria-describedby')).textContent"
    expect(await page.evaluate<string>(description)).toBe("Please use your work email.")
    expect(await page.locator(".mailkind button").count()).toBe(0)
    expect(await accessFaults(page)).toEqual([])
    await page.click("#send")
    expect(await sentForm(page)).toMatchObject({ email: "Jane.Doe+x@gmial.com" })
    expect(said).toEqual([])
    expect(await context.cookies()).toEqual([])
    const { origins } = await context.storageState()
    expect(origins).toEqual([])

    // The browser keeps the answer from a page of another website; its form works as without the script.
    const other = await openForm(context, stranger)
    await typeAndLeave(other.page, "jane@gmial.com")
    await eventFor(other.page, "unchecked", "jane@gmial.com")
    expect(await other.page.locator(".mailkind").textContent()).toBe("")
    expect(other.said.join("\n")).toContain(`Is ${stranger} one of its websites?`)
    await other.page.click("#send")
    expect(await sentForm(other.page)).toEqual({ email: "jane@gmial.com", mailkind: "unchecked" })
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the pinned script works on a website that isolates itself, and a page that forbids the server still sends its form`,
  async () => {
    let html = ""
    let policy = "default-src *"
    const isolated = website(
      () => html,
      () => policy,
      { "Cross-Origin-Embedder-Policy": "require-corp", "Cross-Origin-Opener-Policy": "same-origin" },
    )
    const [browser, { url, run, stop }] = await Promise.all([openBrowser(), serverProcess()])
    onTestEnd(stop)
    await run("account", "create", "page@example.com", "--tier", "0")
    const made = await run("key", "create", "--account", "page@example.com", "--publishable", "--origin", isolated)
    const tag = pinnedFormScriptTag(url, Value.Decode(Made, made).key)
    html = formPage(tag)
    const { page, said } = await openForm(await browser.newContext(), isolated)
    await typeAndLeave(page, "jane@mailinator.com")
    await page.getByText("Please use an address that you will keep.").waitFor()
    expect(said).toEqual([])

    policy = `default-src 'none'; script-src 'self' ${url}; form-action 'self'`
    const forbidden = await openForm(await browser.newContext(), isolated)
    await typeAndLeave(forbidden.page, "jane@mailinator.com")
    expect(await eventFor(forbidden.page, "unchecked", "jane@mailinator.com")).toMatchObject({ because: "unreachable" })
    expect(forbidden.said.join("\n")).toContain("connect-src")

    // Another file than the one that the page was made for is not run.
    html = formPage(tag.replace(/sha384-.{8}/, "sha384-AAAAAAAA"))
    policy = "default-src *"
    const changed = await openForm(await browser.newContext(), isolated)
    await typeAndLeave(changed.page, "jane@mailinator.com")
    await changed.page.click("#send")
    expect(await sentForm(changed.page)).toEqual({ email: "jane@mailinator.com" })
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the live form of the guide shows a suggestion, words, and what a server gets`,
  async () => {
    const [browser, { url, stop }] = await Promise.all([openBrowser(), serverProcess()])
    onTestEnd(stop)
    const watched = await watchedPage(await browser.newContext(), url)
    const { page } = watched
    await page.goto(`${url}/docs/form-script`)
    const form = page.locator("#form-demo")
    await form.getByRole("button", { name: "typo", exact: true }).click()
    await form.getByRole("button", { name: "Did you mean typo@gmail.com?" }).waitFor()
    await form.getByRole("button", { name: "disposable", exact: true }).click()
    await form.getByText("Please use an address that you will keep.").waitFor()
    expect(await pageFaults(watched, "form-script")).toEqual([])
    await form.getByRole("button", { name: "Sign up" }).click()
    const output = page.locator("#form-demo-output")
    expect(await output.textContent()).toMatch(/^Your server gets:\nemail=disposable@\S+\nmailkind=block$/)
    await form.getByRole("button", { name: "error-500", exact: true }).click()
    await output.getByText('"because": "refused"').waitFor()
    // Without a key any other address is a free check.
    await form.getByLabel("Email").fill("bob@gmial.com")
    await form.getByLabel("Email").blur()
    await form.getByRole("button", { name: "Did you mean bob@gmail.com?" }).waitFor()
  },
  BROWSER_TEST_MS,
)
