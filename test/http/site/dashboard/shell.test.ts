import { expect, test } from "bun:test"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { attributesIn } from "../../../support/open-site.ts"
import { openAdmin } from "../admin/open-admin.ts"

const harness = await openAdmin()

const PAGES = Object.values(ROUTES).filter(
  ({ kind, access, path }) => kind === "page" && access === "account" && !/:|export|usage$/.test(path),
)

/** The account menu in the header of a page. */
const menuOf = (html: string): string => /<header.*?(<details class="menu">.*?<\/details>)/s.exec(html)?.[1] ?? ""

test.each(PAGES)(
  "$path has one navigation, and a menu with the email, the dashboard, the account and the sign-out",
  async ({ path }) => {
    const { html } = await harness.page(path)
    expect(html.match(/<nav class="section-links"/g)).toHaveLength(1)
    const menu = menuOf(html)
    expect(menu).toContain("owner@localhost")
    expect(attributesIn(menu, "href")).toEqual([ROUTES.dashboard.path, ROUTES.account.path, ROUTES.admin.path])
    expect(menu).toContain(`action="${ROUTES.postSignOut.path}"`)
    // Links come before the content, in the order of reading and of the keyboard.
    expect(html.indexOf('class="section-links"')).toBeLessThan(html.indexOf("<main"))
  },
)

test("the navigation marks the page, and on the page of one thing the page that lists it", async () => {
  const currentOn = async (path: string): Promise<string | undefined> =>
    /<nav class="section-links".*?<a href="([^"]*)" aria-current="([^"]*)"/s
      .exec((await harness.page(path)).html)
      ?.slice(1)
      .join(" ")
  const { html } = await harness.page(ROUTES.keys.path)
  const [keyPath = ""] = attributesIn(html, "href").filter(path => /^\/dashboard\/keys\/key_\w+$/.test(path))
  expect(await currentOn(ROUTES.dashboard.path)).toBe(`${ROUTES.dashboard.path} page`)
  expect(await currentOn(ROUTES.keys.path)).toBe(`${ROUTES.keys.path} page`)
  expect(await currentOn(keyPath)).toBe(`${ROUTES.keys.path} true`)
  expect((await harness.page(keyPath)).html).toMatch(/<p class="crumb"><a href="\/dashboard\/keys">.*?<h1>/s)
})

test("public pages greet whoever is signed in with the same menu, and offer no key", async () => {
  for (const path of [ROUTES.home.path, ROUTES.docsGuide.path, ROUTES.docsStart.path, ROUTES.docsLists.path]) {
    const { html } = await harness.page(path)
    expect(menuOf(html)).toContain("owner@localhost")
    expect(/<header.*?<\/header>/s.exec(html)?.[0]).not.toContain("Get a free key")
    const stranger = await harness.app(new Request(`http://localhost${path}`))
    const seen = await stranger.text()
    expect(seen).toContain("Get a free key")
    expect(seen).not.toContain("owner@localhost")
  }
})

test("the page for an address where nothing is has the same menu, and the header for strangers without a database", async () => {
  const { app, signIn, store } = await openAdmin()
  const Cookie = await signIn()
  const lost = async (headers: Record<string, string>) => {
    const answer = await app(new Request("http://localhost/nowhere", { headers: { Accept: "text/html", ...headers } }))
    return { status: answer.status, html: await answer.text() }
  }
  expect(menuOf((await lost({ Cookie })).html)).toContain("owner@localhost")
  expect(menuOf((await lost({})).html)).toBe("")
  await store.run("DROP TABLE sessions")
  const { status, html } = await lost({ Cookie })
  expect([status, menuOf(html)]).toEqual([404, ""])
})

test("only administrators have links to the administration", async () => {
  const { app, signIn } = await openAdmin({ admins: [] })
  const answer = await app(
    new Request(`http://localhost${ROUTES.account.path}`, { headers: { Cookie: await signIn() } }),
  )
  const html = await answer.text()
  expect(menuOf(html)).toContain("Sign out")
  expect(html).not.toContain(`href="${ROUTES.admin.path}"`)
})
