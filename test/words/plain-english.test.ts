import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ROUTES } from "../../src/contract/routes.ts"
import { ROOT } from "../architecture/source-files.ts"
import { testApp } from "../support/app.ts"
import { QUAINT_PHRASES } from "./quaint-phrases.ts"
import { sentenceLengths, sentencesIn } from "./sentences.ts"

/** The words that people read stand in these files: pages, mails, messages, command line, OpenAPI and the guide. */
const TEXT_FILE = /^(?!.*\b(?:README|DECISIONS)\.md$).*\.(?:tsx?|js|md)$/

/** The text of a file without comments, on one line, with joined strings as one. */
function readableText(path: string): string {
  const text = readFileSync(join(ROOT, path), "utf8")
  const spoken = path.endsWith(".md")
    ? text
    : text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|[^:"'`])\/\/.*$/gm, "$1")
  return spoken
    .replaceAll(/["`]\s*\+\s*["`]/g, "")
    .replaceAll('{" "}', " ")
    .replaceAll(/\s+/g, " ")
}

const texts = [
  "README.md",
  ...readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .filter(name => TEXT_FILE.test(name))
    .map(name => `src/${name}`),
].map(path => ({ path, text: readableText(path) }))

const phrasePattern = (phrase: string): RegExp =>
  new RegExp(`(?<![\\w-])${RegExp.escape(phrase).replaceAll("\\x20", "\\s")}(?![\\w-])`, "gi")

test.each(Object.entries(QUAINT_PHRASES))("no page, mail or message says “%s”, but “%s”", phrase => {
  const pattern = phrasePattern(phrase)
  const found = texts.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(({ index }) => `${path}: ${text.slice(Math.max(0, index - 40), index + 60)}`),
  )
  expect(found).toEqual([])
})

/** Pages whose words are the texts of others: the reference that a script draws, and licences. */
const NOT_MEASURED = new Set(["docs", "docsLicences"])

/** Words a sentence, of each page. */
const SENTENCE_MAX = { mean: 13, percentile90: 20, longest: 36 } as const

const harness = await testApp({ admins: ["owner@localhost"] })
const cookie = await harness.signIn()

/** The page at a path as an administrator sees it; null: the path has a file, or leads elsewhere. */
async function pageAt(path: string): Promise<string | null> {
  const response = await harness.app(new Request(`http://localhost${path}`, { headers: { cookie } }))
  return response.headers.get("content-type")?.startsWith("text/html") ? await response.text() : null
}

const pages = await Promise.all(
  Object.entries(ROUTES)
    .filter(([id, { kind, path }]) => kind === "page" && !path.includes(":") && !NOT_MEASURED.has(id))
    .map(async ([, { path }]) => ({ path, html: await pageAt(path) })),
).then(all => all.flatMap(({ path, html }) => (html === null ? [] : [{ path, sentences: sentencesIn(html) }])))

test("sentences are measured on more than thirty pages", () => {
  expect(pages.length).toBeGreaterThan(30)
})

test.each(pages)("the sentences of $path are short", ({ sentences }) => {
  const { mean, percentile90, longest } = sentenceLengths(sentences)
  expect(mean).toBeLessThanOrEqual(SENTENCE_MAX.mean)
  expect(percentile90).toBeLessThanOrEqual(SENTENCE_MAX.percentile90)
  expect(longest).toBeLessThanOrEqual(SENTENCE_MAX.longest)
})
