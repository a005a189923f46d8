import { expect, test } from "bun:test"
import { join } from "node:path"
import { LIMITS } from "../../../src/contract/limits.ts"
import { BUNDLED_FILES } from "../../../src/system/files.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { testApp } from "../../support/app.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { BROWSER_TEST_MS, IN_A_BROWSER, isBrowserMissing, openBrowser, pageFaults, watchedPage } from "./browser.ts"

/** A server at which so many have asked to sign in that a pass is needed, in a time that stands still. */
async function crowdedServer() {
  const harness = await testApp({ asset: name => Bun.file(join(ROOT, BUNDLED_FILES[`${name}.asset`])) })
  for (let count = 0; count < LIMITS.signInsGlobalMax; count++) {
    const body = new URLSearchParams({ email: `somebody${count}@example.com` })
    const headers = { Origin: "http://localhost", "X-Test-Peer": `10.${count >> 8}.${count & 255}.1` }
    await harness.app(new Request("http://localhost/sign-in", { method: "POST", headers, body }))
  }
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: harness.app })
  onTestEnd(() => server.stop(true))
  return { mails: harness.mails, url: `http://127.0.0.1:${server.port}` }
}

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, somebody who asks to sign in while very many do gets a pass without a click, and who has no script is told what to do`,
  async () => {
    const [browser, { url, mails }] = await Promise.all([openBrowser(), crowdedServer()])
    const watched = await watchedPage(await browser.newContext(), url)
    const { page } = watched
    await page.goto(`${url}/sign-in`)
    await page.getByLabel("Email address").fill("jane@example.com")
    const [first] = await Promise.all([
      page.waitForResponse(response => response.request().method() === "POST"),
      page.locator("main form button").first().click(),
    ])
    expect(first.status()).toBe(403)
    await page.getByLabel("Code").waitFor()
    expect(new URL(page.url()).pathname).toBe("/sign-in/code")
    expect(mails.at(-1)?.to).toBe("jane@example.com")
    expect(await pageFaults(watched, "sign-in-with-pass")).toEqual([])

    const scriptless = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
    const plain = await scriptless.newPage()
    await plain.goto(`${url}/sign-in`)
    await plain.getByLabel("Email address").fill("joe@example.com")
    await plain.locator("main form button").first().click()
    expect(await plain.isVisible("noscript")).toBe(true)
    expect(await plain.textContent("main")).toContain("Try again in a few minutes")
  },
  BROWSER_TEST_MS,
)
