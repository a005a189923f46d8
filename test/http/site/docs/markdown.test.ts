import { describe, expect, test } from "bun:test"
import { PROBLEM_CODES } from "../../../../src/contract/problems.ts"
import { REASON_NAMES, REASONS } from "../../../../src/contract/reasons.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { checkPrograms } from "../../../../src/http/site/docs/examples.ts"
import { GUIDE, MARKDOWN_GUIDE_PAGES } from "../../../../src/http/site/docs/guide.ts"
import { acceptsMarkdown } from "../../../../src/http/site/docs/guide-routes.tsx"
import { OPERATION_PAGES } from "../../../../src/http/site/reference/operations.ts"
import { attributesIn, BASE_URL, openSite } from "../../../support/open-site.ts"

const ask = openSite()
const textOf = async (path: string): Promise<string> => (await ask(path)).text()
const PAGES = MARKDOWN_GUIDE_PAGES.map(({ route, title }) => ({ path: ROUTES[route].path, title }))

/** The text without its blocks of code and without inline code. */
const prose = (markdown: string): string =>
  markdown.replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?\n\1$/gm, "").replaceAll(/`[^`\n]*`/g, "")

describe.each(PAGES)("the Markdown of $path", ({ path, title }) => {
  test("has the title of the page, and leaves no insert and no id in its text", async () => {
    const markdown = await textOf(`${path}.md`)
    expect(markdown).toStartWith(`# ${title}\n\n`)
    expect(/\{\{|\{#|undefined|\bNaN\b|\[object/.exec(prose(markdown))?.[0] ?? null).toBeNull()
  })

  test("has at most 2 500 words, and begins with a sentence", async () => {
    const markdown = await textOf(`${path}.md`)
    expect(markdown.match(/\S*[\p{L}\p{N}]\S*/gu)?.length).toBeLessThanOrEqual(2500)
    expect(markdown.slice(`# ${title}\n\n`.length)).toMatch(/^[A-Z].*[.]$/m)
    expect(markdown.slice(`# ${title}\n\n`.length)).not.toMatch(/^[#|{-]/)
  })

  test("is the answer at the page's own path for those who accept Markdown", async () => {
    const [own, page] = [await ask(`${path}.md`), await ask(path, { accept: "text/markdown, */*;q=0.1" })]
    for (const { status, headers } of [own, page]) {
      expect([status, headers.get("content-type")]).toEqual([200, "text/markdown; charset=utf-8"])
      expect(headers.get("cache-control")).toBe("no-store")
      expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'")
      expect(headers.get("x-content-type-options")).toBe("nosniff")
    }
    expect(page.headers.get("vary")).toBe("Accept")
    expect(await page.text()).toBe(await own.text())
  })

  test("is HTML for everybody else, and caches are told so", async () => {
    for (const accept of ["*/*", "text/html, text/markdown;q=0.9", "text/markdown;q=0"]) {
      const { headers } = await ask(path, { accept })
      expect([headers.get("content-type"), headers.get("vary")]).toEqual([
        "text/html; charset=utf-8",
        "Accept, Accept-Encoding",
      ])
    }
  })

  test("has absolute links alone, to pages and anchors that exist", async () => {
    const links = [...prose(await textOf(`${path}.md`)).matchAll(/\]\(([^)\s]+)[^)]*\)/g)].map(([, link = ""]) => link)
    const paths = [...Object.values(ROUTES).map(route => route.path), ...OPERATION_PAGES]
    for (const link of links) {
      expect(link).toStartWith(`${BASE_URL}/`)
      const { pathname, hash } = new URL(link)
      if (!pathname.startsWith("/docs/assets/")) expect<string[]>(paths).toContain(pathname)
      if (hash !== "") expect(attributesIn(await textOf(pathname), "id")).toContain(hash.slice(1))
    }
  })

  test("names the language of each block of code", async () => {
    const fences = [...(await textOf(`${path}.md`)).matchAll(/^`{3,}(.*)$/gm)].map(([, info = ""]) => info)
    expect(fences.length % 2).toBe(0)
    for (const info of fences.filter((_, index) => index % 2 === 0)) expect(info).toMatch(/^[a-z]+ \S/)
  })

  test("has every row of the tables that the page shows", async () => {
    const rows = (await textOf(path)).match(/<tr/g)?.length ?? 0
    const lines = prose(await textOf(`${path}.md`)).match(/^\| (?!--|:-)/gm)?.length ?? 0
    expect(lines).toBe(rows)
  })
})

test("the Markdown of the quick start has every example in every language", async () => {
  const markdown = await textOf(`${ROUTES.docsStart.path}.md`)
  for (const { file } of checkPrograms({ baseUrl: BASE_URL, checkTimeoutMs: 3000 }))
    expect(markdown).toContain(` ${file}\n`)
})

test("the Markdown of reasons and errors has every code", async () => {
  const [reasons, errors] = [await textOf("/docs/reasons.md"), await textOf("/docs/errors.md")]
  for (const reason of REASON_NAMES) expect(reasons).toContain(`| \`${reason}\` | `)
  expect(reasons).toContain(REASONS.free_provider.description)
  for (const code of PROBLEM_CODES) expect(errors).toContain(`\n### \`${code}\`\n`)
})

test("a page that does not exist has no Markdown", async () => {
  for (const path of ["/docs/nothing.md", "/docs/start.md.md", "/docs/docs.md", "/docs/json.md", "/docs/nothing"]) {
    const answer = await ask(path)
    expect([path, answer.status, answer.headers.get("content-type")]).toEqual([path, 404, "application/problem+json"])
    expect(await answer.json()).toMatchObject({ code: "not_found" })
  }
})

describe("llms.txt", () => {
  test("names every page of the guide once, with its description and an address that answers", async () => {
    const answer = await ask(ROUTES.llms.path)
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8")
    const text = await answer.text()
    expect(text).toMatch(/^# mailkind\n\n> \S/)
    const entries = [...text.matchAll(/^- \[([^\]]+)\]\(([^)]+)\): (.+)$/gm)]
    const pages = GUIDE.flatMap(part => part.pages)
    expect(entries.map(([, title]) => title ?? "")).toEqual(pages.map(({ title }) => title))
    for (const [index, [, , link = "", description = ""]] of entries.entries()) {
      expect<string | undefined>(description).toBe(pages[index] && ROUTES[pages[index].route].description)
      expect(link).toStartWith(`${BASE_URL}/docs/`)
      expect([link, (await ask(new URL(link).pathname)).status]).toEqual([link, 200])
    }
  })

  test("is what the guide's index is in Markdown", async () => {
    expect(await textOf(`${ROUTES.docsGuide.path}.md`)).toBe(await textOf(ROUTES.llms.path))
  })

  test("has a full form: the Markdown of all pages but the licences, in the order of the guide", async () => {
    const read = PAGES.filter(({ path }) => path !== ROUTES.docsLicences.path)
    const pages = await Promise.all(read.map(({ path }) => textOf(`${path}.md`)))
    expect(await textOf(ROUTES.llmsFull.path)).toBe(pages.join("\n"))
  })
})

test.each([
  ["text/markdown", true],
  ["TEXT/Markdown ; charset=utf-8", true],
  ["text/markdown, text/html, */*", true],
  ["text/html;q=0.5, text/markdown;q=0.7", true],
  ["text/html, text/markdown;q=0.9", false],
  ["text/markdown;q=0", false],
  ["text/markdown;q=x", false],
  ["text/*", false],
  ["*/*", false],
  ["", false],
  [null, false],
])("Accept: %p asks for Markdown: %p", (accept, expected) => {
  expect(acceptsMarkdown(accept)).toBe(expected)
})
