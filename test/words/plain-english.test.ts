import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Parser } from "htmlparser2"
import { ROUTES } from "../../src/contract/routes.ts"
import { ROOT } from "../architecture/source-files.ts"
import { testApp } from "../support/app.ts"
import { QUAINT_PATTERNS, QUAINT_PHRASES } from "./quaint-phrases.ts"
import { readMailsAndDescriptions, readPages, withoutCode } from "./read-texts.ts"

/** Elements that begin a new sentence. */
const BLOCKS = new Set(
  "p li dt dd td th h1 h2 h3 h4 figcaption caption summary label legend option div section tr".split(" "),
)

/** Elements whose text nobody reads as a sentence. */
const SILENT = new Set("pre script style nav svg template button select th h1 h2 h3 h4 label".split(" "))

/** A shorter text is a label. */
const WORDS_MIN = 3

/** The sentences that a person reads in the content of a page. Inline code is one word. */
function sentencesIn(html: string): readonly string[] {
  const content = /<main.*<\/main>/s.exec(html)?.[0] ?? html
  return textBlocks(content)
    .flatMap(sentencesOfText)
    .filter(sentence => wordCount(sentence) >= WORDS_MIN)
}

/** The sentences of a plain text. */
const sentencesOfText = (text: string): readonly string[] =>
  text
    .replaceAll(/\s+/g, " ")
    .trim()
    .split(/(?<=[.!?][")”’]?) (?=["“(]?[\p{Lu}\p{N}])/u)
    .filter(sentence => sentence !== "")

/** How many words a sentence has. */
const wordCount = (sentence: string): number => sentence.match(/[\p{L}\p{N}][^\s]*/gu)?.length ?? 0

/** The length of the sentences of a page, in words. */
type SentenceLengths = { readonly mean: number; readonly percentile90: number; readonly longest: number }

/** Measures sentences. A page without any has lengths of 0. */
function sentenceLengths(sentences: readonly string[]): SentenceLengths {
  const counts = sentences.map(wordCount).sort((a, b) => a - b)
  const sum = counts.reduce((total, count) => total + count, 0)
  return {
    mean: counts.length === 0 ? 0 : sum / counts.length,
    percentile90: counts[Math.max(0, Math.ceil(counts.length * 0.9) - 1)] ?? 0,
    longest: counts.at(-1) ?? 0,
  }
}

function textBlocks(html: string): readonly string[] {
  const blocks: string[] = []
  let text = ""
  let silentDepth = 0
  let codeDepth = 0
  const endBlock = () => {
    blocks.push(text)
    text = ""
  }
  const parser = new Parser({
    onopentag(name, attributes) {
      if (BLOCKS.has(name) || attributes["class"] === "line") endBlock()
      if (SILENT.has(name)) silentDepth++
      if (name === "code") {
        codeDepth++
        if (silentDepth === 0) text += "Code"
      }
    },
    ontext(part) {
      if (silentDepth === 0 && codeDepth === 0) text += part
    },
    onclosetag(name) {
      if (name === "code") codeDepth--
      if (SILENT.has(name)) silentDepth--
      if (BLOCKS.has(name)) endBlock()
    },
  })
  parser.end(html)
  return [...blocks, text]
}

/** The words that people read stand in these files: pages, mails, messages, command line, OpenAPI and the guide. */
const TEXT_FILE = /^(?!.*\b(?:README|DECISIONS)\.md$).*\.(?:tsx?|js|md|py|php|go|txt)$/

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

const readTexts = [
  ...(await readPages({ admins: ["owner@localhost"] })),
  ...readMailsAndDescriptions(),
  ...texts.filter(({ path }) => path.endsWith(".md")).map(({ path, text }) => ({ path, text: withoutCode(text) })),
]

test("what people read is taken from more than sixty pages with data", () => {
  expect(readTexts.filter(({ path }) => path.startsWith("/")).length).toBeGreaterThan(60)
  expect(readTexts.some(({ path }) => path.startsWith("/admin/feedback/"))).toBeTrue()
})

test.each(QUAINT_PATTERNS)("people read $plain and not $quaint", ({ quaint, plain, pattern }) => {
  expect(quaint).toMatch(new RegExp(pattern.source, pattern.flags))
  expect(plain).not.toMatch(new RegExp(pattern.source, pattern.flags))
  const found = readTexts.flatMap(({ path, text }) =>
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
