import { expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { signUpFormHtml } from "../../../src/http/site/docs/examples.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { BROWSER_TEST_MS, IN_A_BROWSER, isBrowserMissing, openBrowser, STEP_MS } from "./browser.ts"

const Made = Type.Object({ key: Type.String() })

/** Serves the page that `html` gives then, and takes its form. */
function signUpServer(html: () => string): string {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async request =>
      request.method === "POST"
        ? new Response(`<!doctype html><title>in</title><p id="in">${(await request.formData()).get("email")}</p>`, {
            headers: { "Content-Type": "text/html" },
          })
        : new Response(`<!doctype html><title>page</title>${html()}`, { headers: { "Content-Type": "text/html" } }),
  })
  onTestEnd(() => server.stop(true))
  return `http://127.0.0.1:${server.port}`
}

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the form of the documentation hints at slips and kinds of addresses, and is sent whatever happens`,
  async () => {
    let form = ""
    const origin = signUpServer(() => form)
    const [browser, { url, run, stop }] = await Promise.all([openBrowser(), serverProcess()])
    onTestEnd(stop)
    await run("account", "create", "form@example.com", "--tier", "0")
    const made = await run("key", "create", "--account", "form@example.com", "--publishable", "--origin", origin)
    const facts = { baseUrl: url, checkTimeoutMs: 3000 }
    form = signUpFormHtml(Value.Decode(Made, made).key, facts)

    const page = await browser.newPage()
    page.setDefaultTimeout(STEP_MS)
    await page.goto(origin)
    const typed = async (email: string): Promise<void> => {
      await page.fill("#email", email)
      await page.locator("#email").blur()
    }
    await typed("jane@gmial.com")
    await page.getByText("Did you mean an address at gmail.com?").waitFor()
    await typed("jane@mailinator.com")
    await page.getByText("Please use an address that you will keep.").waitFor()
    await typed("jane@mit.edu")
    await page.locator("#hint:empty").waitFor({ state: "attached" })
    // A mailbox of a free provider is `review` under the usual policy.
    await typed("jane@gmail.com")
    await page.getByText("Please use your work email.").waitFor()
    await typed("jane@mailinator.com")
    await page.getByRole("button", { name: "Sign up" }).click()
    expect(await page.locator("#in").textContent()).toBe("jane@mailinator.com")

    // A key that is wrong, and a server that is away: no hint, and the form is sent all the same.
    for (const [key, baseUrl] of [
      ["svc_pub_wrong", url],
      ["svc_pub_wrong", "http://127.0.0.1:1"],
    ] as const) {
      form = signUpFormHtml(key, { ...facts, baseUrl })
      await page.goto(origin)
      await typed("jane@gmial.com")
      await page.getByRole("button", { name: "Sign up" }).click()
      expect(await page.locator("#in").textContent()).toBe("jane@gmial.com")
    }
  },
  BROWSER_TEST_MS,
)
