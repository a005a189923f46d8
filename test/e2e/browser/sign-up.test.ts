import { expect, test } from "bun:test"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"
import { testSmtp } from "../../support/smtp-server.ts"
import {
  BROWSER_TEST_MS,
  IN_A_BROWSER,
  isBrowserMissing,
  openBrowser,
  pageFaults,
  type WatchedPage,
  watchedPage,
} from "./browser.ts"
import { pageServer } from "./page-server.ts"

const EMAIL = "jane@example.com"

/** Nothing is wrong with what the page shows now. */
async function expectFit(watched: WatchedPage, name: string): Promise<void> {
  expect({ name, faults: await pageFaults(watched, name) }).toEqual({ name, faults: [] })
}

/** Runs a line in a shell, as somebody who pastes it does. */
async function pasted(line: string): Promise<unknown> {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-paste-"))
  const { out, err } = await startProgram(["bash", "-c", line], directory, { PATH: process.env["PATH"] }).ended()
  if (out === "") throw new Error(`${line} printed nothing: ${err}`)
  return JSON.parse(out)
}

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, somebody signs up by mail, uses the first key, puts another on a page, and revokes it`,
  async () => {
    const smtp = await testSmtp()
    const [browser, server] = await Promise.all([
      openBrowser(),
      serverProcess({ MAILKIND_SMTP_URL: smtp.url, MAILKIND_MAIL_FROM: "mailkind <keys@mk.example.com>" }),
    ])
    onTestEnd(server.stop)
    const watched = await watchedPage(await browser.newContext(), server.url)
    const { page } = watched

    await page.goto(`${server.url}/dashboard`)
    expect(new URL(page.url()).pathname).toBe("/sign-in")
    await expectFit(watched, "flow-sign-in")
    await page.getByLabel("Email address").fill(EMAIL)
    await page.getByRole("button", { name: /mail|sign in|send/i }).click()
    await page.getByLabel("Code").waitFor()
    await expectFit(watched, "flow-code")
    await smtp.takes(1)
    const code = /\b\d{6}\b/.exec(/^ +\d{6}\r$/m.exec(smtp.taken[0]?.raw ?? "")?.[0] ?? "")?.[0] ?? ""
    await page.getByLabel("Code").fill(code)
    await page.getByRole("button", { name: /sign in/i }).click()

    await page.getByRole("heading", { level: 1, name: "Welcome" }).waitFor()
    await expectFit(watched, "flow-first-key")
    const key = (await page.locator(".secret .copied").textContent()) ?? ""
    expect(key).toMatch(/^svc_live_[0-9A-Za-z]{38}$/)
    expect(await pasted((await page.locator("pre").first().textContent()) ?? "")).toMatchObject({
      category: "personal",
    })

    await page
      .getByRole("link", { name: /dashboard/i })
      .last()
      .click()
    await expectFit(watched, "flow-overview")
    await page.getByRole("link", { name: "Keys", exact: true }).click()
    await expectFit(watched, "flow-keys")
    const elsewhere = pageServer()
    await page.getByRole("link", { name: "New key" }).click()
    await page.getByLabel("Name").fill("Shop")
    await page.getByRole("radio", { name: /Publishable/ }).check()
    await page.getByLabel("Websites").fill(elsewhere.origin)
    await page.getByRole("button", { name: "Create key" }).click()
    await page.getByRole("heading", { level: 1, name: "Your new key" }).waitFor()
    await expectFit(watched, "flow-new-key")
    const lines = (await page.locator("details pre").textContent()) ?? ""

    const other = await watchedPage(await browser.newContext(), elsewhere.origin)
    await other.page.goto(elsewhere.origin)
    const recommendation = await other.page.evaluate(`(async () => { ${lines}\nreturn recommendation })()`)
    // Without DNS the verdict of a business rests on lists alone.
    expect(recommendation).toBe("review")
    expect(new Set(other.faults)).toEqual(new Set([`${server.url}/v1/check`]))

    await page.getByRole("link", { name: "Done" }).click()
    await page
      .getByRole("row", { name: key.slice(-4) })
      .getByRole("link")
      .first()
      .click()
    await expectFit(watched, "flow-key")
    await page.locator("summary", { hasText: "Revoke" }).click()
    await page.getByRole("button", { name: "Revoke key" }).click()
    await page.getByRole("status").waitFor()
    await expectFit(watched, "flow-revoked")
    const refused = await server.ask("POST /v1/check", { key, body: { email: "jane@gmail.com" } })
    expect([refused.status, refused.body["code"]]).toEqual([401, "key_revoked"])

    // Two keys were made and one was revoked: each was written about, and no mail holds a key.
    await smtp.takes(4)
    expect(smtp.taken.map(({ to }) => to)).toEqual([[EMAIL], [EMAIL], [EMAIL], [EMAIL]])
    expect(smtp.taken.filter(({ raw }) => /svc_(?:live|pub)_[0-9A-Za-z]{8}/.test(raw))).toEqual([])

    await page.locator(".who summary").click()
    await page.getByRole("button", { name: "Sign out" }).first().click()
    await page.goto(`${server.url}/dashboard`)
    expect(new URL(page.url()).pathname).toBe("/sign-in")
    expect(watched.faults).toEqual([])
  },
  BROWSER_TEST_MS,
)
