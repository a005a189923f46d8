import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { Browser, BrowserContext } from "playwright-core"
import { ROUTES } from "../../../src/contract/routes.ts"
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
} from "./browser.ts"
import { signedIn } from "./signed-in.ts"

const ADMIN = "ada@example.com"
const JANE = "jane@example.com"

/** They are files, and no pages. */
const FILES: readonly string[] = [
  ROUTES.ownListFile.path,
  ROUTES.accountExport.path,
  ROUTES.requestLogFile.path,
  ROUTES.usageFile.path,
  ROUTES.ownListTable.path,
  ROUTES.adminListFile.path,
  ROUTES.adminListTable.path,
  ROUTES.jobProgress.path,
  ROUTES.jobResultsFile.path,
]

const pagesOf = (who: "account" | "admin"): readonly string[] =>
  Object.values(ROUTES)
    .filter(({ kind, access, path }) => kind === "page" && access === who && !FILES.includes(path))
    .map(({ path }) => path)

async function running(): Promise<{ server: ServerProcess; context: () => Promise<BrowserContext> }> {
  const [browser, server] = await Promise.all([openBrowser(), serverProcess({ MAILKIND_ADMINS: ADMIN })])
  onTestEnd(server.stop)
  return { server, context: () => browser.newContext() }
}

/** What the pages of single things are about. */
type Ids = Readonly<Record<"keys" | "accounts" | "feedback" | "requests" | "jobs", string>>

/** The id of the account's latest request. */
async function latestRequest({ page }: WatchedPage, { url }: ServerProcess): Promise<string> {
  await page.goto(`${url}${ROUTES.requests.path}`)
  return (await page.locator("[data-request]").first().getAttribute("data-request")) ?? ""
}

/** The path of a route, with the id of the thing that it is about. */
const concrete = (path: string, ids: Ids): string =>
  path.replace(/(keys|accounts|feedback|requests|jobs)\/:id/, (_, kind: keyof Ids) => `${kind}/${ids[kind]}`)

async function expectFit(watched: WatchedPage, name: string): Promise<void> {
  expect({ name, faults: await pageFaults(watched, name) }).toEqual({ name, faults: [] })
}

const Made = Type.Object({ id: Type.String(), key: Type.Optional(Type.String()) })

/** An account that has something on every page. */
async function filled(server: ServerProcess): Promise<{ readonly key: string; readonly ids: Omit<Ids, "requests"> }> {
  const made = async (...words: readonly string[]) => Value.Decode(Made, await server.run(...words))
  const account = await made("account", "create", JANE)
  const { id, key = "" } = await made("key", "create", "--account", JANE, "--name", "Shop server")
  await made("key", "create", "--account", JANE, "--publishable", "--origin", "https://shop.example")
  const gone = await made("key", "create", "--account", JANE, "--name", "Old")
  await server.run("key", "revoke", gone.id)
  await server.run("block", "add", "spam.example.com", "*.bad.example", "--account", JANE)
  for (const email of ["jane@gmail.com", "x@mailinator.com", "a@mit.edu"])
    await server.ask("POST /v1/check", { key, body: { email } })
  const { body } = await server.ask("POST /v1/feedback", {
    key,
    body: { domain: "granite-works.com", expected_category: "business", comment: "They make <b>stairs</b>." },
  })
  const list = await server.ask("POST /v1/jobs", {
    key,
    body: "jane@gmail.com",
    headers: { "Content-Type": "text/plain" },
  })
  const ids = { keys: id, accounts: account.id, feedback: String(body["id"]), jobs: String(list.body["id"]) }
  return { key, ids }
}

describe.skipIf(isBrowserMissing)(`${IN_A_BROWSER}, at both widths`, () => {
  let [browser, server]: [Browser | null, ServerProcess | null] = [null, null]
  let origin: string
  let ids: Ids
  const tabs = new Map<string, WatchedPage>()
  beforeAll(async () => {
    server = await serverProcess({ MAILKIND_ADMINS: ADMIN })
    browser = await connectBrowser()
    origin = server.url
    const { ids: made } = await filled(server)
    await server.run("account", "create", ADMIN)
    const account = await signedIn(await browser.newContext(), server, JANE)
    tabs.set("account", account).set("admin", await signedIn(await browser.newContext(), server, ADMIN))
    ids = { ...made, requests: await latestRequest(account, server) }
  }, BROWSER_TEST_MS)
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  }, BROWSER_TEST_MS)

  // A test each: all pages together take minutes where other tests run beside them.
  for (const who of ["account", "admin"] as const)
    for (const path of pagesOf(who))
      test(
        `the page ${path} is fit for all`,
        async () => {
          const watched = tabs.get(who)
          if (watched === undefined) throw new Error(`${who} is not signed in`)
          const answer = await watched.page.goto(`${origin}${concrete(path, ids)}`)
          expect(answer?.status()).toBe(path === ROUTES.adminTermsPreview.path ? 400 : 200)
          await expectFit(watched, path.slice(1).replaceAll("/", "-").replace(":id", "one"))
        },
        BROWSER_TEST_MS,
      )

  test.each([390, 320])(
    "a phone of %d pixels shows the sections in one row of large links, with the current one in sight, without a script",
    async width => {
      const phone = { viewport: { width, height: 844 }, javaScriptEnabled: false }
      const cookies = (await tabs.get("admin")?.page.context().cookies()) ?? []
      const context = await browser?.newContext(phone)
      await context?.addCookies(cookies)
      const page = await context?.newPage()
      for (const path of [ROUTES.dashboard.path, ROUTES.feedback.path, ROUTES.account.path, ROUTES.adminActs.path]) {
        await page?.goto(`${origin}${path}`)
        const links = page?.locator(".section-links a")
        const boxes = await Promise.all(((await links?.all()) ?? []).map(link => link.boundingBox()))
        expect(new Set(boxes.map(box => box?.y)).size).toBe(1)
        expect(Math.min(...boxes.map(box => box?.height ?? 0))).toBeGreaterThanOrEqual(40)
        const current = await page?.locator(".section-links [aria-current]").boundingBox()
        expect({ path, left: (current?.x ?? -1) >= 0 }).toEqual({ path, left: true })
        expect((current?.x ?? width) + (current?.width ?? 0)).toBeLessThanOrEqual(width)
      }
      await context?.close()
    },
    BROWSER_TEST_MS,
  )
})

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, an administrator accepts a report and the verdict changes; new terms are published, told and accepted`,
  async () => {
    const { server, context } = await running()
    const { key } = await filled(server)
    const request = () => server.ask("POST /v1/check", { key, body: { domain: "granite-works.com" } })
    expect((await request()).body["category"]).toBe("unknown")
    const admin = await signedIn(await context(), server, ADMIN)
    await admin.page.goto(`${server.url}/admin/feedback`)
    await admin.page.getByRole("link", { name: "Review the report of granite-works.com" }).click()
    await admin.page.getByRole("button", { name: "Accept the report" }).click()
    await admin.page.getByRole("status").waitFor()
    const corrected = await request()
    expect([corrected.body["category"], corrected.body["reasons"]]).toEqual([
      "business",
      ["corrected", "dns_unavailable"],
    ])

    await admin.page.goto(`${server.url}/admin/terms`)
    await admin.page.getByLabel("Version").fill("2026-12")
    await admin.page.getByLabel("Link to the terms").fill("https://mk.example.com/terms/2026-12")
    await admin.page.getByLabel("Must accounts accept the terms?").selectOption({ index: 1 })
    await admin.page.getByRole("button", { name: "Preview" }).click()
    await expectFit(admin, "admin-terms-previewed")
    await admin.page.getByRole("button", { name: "Publish version 2026-12" }).click()
    await admin.page.getByRole("status").waitFor()
    expect((await request()).headers["warning"]).toContain("2026-12")

    const jane = await signedIn(await context(), server, JANE)
    await jane.page.goto(`${server.url}/dashboard`)
    await expectFit(jane, "dashboard-terms")
    await jane.page.getByRole("button", { name: "I accept" }).click()
    await jane.page.getByRole("status").waitFor()
    expect((await request()).headers["warning"]).toBeUndefined()
    expect([...admin.faults, ...jane.faults]).toEqual([])
  },
  BROWSER_TEST_MS,
)
