import { expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { formScriptTag } from "../../../src/http/site/form-script.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { accessFaults, BROWSER_TEST_MS, IN_A_BROWSER, isBrowserMissing, openBrowser } from "./browser.ts"
import { eventFor, formPage, openForm, sentForm, typeAndLeave, website } from "./form-page.ts"

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
    html = formPage(formScriptTag(url, Value.Decode(Made, made).key))
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
    await page.getByRole("status").getByText("Please use your work email.").waitFor()
    const description = "document.getElementById(email.getAttribute('aria-describedby')).textContent"
    expect(await page.evaluate<string>(description)).toBe("Please use your work email.")
    expect(await accessFaults(page)).toEqual([])
    await page.keyboard.press("Enter")
    expect(await sentForm(page)).toEqual({ email: "Jane.Doe+x@gmail.com", mailkind: "review" })
    expect(said).toEqual([])
    expect(await context.cookies()).toEqual([])
    const { origins } = await context.storageState()
    expect(origins).toEqual([])

    // The browser keeps the answer from a page of another website; its form works as without the script.
    const other = await openForm(context, stranger)
    await typeAndLeave(other.page, "jane@gmial.com")
    await eventFor(other.page, "unchecked", "jane@gmial.com")
    expect(await other.page.locator(".mailkind").textContent()).toBe("")
    expect(other.said.join("\n")).toContain(`Is ${stranger} one of the key's websites?`)
    await other.page.click("#send")
    expect(await sentForm(other.page)).toEqual({ email: "jane@gmial.com", mailkind: "unchecked" })
  },
  BROWSER_TEST_MS,
)
