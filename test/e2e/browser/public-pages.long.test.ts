import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { ROUTES } from "../../../src/contract/routes.ts"
import { OPERATION_PAGES } from "../../../src/http/site/reference/operations.ts"
import { type ServerProcess, serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import {
  BROWSER_TEST_MS,
  connectBrowser,
  IN_A_BROWSER,
  isBrowserMissing,
  openBrowser,
  pageFaults,
  type WatchedPage,
  watchedPage,
} from "./browser.ts"

const NO_PAGES: readonly string[] = [
  ROUTES.openapi.path,
  ROUTES.docsAsset.path,
  ROUTES.docsApiOperation.path,
  ROUTES.getPassChallenge.path,
  ROUTES.docsMarkdown.path,
  ROUTES.docsSearch.path,
  ROUTES.pythonClient.path,
  ROUTES.pythonWheel.path,
  ROUTES.clientPackage.path,
  ROUTES.llms.path,
  ROUTES.formScript.path,
  ROUTES.formScriptVersion.path,
  ROUTES.favicon.path,
  ROUTES.robots.path,
  ROUTES.sitemap.path,
  ROUTES.securityTxt.path,
  ROUTES.llmsFull.path,
]
const PAGES = Object.values(ROUTES)
  .filter(({ kind, access, path }) => kind === "page" && access === "anybody" && !NO_PAGES.includes(path))
  .map(({ path }): string => path)
  .concat(OPERATION_PAGES)

describe.skipIf(isBrowserMissing)(`${IN_A_BROWSER}, at both widths`, () => {
  let [browser, server]: [Browser | null, ServerProcess | null] = [null, null]
  let origin: string
  /** One tab for all pages: its process compiles axe-core once. */
  let watched: WatchedPage
  beforeAll(async () => {
    server = await serverProcess()
    browser = await connectBrowser()
    origin = server.url
    watched = await watchedPage(await browser.newContext(), origin)
  }, BROWSER_TEST_MS)
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  }, BROWSER_TEST_MS)

  // A test each: all pages together take minutes where other tests run beside them.
  for (const path of PAGES)
    test(
      `the page ${path} is fit for all and asks this server alone`,
      async () => {
        await watched.page.goto(`${origin}${path}`)
        const name = path === "/" ? "first" : path.slice(1).replaceAll("/", "-")
        expect(await pageFaults(watched, name)).toEqual([])
      },
      BROWSER_TEST_MS,
    )
})

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, every kind of verdict and a refused input are fit for all, at both widths`,
  async () => {
    const [browser, { url, stop }] = await Promise.all([openBrowser(), serverProcess()])
    onTestEnd(stop)
    const watched = await watchedPage(await browser.newContext(), url)
    const { page } = watched
    const longUrl = `https://${"a-long-name.".repeat(8)}example.com/${"path/".repeat(20)}?to=x@y`
    for (const [name, input] of [
      ["lookalike", "jane@paypa1.com"],
      ["typo", "jane@gmial.com"],
      ["long", longUrl],
      ["refused", " "],
    ] as const) {
      await page.goto(`${url}/`)
      await page.getByLabel("Email address, domain or website").fill(input)
      await Promise.all([page.waitForNavigation(), page.locator("form.ask [type=submit]").first().click()])
      expect({ name, faults: await pageFaults(watched, `verdict-${name}`) }).toEqual({ name, faults: [] })
    }
  },
  BROWSER_TEST_MS,
)
