import { describe, expect, test } from "bun:test"
import { ROUTES } from "../../src/contract/routes.ts"
import { testApp } from "../support/app.ts"

const { app } = await testApp()

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

const ask = async (path: string, accept: string | null, method = "GET"): Promise<Response> =>
  await app(new Request(`http://localhost${path}`, { method, headers: accept === null ? {} : { Accept: accept } }))

const mediaType = (response: Response): string => response.headers.get("content-type")?.split(";")[0] ?? ""

describe.each([
  "/nowhere",
  "/docs/nowhere",
  "/docs/assets/none.css",
  "/admin/nowhere",
  "/v12",
  "/metrics",
  "/%3Cscript%3E",
  "/a/b/c/d/e/f/g/h/i/j",
])("%s, where nothing is,", path => {
  test("is a page for a browser, with links that lead on and without what was asked for", async () => {
    const response = await ask(path, BROWSER)
    expect([response.status, mediaType(response)]).toEqual([404, "text/html"])
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'")
    expect(response.headers.get("x-request-id")).not.toBeNull()
    const html = await response.text()
    expect(html).toContain("<title>Page not found · mailkind</title>")
    for (const { path: to } of [ROUTES.home, ROUTES.docsGuide, ROUTES.docs]) expect(html).toContain(`href="${to}"`)
    expect(html).not.toContain("<script>")
    expect(html).not.toContain(path)
  })

  test.each([null, "*/*", "application/json", "application/json, text/html", "image/webp,*/*;q=0.8"])(
    "is a problem for a program that accepts %p",
    async accept => {
      const response = await ask(path, accept)
      expect([response.status, mediaType(response)]).toEqual([404, "application/problem+json"])
      expect(await response.json()).toMatchObject({ code: "not_found" })
    },
  )
})

test.each(["/v1", "/v1/", "/v1/nowhere", "/v1/check/", "/hooks", "/hooks/nowhere", "/hooks/secret-scanning/"])(
  "%s is a problem for a browser too, since only programs ask there",
  async path => {
    const response = await ask(path, BROWSER)
    expect([response.status, mediaType(response)]).toEqual([404, "application/problem+json"])
  },
)

test("a browser that sends a form to a page that takes none gets a page, and is told what the path takes", async () => {
  const response = await ask("/docs", BROWSER, "POST")
  expect([response.status, mediaType(response), response.headers.get("allow")]).toEqual([
    405,
    "text/html",
    "GET, HEAD, OPTIONS",
  ])
})

test("HEAD of a page that is not there has the headers of the page", async () => {
  const response = await ask("/nowhere", BROWSER, "HEAD")
  expect([response.status, mediaType(response)]).toEqual([404, "text/html"])
})

describe("the target of a form, which a browser reloads after a refusal,", () => {
  const TARGETS = Object.values(ROUTES)
    .filter(({ kind }) => kind === "form")
    .map(({ path }) => path.replaceAll(/:\w+/g, "some-id"))
  const PAGES = Object.values(ROUTES).filter(({ kind }) => kind === "page")
  const isPage = (path: string): boolean =>
    PAGES.some(page => new RegExp(`^${page.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(path))

  test.each(TARGETS)("%s is a page, or leads to the page with the form", async path => {
    for (const method of ["GET", "HEAD"]) {
      const { status, headers } = await ask(path, BROWSER, method)
      expect(status).not.toBe(405)
      expect(isPage(status === 303 ? (headers.get("location") ?? "").replace(/\?.*/, "") : path)).toBe(true)
    }
  })

  test.each([
    ["/dashboard/keys/key_1/settings", "/dashboard/keys/key_1"],
    ["/dashboard/list-entries/import", "/dashboard/lists"],
    ["/dashboard/job-estimate", "/dashboard/jobs"],
    ["/admin/invitations/inv_1/revoke", "/admin/accounts"],
    ["/sign-out", "/"],
  ])("leads from %s to %s, and is refused to a program", async (path, page) => {
    const { status, headers } = await ask(path, BROWSER)
    expect([status, headers.get("location")]).toEqual([303, `${page}?done=nothing`])
    expect((await ask(path, "*/*")).status).toBe(405)
  })
})

describe("a slash at the end of a page's path", () => {
  const PAGES = Object.values(ROUTES).filter(({ kind, path }) => kind === "page" && path !== "/" && !path.includes(":"))

  test.each(PAGES)("leads from $path/ to $path for good, for every program and browser", async ({ path }) => {
    for (const method of ["GET", "HEAD"])
      for (const accept of [BROWSER, "*/*"]) {
        const { status, headers } = await ask(`${path}/`, accept, method)
        expect([status, headers.get("location")]).toEqual([308, path])
      }
  })

  test.each([
    ["/docs/?a=1&b=%2F", "/docs?a=1&b=%2F"],
    ["/docs//", "/docs"],
    ["/dashboard/keys/key_1/", "/dashboard/keys/key_1"],
    ["/docs/errors.md/", "/docs/errors.md"],
  ])("leads from %s to %s", async (path, to) => {
    const { status, headers } = await ask(path, BROWSER)
    expect([status, headers.get("location")]).toEqual([308, to])
  })

  test.each(["//", "//docs/", "//evil.example/", "/nowhere/", "/dashboard/list-entries/", "/docs/assets/"])(
    "leads nowhere from %s",
    async path => {
      const { status, headers } = await ask(path, BROWSER)
      expect([status, headers.get("location")]).toEqual([404, null])
    },
  )

  test("is refused with a form", async () => {
    const { status, headers } = await ask("/sign-in/", BROWSER, "POST")
    expect([status, headers.get("location")]).toEqual([404, null])
  })
})
