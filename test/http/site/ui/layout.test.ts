import { expect, test } from "bun:test"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { openAdmin } from "../admin/open-admin.ts"

const harness = await openAdmin()

/** The links of a page that are marked as current, in order. */
const marked = (html: string): readonly (readonly [path: string, as: string])[] =>
  [...html.matchAll(/<a [^>]*href="([^"]*)" aria-current="(\w+)"/g)].map(([, path = "", as = ""]) => [path, as])

/** Pages of an account and of the administration that need no id and send a page, not a file. */
const PAGES = Object.values(ROUTES).filter(
  ({ kind, access, path }) => kind === "page" && access !== "anybody" && !/:|export|preview|usage$/.test(path),
)

/** Pages that no bar names, and the section that each belongs to. */
const SECTIONS = new Map<string, string>([
  [ROUTES.newKey.path, ROUTES.keys.path],
  [ROUTES.adminTermsWithdrawal.path, ROUTES.adminTerms.path],
])

test.each(PAGES)(
  "$path is marked in its own bar, by itself or its section, and as no page of the bar at the top",
  async ({ path }) => {
    const { status, html } = await harness.page(path)
    expect(status).toBe(200)
    const section = SECTIONS.get(path)
    expect(marked(html)[0]).toEqual(section === undefined ? [path, "page"] : [section, "true"])
  },
)

test("a page that is not there is no page of the bar at the top", async () => {
  const { status, html } = await harness.page(`${ROUTES.dashboard.path}/keys/key_none`)
  expect([status, marked(html)]).toEqual([404, []])
})
