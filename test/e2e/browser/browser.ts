import { existsSync } from "node:fs"
import { join } from "node:path"
import axe from "axe-core"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { bounded } from "../../support/bounded.ts"
import { onTestEnd } from "../../support/on-test-end.ts"

const CHROMIUM = ["/usr/bin/chromium", Bun.which("chromium"), Bun.which("google-chrome")].find(
  (path): path is string => path !== null && existsSync(path),
)
/** Null: it is not installed. */
const playwright = await import("playwright-core").catch(() => null)

/** What is not installed of what a test in a browser needs. */
const missing = [...(CHROMIUM === undefined ? ["Chromium"] : []), ...(playwright === null ? ["playwright-core"] : [])]

/** Whether there is no browser to test in. */
export const isBrowserMissing = missing.length > 0

/** How the name of a test in a browser begins; it tells what is missing where it is skipped for that. */
export const IN_A_BROWSER = isBrowserMissing
  ? `in a browser (skipped: ${missing.join(" and ")} is not installed)`
  : "in a browser"

/** Each step ends within a minute, on a machine that is busy with other things too. */
export const STEP_MS = 60_000
/** How long a whole test in a browser may take. */
export const BROWSER_TEST_MS = 300_000

/** It talks to nobody but the pages. */
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

/** Where the runner of all tests tells the address of the browser that it has started for them. */
export const BROWSER_URL = "TEST_BROWSER_URL"

/** Starts a browser that other processes can open pages in. */
export async function startBrowser(): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const { chromium, options } = installed()
  const server = await chromium.launchServer(options)
  return { url: server.wsEndpoint(), close: () => server.close() }
}

/** A browser with nothing open, for whoever closes it. */
export async function connectBrowser(): Promise<Browser> {
  const { chromium, options } = installed()
  const url = process.env[BROWSER_URL]
  return await (url === undefined ? chromium.launch(options) : chromium.connect(url, { timeout: STEP_MS }))
}

/** A browser with nothing open, all of whose pages are closed when the test ends. */
export async function openBrowser(): Promise<Browser> {
  const browser = await connectBrowser()
  onTestEnd(() => browser.close())
  return browser
}

function installed() {
  if (playwright === null || CHROMIUM === undefined) throw new Error("there is no browser")
  const { chromium } = playwright
  return { chromium, options: { executablePath: CHROMIUM, args: ARGS, timeout: STEP_MS } }
}

/** A page and all that went wrong in it: errors of its scripts and its policy, and requests to any other host. */
export type WatchedPage = { readonly page: Page; readonly faults: string[] }

/** Opens a page of its own, which may ask the origin alone. */
export async function watchedPage(context: BrowserContext, origin: string): Promise<WatchedPage> {
  const page = await bounded(context.newPage(), () => "the browser opened no page")
  page.setDefaultTimeout(STEP_MS)
  const faults: string[] = []
  // A refused form is an answer with a status of 400 or more, which browsers write to the console too.
  page.on("console", message => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) faults.push(message.text())
  })
  page.on("pageerror", error => faults.push(error.message))
  page.on("request", request => {
    if (!request.url().startsWith(`${origin}/`) && !/^(?:data|blob):/.test(request.url())) faults.push(request.url())
  })
  return { page, faults }
}

/** What the rules of WCAG 2.2 A and AA, as axe-core tries them, find wrong in a page as it is now. */
export async function accessFaults(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(
    'axe.run(document, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })',
  )
  return violations.map(
    ({ id, impact, nodes }) =>
      `${impact} ${id}: ${nodes.map(node => `${node.html} ${node.failureSummary}`).join(" | ")}`,
  )
}

type Violation = {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** With `TEST_PICTURES=1` the tests leave pictures of the pages here, for whoever changes how they look. */
const PICTURES = process.env["TEST_PICTURES"] === "1" ? join(import.meta.dir, "pictures") : null

/** A phone and a desk. */
const WIDTHS = [390, 1280] as const

/** Cells that stand below each other and do not say of which column they are. */
const UNLABELLED_CELLS = `[...document.querySelectorAll(".page .scroll tbody td:not([data-label]):not(:empty)")]
  .filter(cell => getComputedStyle(cell).display !== "table-cell").map(cell => cell.textContent)`

/** What is wrong with the page at each width: on the phone in dark colours, on the desk in light ones. */
async function widthFaults(page: Page, name: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    if (PICTURES !== null) await takePictures(page, join(PICTURES, `${name}-${width}`))
    if ((await page.evaluate<number>("document.documentElement.scrollWidth")) > width)
      found.push(`the page is wider than ${width} px`)
    // Colours that are on their way to others have the contrast of neither.
    await page.emulateMedia({ colorScheme: width < 500 ? "dark" : "light", reducedMotion: "reduce" })
    const unlabelled = await page.evaluate<readonly string[]>(UNLABELLED_CELLS)
    const faults = [...unlabelled.map(text => `no column is told of ${text}`), ...(await accessFaults(page))]
    found.push(...faults.map(fault => `at ${width} px: ${fault}`))
  }
  return found
}

async function takePictures(page: Page, path: string): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: `${path}-${colorScheme}.png`, fullPage: true })
  }
}

/** Everything that is wrong with the page as it is now, on a phone and on a desk. */
export async function pageFaults({ page, faults }: WatchedPage, name: string): Promise<readonly string[]> {
  return [...faults, ...(await widthFaults(page, name)).map(fault => `${name}: ${fault}`)]
}
