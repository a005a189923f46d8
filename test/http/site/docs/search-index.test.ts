import { expect, test } from "bun:test"
import { join } from "node:path"
import { SETTINGS } from "../../../../src/config/settings.ts"
import { PROBLEM_CODES } from "../../../../src/contract/problems.ts"
import { REASON_NAMES } from "../../../../src/contract/reasons.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { openapiDocument } from "../../../../src/http/openapi/openapi-document.ts"
import { GUIDE } from "../../../../src/http/site/docs/guide.ts"
import { type SearchIndex, searchFile } from "../../../../src/http/site/docs/search-index.ts"
import { operationGroups } from "../../../../src/http/site/reference/operations.ts"
import { ROOT } from "../../../architecture/source-files.ts"
import { attributesIn, BASE_URL, LISTS_OVERVIEW, openSite } from "../../../support/open-site.ts"

const ask = openSite()

/** The path of the index that a page names. */
async function indexPath(from = ask): Promise<string> {
  const html = await (await from(ROUTES.docsErrors.path)).text()
  return /data-search-index="([^"]*)"/.exec(html)?.[1] ?? ""
}

const indexOf = async (): Promise<SearchIndex> => await (await ask(await indexPath())).json()

const read = (file: { readonly bytes: Uint8Array }): SearchIndex => JSON.parse(Buffer.from(file.bytes).toString())

test("a heading with an id begins a section, a row with an id is one, and code and markup are left out", () => {
  const markdown =
    "The `lead` has [a link](/docs).\n\n## First **part** {#first}\n\nWords.\n\n```sh Shell\ncurl secret-code\n```\n\n| Code | Cause |\n| :--- | ----: |\n| `not_found` {#not_found} | Nothing is *there*. |\n| plain | row |"
  expect(read(searchFile([{ path: "/docs/page", title: "Page", markdown }]))).toEqual({
    pages: [["/docs/page", "Page"]],
    sections: [
      [0, "", "Page", "The lead has a link."],
      [0, "first", "First part", "Words. Code Cause plain row"],
      [0, "not_found", "not_found", "Nothing is *there*."],
    ],
  })
})

test("the index has every page of the guide and of the API reference, and each section leads to an anchor that exists", async () => {
  const { pages, sections } = await indexOf()
  const guide = GUIDE.flatMap(({ pages: entries }) => entries).filter(({ text }) => text !== null)
  const operations = operationGroups(openapiDocument(BASE_URL, "mailkind.test")).flatMap(group => group.operations)
  expect(pages).toEqual([
    ...guide.map(({ route, title }) => [ROUTES[route].path, title] as const),
    ...operations.map(({ page, summary }) => [page, summary] as const),
  ])
  for (const [number, [path]] of pages.entries()) {
    const ids = attributesIn(await (await ask(path)).text(), "id")
    const own = sections.filter(([page]) => page === number).map(([, id]) => id)
    expect({ path, lost: own.filter(id => id !== "" && !ids.includes(id)) }).toEqual({ path, lost: [] })
    expect({ path, count: own.length > 0 }).toEqual({ path, count: true })
  }
})

test("every problem code, reason and setting can be found", async () => {
  const { sections } = await indexOf()
  const words = sections.map(([, , heading, text]) => `${heading} ${text}`).join(" ")
  const all = [...PROBLEM_CODES, ...REASON_NAMES, ...Object.keys(SETTINGS)]
  expect(all.filter(name => !words.includes(name))).toEqual([])
})

test("the index is under 64 KiB as browsers get it, and caches keep it under the path that names its version", async () => {
  const response = await ask(await indexPath(), { "accept-encoding": "gzip" })
  expect([response.status, response.headers.get("content-type"), response.headers.get("content-encoding")]).toEqual([
    ...[200, "application/json", "gzip"],
  ])
  expect(response.headers.get("cache-control")).toContain("immutable")
  expect((await response.bytes()).length).toBeLessThanOrEqual(65_536)
  expect((await ask(`${ROUTES.docsSearch.path}?v=older`)).headers.get("cache-control")).toBe("no-store")
})

test("processes with other lists have the same index, so that each can serve the pages of the others", async () => {
  expect(await indexPath(openSite({ lists: () => ({ ...LISTS_OVERVIEW, version: "other" }) }))).toBe(await indexPath())
})

test("a page with several sections has its contents folded, and the field of the search comes by script", async () => {
  const html = await (await ask(ROUTES.docsPrivacy.path)).text()
  const headings = [...html.matchAll(/<h2 id="([^"]+)"/g)].map(([, id = ""]) => `#${id}`)
  expect(headings.length).toBeGreaterThan(1)
  const contents = /<details class="contents-folded">(.*?)<\/details>/s.exec(html)?.[1] ?? ""
  expect(attributesIn(contents, "href")).toEqual(headings)
  expect(html).toMatch(/<div class="find" data-search-index="[^"]+"><\/div>/)
})

/** The `find` of the browser's script. Bun has the file as a text elsewhere, so its text is what is imported here. */
async function finder(): Promise<(index: SearchIndex, query: string) => readonly { readonly path: string }[]> {
  const text = await Bun.file(join(ROOT, "src/http/site/browser/search.js")).text()
  const { find } = await import(`data:text/javascript;base64,${Buffer.from(text).toString("base64")}`)
  return find
}

test("a question in the words of who asks leads to the section that answers it", async () => {
  const [find, index] = [await finder(), await indexOf()]
  const questions = {
    "how do I block gmail": "/docs/policies#block-gmail",
    "rotate a key": "/docs/keys#rotation",
    "one person one account": "/docs/sign-up-forms#one-account",
    "dedupe users": "/docs/sign-up-forms#one-account",
    "what does degraded mean": "/docs/degraded",
    "why is my domain listed": "/docs/lists",
    "clean a csv": "/docs/whole-lists",
    "verify the signature of a callback": "/docs/whole-lists#callbacks",
    "verify a callback": "/docs/whole-lists#callbacks",
    "move to postgres": "/docs/scaling#move",
    "move to PostgreSQL": "/docs/scaling#move",
    "who changed what": "/docs/security#audit",
    nginx: "/docs/self-hosting#proxy",
    "close sign-up": "/docs/self-hosting#close",
    "does the mailbox exist": "/docs/fields#not-checked",
    is_relay: "/docs/fields#is_relay",
    quota_exceeded: "/docs/errors#quota_exceeded",
    "POST /v1/feedback": "/docs/api/post-feedback",
    "idempotency key": "/docs/api/",
  }
  const answers = Object.entries(questions).map(([question, path]) => {
    const paths = find(index, question).map(result => result.path)
    return [question, paths.slice(0, 4).some(found => found.startsWith(path)) ? path : paths.slice(0, 4)]
  })
  expect(Object.fromEntries(answers)).toEqual(questions)
})

test("sections that have every word of a question come before those that have some, and those with fewer than half are left out", async () => {
  const find = await finder()
  const index: SearchIndex = {
    pages: [["/docs/page", "Page"]],
    sections: [
      [0, "some", "Keys", "Rotate them."],
      [0, "all", "Other", "Rotate keys each year."],
      [0, "few", "Each", "Nothing."],
    ],
  }
  const ids = (query: string): readonly string[] => find(index, query).map(({ path }) => path.slice(11))
  expect(ids("how do I rotate my keys each year")).toEqual(["all", "some"])
  expect(ids("keys")).toEqual(["some", "all"])
})
