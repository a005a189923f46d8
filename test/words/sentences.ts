import { Parser } from "htmlparser2"

/** Elements that begin a new sentence. */
const BLOCKS = new Set(
  "p li dt dd td th h1 h2 h3 h4 figcaption caption summary label legend option div section tr".split(" "),
)

/** Elements whose text nobody reads as a sentence. */
const SILENT = new Set("pre script style nav svg template button select th h1 h2 h3 h4 label".split(" "))

/** A shorter text is a label. */
const WORDS_MIN = 3

/** The sentences that a person reads in the content of a page. Inline code is one word. */
export function sentencesIn(html: string): readonly string[] {
  const content = /<main.*<\/main>/s.exec(html)?.[0] ?? html
  return textBlocks(content)
    .flatMap(sentencesOfText)
    .filter(sentence => wordCount(sentence) >= WORDS_MIN)
}

/** The sentences of a plain text. */
export const sentencesOfText = (text: string): readonly string[] =>
  text
    .replaceAll(/\s+/g, " ")
    .trim()
    .split(/(?<=[.!?][")”’]?) (?=["“(]?[\p{Lu}\p{N}])/u)
    .filter(sentence => sentence !== "")

/** How many words a sentence has. */
export const wordCount = (sentence: string): number => sentence.match(/[\p{L}\p{N}][^\s]*/gu)?.length ?? 0

/** The length of the sentences of a page, in words. */
export type SentenceLengths = { readonly mean: number; readonly percentile90: number; readonly longest: number }

/** Measures sentences. A page without any has lengths of 0. */
export function sentenceLengths(sentences: readonly string[]): SentenceLengths {
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
