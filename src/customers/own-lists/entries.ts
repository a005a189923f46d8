import { LIMITS } from "../../contract/limits.ts"

/** What an owner can put on a list: an address, a domain with all that is below it, or only what is below a domain. */
export type OwnListEntryKind = "address" | "domain" | "subdomains"

/** An entry of a block or allow list. */
export type OwnListEntry = {
  readonly kind: OwnListEntryKind
  /** The domain that it names, or that its address stands at: A-labels, lower case. */
  readonly domain: string
  /** The text in which it is stored and shown: `acme.com`, `*.acme.com`, or `sha256:<64 hex digits>@acme.com` for an address. */
  readonly storedText: string
}

/** What a text names: an address in lower case without its `+tag`, or a domain as A-labels; null when it is neither. */
type NormalizeEntry = (
  text: string,
) =>
  | { readonly kind: "address"; readonly normalized: string; readonly domain: string }
  | { readonly kind: "domain"; readonly domain: string }
  | null

const SUBDOMAINS_PREFIX = "*."
const HASH_PREFIX = "sha256:"
const HASHED_ADDRESS = /^sha256:[0-9a-f]{64}@/

/**
 * The entry that a text means: an address, a domain, `*.domain`, or a kept form. Null when it means none. A name of one
 * label is taken only as `*.label`: a whole top level is seldom meant, a forgotten `.com` often. And an asterisk stands
 * nowhere else: `*@acme.com` could be an address, but who writes it means the domain.
 */
export function parseEntry(text: string, normalize: NormalizeEntry): OwnListEntry | null {
  const trimmed = text.trim()
  if (HASHED_ADDRESS.test(trimmed)) return parseHashedAddress(trimmed, normalize)
  if (trimmed.startsWith(SUBDOMAINS_PREFIX)) return parseSubdomains(trimmed.slice(SUBDOMAINS_PREFIX.length), normalize)
  const named = trimmed.includes("*") ? null : normalize(trimmed)
  if (named?.kind === "address") {
    const { normalized, domain } = named
    return { kind: "address", domain, storedText: hashedAddress(normalized, domain) }
  }
  return named === null || !named.domain.includes(".") ? null : parseStoredEntry(named.domain)
}

/** The entry of a kept form that this file wrote. */
export function parseStoredEntry(storedText: string): OwnListEntry {
  if (storedText.startsWith(SUBDOMAINS_PREFIX))
    return { kind: "subdomains", domain: storedText.slice(SUBDOMAINS_PREFIX.length), storedText }
  if (storedText.startsWith(HASH_PREFIX))
    return { kind: "address", domain: storedText.slice(storedText.indexOf("@") + 1), storedText }
  return { kind: "domain", domain: storedText, storedText }
}

/** The kept form of an address at `domain`: its SHA-256, since no address may be stored, and its domain in the clear. */
export function hashedAddress(normalized: string, domain: string): string {
  return `${HASH_PREFIX}${Bun.SHA256.hash(normalized, "hex")}@${domain}`
}

/** No address reads like this: a `:` stands in quotes there. */
function parseHashedAddress(text: string, normalize: NormalizeEntry): OwnListEntry | null {
  const entry = parseStoredEntry(text)
  const named = normalize(entry.domain)
  return named?.kind === "domain" && named.domain === entry.domain ? entry : null
}

function parseSubdomains(name: string, normalize: NormalizeEntry): OwnListEntry | null {
  // White space around a whole text is nobody's, inside of one it is a mistake.
  const named = name.trimStart() === name ? normalize(name) : null
  return named?.kind === "domain" ? parseStoredEntry(SUBDOMAINS_PREFIX + named.domain) : null
}

/** How entries are parted: pasted text has any number a line, a table one in the first cell of each. */
export type EntryTextFormat = "pasted" | "table"

/** A text that is no entry, and where it stands. */
export type InvalidEntry = {
  /** From 1. */
  readonly line: number
  /** The text in one line, cut and without what cannot be seen. */
  readonly excerpt: string
}

/** What a text with entries holds. */
export type ParsedEntries =
  /** All of it could be read. `entries` may name one thing several times. */
  | { readonly kind: "read"; readonly entries: readonly OwnListEntry[] }
  /** Some of it could not: `faults` are the first of them, `faultCount` is how many there are. */
  | { readonly kind: "faulty"; readonly faults: readonly InvalidEntry[]; readonly faultCount: number }
  /** More than `LIMITS.ownListEntriesMax` texts, or `LINES_MAX` lines, stand there; not all was looked at. */
  | { readonly kind: "too_many" }

/** No entry is longer: a kept form has 325 characters, an address or a domain with its white space hardly as many. */
const ENTRY_LENGTH_MAX = 1024
const EXCERPT_LENGTH_MAX = 80

/** How many lines, or pieces of a line, are looked at, blank ones and comments among them: 4 MB of commas take 2 s. */
export const LINES_MAX = 100_000

const LINE_END = /\r\n|[\r\n\u2028\u2029]/
/** What begins a line with it, or follows white space, is a comment: an address may have the sign, but not after a space. */
const LINE_COMMENT = /(?:^|\s)#.*$/s
const PASTED_SEPARATOR = /[,;]/
/** The first cell of a line, quoted by RFC 4180 or bare; delimiters are those that spreadsheets write. */
const FIRST_CELL = /^\s*(?:"((?:[^"]|"")*)"|([^,;\t]*))/
/** A line that names the columns: words, of which none could be an address or a domain. */
const HEADING = /^[\p{L}\p{N} _-]+$/u

/**
 * Reads the entries of a text: one a line, in pasted text also several between commas or semicolons. Blank lines, a byte
 * order mark, comments (`# …`) and the heading of a table are left out. At most `faultsMax` faults are told.
 */
export function parseEntries(
  text: string,
  form: EntryTextFormat,
  normalize: NormalizeEntry,
  faultsMax: number,
): ParsedEntries {
  const entries: OwnListEntry[] = []
  const faults: InvalidEntry[] = []
  let [textCount, faultCount] = [0, 0]
  for (const { line, written } of writtenEntries(text, form)) {
    if (line > LINES_MAX || ++textCount > LIMITS.ownListEntriesMax) return { kind: "too_many" }
    const entry = written.length > ENTRY_LENGTH_MAX ? null : parseEntry(written, normalize)
    if (entry !== null) entries.push(entry)
    else if (++faultCount <= faultsMax) faults.push({ line, excerpt: excerptOf(written) })
  }
  return faultCount === 0 ? { kind: "read", entries } : { kind: "faulty", faults, faultCount }
}

type WrittenEntry = { readonly line: number; readonly written: string }

/** What is written in a text, with its line. When there is too much of it, a line beyond `LINES_MAX` is the last. */
function* writtenEntries(text: string, form: EntryTextFormat): Generator<WrittenEntry> {
  const lines = text.replace(/^\uFEFF/, "").split(LINE_END, LINES_MAX + 1)
  let pieceCount = 0
  let isFirst = true
  for (const [at, whole] of lines.entries()) {
    const pieces: readonly string[] = form === "pasted" ? splitPastedLine(whole) : firstCell(whole, isFirst)
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

const splitPastedLine = (line: string): readonly string[] =>
  line === "" || isComment(line) ? [] : line.replace(LINE_COMMENT, "").split(PASTED_SEPARATOR, LINES_MAX + 1)

/** The first cell of a line, if there is anything in it; `isFirst`: it may be a heading, which is left out. */
function firstCell(line: string, isFirst: boolean): readonly string[] {
  if (line.trim() === "" || isComment(line)) return []
  // A longer cell is no entry, however it goes on.
  const [, quoted, bare = ""] = FIRST_CELL.exec(line.slice(0, ENTRY_LENGTH_MAX * 4)) ?? []
  const cell = quoted === undefined ? bare : quoted.replaceAll('""', '"')
  return isFirst && HEADING.test(cell.trim()) ? [""] : [cell]
}

/** What is unseen, or turns the direction of the text around it, is shown as U+FFFD. */
function excerptOf(written: string): string {
  const cut = [...written.slice(0, EXCERPT_LENGTH_MAX * 2)].slice(0, EXCERPT_LENGTH_MAX).join("")
  return cut.replace(/\p{C}/gu, "\uFFFD") + (cut.length < written.length ? "…" : "")
}
