import { afterAll, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { LIMITS } from "../../src/contract/limits.ts"
import { MEANINGS } from "../../src/http/site/checker/meanings.ts"
import { serverProcess } from "../contract/server-process.ts"

const CHROMIUM = ["/usr/bin/chromium", Bun.which("chromium"), Bun.which("google-chrome")].find(
  (path): path is string => path !== null && existsSync(path),
)
/** Null: it is not installed. */
const playwright = await import("playwright-core").catch(() => null)
const missing = [...(CHROMIUM === undefined ? ["Chromium"] : []), ...(playwright === null ? ["playwright-core"] : [])]

/** Each step ends within a minute, on a machine that is busy with other things too. */
const LIMIT_MS = 240_000
const STEP_MS = 60_000

/** After so long a visitor may come as fast as a new one. */
const PAUSE_MS = (LIMITS.freeRequestsBurst / LIMITS.freeRequestsPerSecond) * 1000

const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
}, LIMIT_MS)

async function launch(): Promise<Browser> {
  if (playwright === null || CHROMIUM === undefined) throw new Error("there is no browser")
  const browser = await playwright.chromium.launch({ executablePath: CHROMIUM, args: ARGS, timeout: STEP_MS })
  ends.push(() => browser.close())
  return browser
}

/** A browser of one visitor before the first page, and what went wrong in it. */
async function opened(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(STEP_MS)
  const wrong: string[] = []
  page.on("pageerror", error => wrong.push(String(error)))
  page.on("request", request => {
    if (!request.url().startsWith(`${url}/`)) wrong.push(`asked ${request.url()}`)
  })
  page.on("console", message => {
    // Chromium tells of every document that is refused; those of the first page are refused as they should be.
    const isRefusal = message.text().startsWith("Failed to load resource") && message.location().url === `${url}/`
    if (message.type() === "error" && !isRefusal) wrong.push(message.text())
  })
  await page.goto(`${url}/`)
  return { page, wrong, context }
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

const told = async (page: Page): Promise<string> => (await page.textContent("main")) ?? ""

const title =
  missing.length === 0 ? "in a browser" : `in a browser (skipped: ${missing.join(" and ")} is not installed)`

test.skipIf(missing.length > 0)(
  `${title}, a visitor has free checks, gets a pass from the widget without a click, and then the checker is busy`,
  async () => {
    const budget = LIMITS.freeChecksPerClientAndDay + 2
    const [browser, { url, stop }] = await Promise.all([
      launch(),
      serverProcess({ MAILKIND_FREE_CHECKS_PER_DAY: String(budget) }),
    ])
    ends.push(stop)
    const { page, wrong, context } = await opened(browser, url)

    for (let count = 0; count < LIMITS.freeChecksPerClientAndDay; count++) {
      expect(await check(page, "jane@mailinator.com")).toBe(200)
      expect(await told(page)).toContain(MEANINGS.disposable)
    }
    expect(page.url()).toBe(`${url}/`)
    expect(await context.cookies()).toEqual([])
    await page.waitForTimeout(PAUSE_MS)

    expect(await check(page, "gmail.com")).toBe(403)
    await page.waitForSelector("#verdict")
    expect(await told(page)).toContain(MEANINGS.personal)
    expect(await page.inputValue("#input")).toBe("gmail.com")
    expect(await context.cookies()).toMatchObject([{ name: "mailkind_pass", httpOnly: true, sameSite: "Lax" }])
    await page.waitForTimeout(PAUSE_MS)

    expect(await check(page, "jane@gmial.com")).toBe(200)
    const [answer] = await Promise.all([
      page.waitForResponse(response => response.request().method() === "POST"),
      page.click("text=Check jane@gmail.com"),
    ])
    expect(answer.status()).toBe(503)
    await page.waitForSelector(".boxed")
    expect(await told(page)).toContain("00:00 UTC")
    expect(await page.inputValue("#input")).toBe("jane@gmail.com")
    expect(wrong).toEqual([])
  },
  LIMIT_MS,
)

test.skipIf(missing.length > 0)(
  `${title}, who has no script is told what to do for a pass, and who asks too fast for too long is banned`,
  async () => {
    const [browser, { url, stop }] = await Promise.all([launch(), serverProcess()])
    ends.push(stop)
    const scriptless = await opened(browser, url, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
    for (let count = 0; count < LIMITS.freeChecksPerClientAndDay; count++)
      expect(await check(scriptless.page, "stripe.com")).toBe(200)
    expect(await check(scriptless.page, "stripe.com")).toBe(403)
    expect(await scriptless.page.isVisible("noscript")).toBe(true)
    expect(await told(scriptless.page)).toContain("sign in for a free key")

    const { page, wrong } = await opened(browser, url)
    const statuses = await page.evaluate(async count => {
      const body = new URLSearchParams({ input: "" })
      const seen: number[] = []
      for (let done = 0; done < count; done++) seen.push((await fetch("/", { method: "POST", body })).status)
      return seen
    }, 10 * LIMITS.strikesMax)
    expect([...new Set(statuses)]).toEqual(expect.arrayContaining([429, 403]))
    expect(await check(page, "stripe.com")).toBe(403)
    await page.waitForSelector(".boxed")
    expect(await told(page)).toContain("closed to it for a while")
    expect(wrong).toEqual([])
  },
  LIMIT_MS,
)
