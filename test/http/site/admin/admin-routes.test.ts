import { describe, expect, test } from "bun:test"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { createKey } from "../../../../src/customers/keys/keys.ts"
import { submitReport } from "../../../customers/feedback/open-feedback.ts"
import { newAccount, random } from "../../../customers/temp-store.ts"
import { knownLists } from "../../../support/app.ts"
import type { BrowserPage } from "../../../support/html-browser.ts"
import { attributesIn } from "../../../support/open-site.ts"
import { openAdmin } from "./open-admin.ts"

const harness = await openAdmin()
const somebody = await newAccount(harness.changes, "somebody@example.com")
const asSomebody = await harness.signIn(somebody)
const made = await createKey(harness.changes, random, { accountId: somebody, kind: "secret", name: null, origins: [] })
const receipt = await submitReport(harness.changes, { accountId: somebody, domain: "example.net" })

/** A path of the table with an id for which there is something. */
function pathOf(path: string): string {
  if (path.includes("/keys/")) return path.replace(":id", made.kind === "created" ? made.key.id : "")
  return path.replace(":list", "block.txt").replace(":id", path.includes("/feedback/") ? receipt.id : somebody)
}

const ADMIN = Object.values(ROUTES)
  .filter(({ access }) => access === "admin")
  .map(({ method, path }) => ({ method, path, requests: pathOf(path) }))
/** Those that are pages, and no files. */
const PAGES = ADMIN.filter(({ method, path }) => method === "GET" && !/:list|\.csv$/.test(path))

const ask = (method: string, path: string, as: string): Promise<BrowserPage> =>
  method === "GET" ? harness.page(path, as) : harness.form(path, {}, as)

test("every path below /admin is for admins, and no other is", () => {
  for (const { path, access } of Object.values(ROUTES))
    expect({ path, asks: access === "admin" }).toEqual({ path, asks: /^\/admin(\/|$)/.test(path) })
})

describe.each(ADMIN)("$method $path", ({ method, requests: input }) => {
  test("does not exist for who is no admin", async () => {
    const { status, text, html } = await ask(method, input, asSomebody)
    expect(status).toBe(404)
    expect(text).toContain("There is no page at this URL.")
    expect(html).not.toContain("Administration")
  })

  test("sends who is not signed in to sign in", async () => {
    for (const as of ["", "mailkind_session=", `mailkind_session=${"x".repeat(32)}`]) {
      const { status, redirectPath } = await ask(method, input, as)
      expect({ status, leadsTo: redirectPath?.split("?")[0] }).toEqual({ status: 303, leadsTo: ROUTES.signIn.path })
    }
  })
})

test("nothing that who is no admin sent has changed anything", async () => {
  const { text } = await harness.page(`/admin/accounts/${somebody}`)
  expect(text).toContain("Tier Free")
  expect(text).not.toContain("revoked")
  expect((await harness.page(`/admin/feedback/${receipt.id}`)).text).toContain("waiting")
})

describe.each(PAGES)("the page $path", ({ path, requests }) => {
  const shown =
    path === ROUTES.adminTermsPreview.path ? `${requests}?version=9&url=https://a.example/&material=yes` : requests

  test("is whole: one title, a language, no id twice, no inline script or style", async () => {
    const { status, html } = await harness.page(shown)
    expect(status).toBe(200)
    expect(html.match(/<h1>/g)).toHaveLength(1)
    expect(html).toContain('<html lang="en">')
    expect(html).not.toMatch(/\sstyle=|\son[a-z]+=|<script(?![^>]*src=)/)
    const ids = attributesIn(html, "id")
    expect(ids).toEqual([...new Set(ids)])
  })

  test("has a label for each field and a caption for each table", async () => {
    const { html } = await harness.page(shown)
    for (const [, id = ""] of html.matchAll(/<(?:input|select|textarea)(?![^>]*type="hidden")[^>]*\sid="([^"]*)"/g))
      expect(html).toContain(`<label for="${id}">`)
    expect(html.match(/<caption>/g)?.length ?? 0).toBe(html.match(/<table>/g)?.length ?? 0)
  })

  test("links to the parts of the administration, and to nothing of another host but what an admin typed and where sources come from", async () => {
    const { html } = await harness.page(shown)
    for (const route of ["admin", "adminAccounts", "adminFeedback", "adminLists", "adminTerms"] as const)
      expect(attributesIn(html, "href")).toContain(ROUTES[route].path)
    const origins = Object.values(knownLists.manifest.sources).map(({ origin }) => origin)
    const targets = [...attributesIn(html, "href"), ...attributesIn(html, "src")]
    for (const target of shown === ROUTES.adminSources.path ? targets.filter(url => !origins.includes(url)) : targets)
      expect(target).toMatch(/^(\/(?!\/)|#|https:\/\/a\.example\/$)/)
  })
})

test("only admins see the way to these pages", async () => {
  const { path } = ROUTES.account
  expect(attributesIn((await harness.page(path)).html, "href")).toContain(ROUTES.admin.path)
  expect(attributesIn((await harness.page(path, asSomebody)).html, "href")).not.toContain(ROUTES.admin.path)
})

test.each(["acc_none", "%00", "%ff", "..%2f..", "x".repeat(3000), "<script>", "'; DROP TABLE accounts; --"])(
  "an id that nothing has is not found: %p",
  async id => {
    for (const { method, path } of ADMIN.filter(route => route.path.includes(":id"))) {
      const fields = { tier: "1", seen: "received" }
      const requests = path.replace(":id", id.startsWith("%") || id.includes("%") ? id : encodeURIComponent(id))
      const { status } = method === "GET" ? await harness.page(requests) : await harness.form(requests, fields)
      expect({ path, status }).toEqual({ path, status: 404 })
    }
  },
)
