import { expect, test } from "bun:test"
import { join } from "node:path"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { LIMITS } from "../../../src/contract/limits.ts"
import { CATEGORY_MEANINGS } from "../../../src/http/site/ui/verdict/verdict-words.ts"
import { BUNDLED_FILES } from "../../../src/system/files.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { testApp } from "../../support/app.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { BROWSER_TEST_MS, IN_A_BROWSER, isBrowserMissing, openBrowser, watchedPage } from "./browser.ts"

/** What all visitors share in a day, unless the operator says otherwise. */
const FREE_CHECKS_PER_DAY = 5000

/** After so long a visitor may come as fast as a new one. */
const PAUSE_MS = (LIMITS.freeRequestsBurst / LIMITS.freeRequestsPerSecond) * 1000

/** The house with its own files, before real sockets, in a time that stands still. */
async function served() {
  const harness = await testApp({
    asset: name => Bun.file(join(ROOT, BUNDLED_FILES[`${name}.asset`])),
  })
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: harness.app })
  onTestEnd(() => server.stop(true))
  return { time: harness.time, units: harness.customers.units, url: `http://127.0.0.1:${server.port}` }
}

/** A browser of one visitor before the first page. */
async function opened(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options)
  const { page, faults } = await watchedPage(context, url)
  await page.goto(`${url}/`)
  return { page, faults, context }
}

/** Sends the form of the page, and gives the status of what comes first. */
async function check(page: Page, input: string): Promise<number> {
  await page.fill("#input", input)
  const [answer] = await Promise.all([
    page.waitForResponse(response => response.request().method() === "POST"),
    page.click("form.ask button"),
  ])
  return answer.status()
}

const facts = async (page: Page): Promise<string> => (await page.textContent("main")) ?? ""

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a visitor has free checks, gets a pass from the widget without a click, and then the checker is busy`,
  async () => {
    const [browser, { url, time, units }] = await Promise.all([openBrowser(), served()])
    const { page, faults, context } = await opened(browser, url)

    for (let count = 0; count < LIMITS.freeChecksPerClientAndDay; count++) {
      expect(await check(page, "jane@mailinator.com")).toBe(200)
      expect(await facts(page)).toContain(CATEGORY_MEANINGS.disposable)
      await time.tick(1000 / LIMITS.freeRequestsPerSecond)
    }
    expect(page.url()).toBe(`${url}/#verdict`)
    expect(await context.cookies()).toEqual([])
    await time.tick(PAUSE_MS)

    expect(await check(page, "gmail.com")).toBe(403)
    await page.waitForSelector("#verdict")
    expect(await facts(page)).toContain("A provider of personal mailboxes.")
    expect(await page.inputValue("#input")).toBe("gmail.com")
    expect(await context.cookies()).toMatchObject([{ name: "mailkind_pass", httpOnly: true, sameSite: "Lax" }])
    await time.tick(PAUSE_MS)

    expect(await check(page, "jane@gmial.com")).toBe(200)
    await units.take("free checker", FREE_CHECKS_PER_DAY - LIMITS.freeChecksPerClientAndDay - 2, FREE_CHECKS_PER_DAY)
    const [answer] = await Promise.all([
      page.waitForResponse(response => response.request().method() === "POST"),
      page.click("text=Check jane@gmail.com"),
    ])
    expect(answer.status()).toBe(503)
    await page.waitForSelector(".boxed")
    expect(await facts(page)).toContain("00:00 UTC")
    expect(await page.inputValue("#input")).toBe("jane@gmail.com")
    expect(faults).toEqual([])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, who has no script is told what to do for a pass, and who asks too fast for too long is banned`,
  async () => {
    const [browser, { url, time }] = await Promise.all([openBrowser(), served()])
    const scriptless = await opened(browser, url, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
    for (let count = 0; count < LIMITS.freeChecksPerClientAndDay; count++) {
      expect(await check(scriptless.page, "stripe.com")).toBe(200)
      await time.tick(1000 / LIMITS.freeRequestsPerSecond)
    }
    expect(await check(scriptless.page, "stripe.com")).toBe(403)
    expect(await scriptless.page.isVisible("noscript")).toBe(true)
    expect(await facts(scriptless.page)).toContain("Get a free key")

    const { page, faults } = await opened(browser, url)
    const statuses = await page.evaluate(async count => {
      const body = new URLSearchParams({ input: "" })
      const seen: number[] = []
      for (let done = 0; done < count; done++) seen.push((await fetch("/", { method: "POST", body })).status)
      return seen
    }, 10 * LIMITS.strikesMax)
    expect([...new Set(statuses)]).toEqual(expect.arrayContaining([429, 403]))
    expect(await check(page, "stripe.com")).toBe(403)
    await page.waitForSelector(".boxed")
    expect(await facts(page)).toContain("blocks it for a while")
    expect(faults).toEqual([])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a phone shows the form and the verdict without scrolling, with a script and without, and the verdict has the focus`,
  async () => {
    const [browser, { url, time }] = await Promise.all([openBrowser(), served()])
    for (const javaScriptEnabled of [true, false]) {
      const phone = { javaScriptEnabled, viewport: { width: 390, height: 844 } }
      const { page, faults } = await opened(browser, url, phone)
      for (const input of ["paypa1.com", "jane@@stripe.com"]) {
        // Each day begins with checks that need no pass.
        await time.tick(86_400_000)
        expect(await check(page, input)).toBe(200)
        for (const part of ["#input", "#verdict-title", ".v-mark", ".v-meaning", ".why"]) {
          const box = await page.locator(part).first().boundingBox()
          expect({ part, top: (box?.y ?? -1) >= 0, bottom: (box?.y ?? 999) + (box?.height ?? 0) < 844 }).toEqual({
            part,
            top: true,
            bottom: true,
          })
          expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(390)
        }
        expect(await page.locator("#verdict").evaluate(element => element.matches(":focus"))).toBe(true)
        await page.goto(`${url}/`)
      }
      expect(faults).toEqual([])
    }
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, another policy judges the same input, and what cannot be copied by a button can be read`,
  async () => {
    const [browser, { url, time }] = await Promise.all([openBrowser(), served()])
    for (const javaScriptEnabled of [true, false]) {
      await time.tick(86_400_000)
      const { page, faults } = await opened(browser, url, { javaScriptEnabled })
      expect(await check(page, "o'brien@gmail.com")).toBe(200)
      await page.selectOption("#policy", "strict")
      await Promise.all([
        page.waitForResponse(answer => answer.request().method() === "POST"),
        page.click(".ask-row button"),
      ])
      await page.waitForSelector(".v-mark.block")
      expect(await page.inputValue("#input")).toBe("o'brien@gmail.com")
      expect(await page.inputValue("#policy")).toBe("strict")
      expect(await page.locator("text=Copy as curl").count()).toBe(javaScriptEnabled ? 1 : 0)
      await page.click("text=Details for developers")
      expect(JSON.parse((await page.textContent("#verdict-json")) ?? "")).toMatchObject({ policy: "strict" })
      expect(await page.isVisible("#verdict-curl")).toBe(true)
      expect(faults).toEqual([])
    }
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a hostile input is text in a card that fits a screen of 320 pixels`,
  async () => {
    const [browser, { url, time }] = await Promise.all([openBrowser(), served()])
    const { page, faults } = await opened(browser, url, { viewport: { width: 320, height: 600 } })
    for (const input of HOSTILE_INPUTS) {
      await time.tick(86_400_000)
      expect(await check(page, input)).toBe(input.length > LIMITS.addressBytesMax && input.includes("@") ? 400 : 200)
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320)
      expect(await page.locator("#verdict script, #verdict b, #verdict img").count()).toBe(0)
    }
    expect(faults).toEqual([])
  },
  BROWSER_TEST_MS,
)

const HOSTILE_INPUTS = [
  `${"x".repeat(64)}@${`${"y".repeat(50)}.`.repeat(3)}example.com`,
  `${"x".repeat(64)}@${`${"y".repeat(61)}.`.repeat(4)}example`,
  '"<script>alert(1)</script>"@<b>x</b>.com',
  "ana\u202emoc.elpmaxe@acme.com",
  "\u{1F469}\u200d\u{1F4BB}\u{1F4A9}@xn--ls8h.la",
  "\u0645\u062b\u0627\u0644@xn--mgbh0fb.xn--kgbechtv",
  `https://acme.com/${"z".repeat(2000)}`,
]
