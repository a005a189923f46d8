import { LIMITS } from "../../contract/limits.ts"
import { type Entry, type Normalize, parseEntry } from "./own-list-entry.ts"

/** How entries are parted: pasted text has any number a line, a table one in the first cell of each. */
export type LineForm = "pasted" | "table"

/** A text that is no entry, and where it stands. */
export type LineFault = {
  /** From 1. */
  readonly line: number
  /** The text in one line, cut and without what cannot be seen. */
  readonly shown: string
}

/** What a text with entries holds. */
export type EntryLines =
  /** All of it could be read. `entries` may name one thing several times. */
  | { readonly kind: "read"; readonly entries: readonly Entry[] }
  /** Some of it could not: `faults` are the first of them, `faultCount` is how many there are. */
  | { readonly kind: "faulty"; readonly faults: readonly LineFault[]; readonly faultCount: number }
  /** More than `LIMITS.ownListEntriesMax` texts, or `LINES_MAX` lines, stand there; not all was looked at. */
  | { readonly kind: "too_many" }

/** No entry is longer: a kept form has 325 characters, an address or a domain with its white space hardly as many. */
const ENTRY_LENGTH_MAX = 1024
const SHOWN_MAX = 80

/** How many lines, or pieces of a line, are looked at, blank ones and comments among them: 4 MB of commas take 2 s. */
export const LINES_MAX = 100_000

const LINE_END = /\r\n|[\r\n\u2028\u2029]/
/** What begins a line with it, or follows white space, is a comment: an address may have the sign, but not after a space. */
const COMMENT = /(?:^|\s)#.*$/s
const PASTED_SEPARATOR = /[,;]/
/** The first cell of a line, quoted by RFC 4180 or bare; delimiters are those that spreadsheets write. */
const FIRST_CELL = /^\s*(?:"((?:[^"]|"")*)"|([^,;\t]*))/
/** A line that names the columns: words, of which none could be an address or a domain. */
const HEADING = /^[\p{L}\p{N} _-]+$/u

/**
 * Reads the entries of a text: one a line, in pasted text also several between commas or semicolons. Blank lines, a byte
 * order mark, comments (`# …`) and the heading of a table are left out. At most `faultsMax` faults are told.
 */
export function readEntryLines(text: string, form: LineForm, normalize: Normalize, faultsMax: number): EntryLines {
  const entries: Entry[] = []
  const faults: LineFault[] = []
  let [textCount, faultCount] = [0, 0]
  for (const { line, written } of writtenIn(text, form)) {
    if (line > LINES_MAX || ++textCount > LIMITS.ownListEntriesMax) return { kind: "too_many" }
    const entry = written.length > ENTRY_LENGTH_MAX ? null : parseEntry(written, normalize)
    if (entry !== null) entries.push(entry)
    else if (++faultCount <= faultsMax) faults.push({ line, shown: shownText(written) })
  }
  return faultCount === 0 ? { kind: "read", entries } : { kind: "faulty", faults, faultCount }
}

type Written = { readonly line: number; readonly written: string }

/** What is written in a text, with its line. When there is too much of it, a line beyond `LINES_MAX` is the last. */
function* writtenIn(text: string, form: LineForm): Generator<Written> {
  const lines = text.replace(/^\uFEFF/, "").split(LINE_END, LINES_MAX + 1)
  let pieceCount = 0
  let isFirst = true
  for (const [at, whole] of lines.entries()) {
    const pieces: readonly string[] = form === "pasted" ? piecesOf(whole) : cellsOf(whole, isFirst)
    pieceCount += Math.max(pieces.length, 1)
    if (pieceCount > LINES_MAX) return yield { line: LINES_MAX + 1, written: "" }
    for (const piece of pieces) {
      const written = piece.trim()
      if (written !== "") yield { line: at + 1, written }
    }
    isFirst &&= pieces.length === 0
  }
}

const isComment = (line: string): boolean => line.trimStart().startsWith("#")

const piecesOf = (line: string): readonly string[] =>
  line === "" || isComment(line) ? [] : line.replace(COMMENT, "").split(PASTED_SEPARATOR, LINES_MAX + 1)

/** The first cell of a line, if there is anything in it; `isFirst`: it may be a heading, which is left out. */
function cellsOf(line: string, isFirst: boolean): readonly string[] {
  if (line.trim() === "" || isComment(line)) return []
  // A longer cell is no entry, however it goes on.
  const [, quoted, bare = ""] = FIRST_CELL.exec(line.slice(0, ENTRY_LENGTH_MAX * 4)) ?? []
  const cell = quoted === undefined ? bare : quoted.replaceAll('""', '"')
  return isFirst && HEADING.test(cell.trim()) ? [""] : [cell]
}

/** What is unseen, or turns the direction of the text around it, is shown as U+FFFD. */
function shownText(written: string): string {
  const cut = [...written.slice(0, SHOWN_MAX * 2)].slice(0, SHOWN_MAX).join("")
  return cut.replace(/\p{C}/gu, "\uFFFD") + (cut.length < written.length ? "…" : "")
}
