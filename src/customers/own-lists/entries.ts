import type { Pause } from "../../base/concurrency.ts"
import { isBlockerRule, namesOfLine } from "../../base/name-lines.ts"
import { hasAtMostCharacters, isSpace, trimSpace } from "../../base/text.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { OwnListFault } from "../../contract/own-lists-schema.ts"
import { isShownAs, maskAddress, normalizeNote } from "./entry-labels.ts"
import { findTableColumns, ROW_LENGTH_MAX, splitTableRow, type TableColumns } from "./entry-table.ts"

/** The scopes of an entry: one address (with a tag that address alone, without one the mailbox with all tags), a domain with its subdomains, or only its subdomains. */
export type OwnListEntryKind = "address" | "domain" | "subdomains"

/** An entry of a block or allow list. */
export type OwnListEntry = {
  readonly kind: OwnListEntryKind
  /** The domain of the entry or of its address: A-labels, lower case. */
  readonly domain: string
  /** The stored and displayed form: `acme.com`, `*.acme.com`, or `sha256:<64 hex digits>@acme.com` for an address. */
  readonly storedText: string
}

/** What an owner reads of an entry besides its stored form. */
export type EntryLabel = {
  /** The masked form of an address; null for other entries, and for an address of which only the hash is known. */
  readonly shownAs: string | null
  /** Null: the entry has none. */
  readonly note: string | null
}

/** An entry with its label. */
export type LabelledEntry = OwnListEntry & EntryLabel

/** Parses a text as an address (lower case, with its `+tag`) or a domain (A-labels); null when it is neither. */
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
 * Parses an entry: an address, a domain, `*.domain`, or a stored form. Null when the text is none. A single label is only
 * allowed as `*.label`, since it is more often a forgotten `.com` than a top-level domain. An asterisk is allowed nowhere
 * else: `*@acme.com` is a valid address, but its author means the domain.
 */
export function parseEntry(text: string, normalize: NormalizeEntry): OwnListEntry | null {
  const trimmed = trimSpace(text)
  if (HASHED_ADDRESS.test(trimmed)) return parseHashedAddress(trimmed, normalize)
  if (trimmed.startsWith(SUBDOMAINS_PREFIX)) return parseSubdomains(trimmed.slice(SUBDOMAINS_PREFIX.length), normalize)
  const named = trimmed.includes("*") ? null : normalize(trimmed)
  if (named?.kind === "address") {
    const { normalized, domain } = named
    return { kind: "address", domain, storedText: hashedAddress(normalized, domain) }
  }
  return named === null || !named.domain.includes(".") ? null : parseStoredEntry(named.domain)
}

/** Parses an entry as `parseEntry` does, with the masked form of an address. */
export function parseLabelledEntry(text: string, normalize: NormalizeEntry, note: string | null): LabelledEntry | null {
  const entry = parseEntry(text, normalize)
  if (entry === null) return null
  const named = entry.kind === "address" ? normalize(text) : null
  return { ...entry, shownAs: named?.kind === "address" ? maskAddress(named.normalized, named.domain) : null, note }
}

/** Parses a stored form. */
export function parseStoredEntry(storedText: string): OwnListEntry {
  if (storedText.startsWith(SUBDOMAINS_PREFIX))
    return { kind: "subdomains", domain: storedText.slice(SUBDOMAINS_PREFIX.length), storedText }
  if (storedText.startsWith(HASH_PREFIX))
    return { kind: "address", domain: storedText.slice(storedText.indexOf("@") + 1), storedText }
  return { kind: "domain", domain: storedText, storedText }
}

/** The stored form of an address at `domain`: its SHA-256, since no address may be stored, and its domain in plain text. */
export function hashedAddress(normalized: string, domain: string): string {
  return `${HASH_PREFIX}${Bun.SHA256.hash(normalized, "hex")}@${domain}`
}

/** No address has this form: a `:` is only allowed in a quoted local part. */
function parseHashedAddress(text: string, normalize: NormalizeEntry): OwnListEntry | null {
  const entry = parseStoredEntry(text)
  const named = normalize(entry.domain)
  return named?.kind === "domain" && named.domain === entry.domain ? entry : null
}

function parseSubdomains(name: string, normalize: NormalizeEntry): OwnListEntry | null {
  // White space around a text is ignored, inside it is a mistake.
  const named = trimSpace(name) === name ? normalize(name) : null
  return named?.kind === "domain" ? parseStoredEntry(SUBDOMAINS_PREFIX + named.domain) : null
}

/**
 * How entries are separated: pasted text has any number per line, a table one in the first cell of each row. Its header may name
 * the columns of the note and of the masked form (`entry-table.ts`).
 */
export type EntryTextFormat = "pasted" | "table"

/** A text that is no entry, and its line. */
export type InvalidEntry = {
  /** Counted from 1. */
  readonly line: number
  /** The text on one line, shortened and without invisible characters. */
  readonly excerpt: string
  /** The entry is right, but its note is longer than `LIMITS.ownListNoteLengthMax`. */
  readonly isNote?: true
}

/** The result of parsing a text with entries. */
export type ParsedEntries =
  /** Everything was parsed. `entries` may contain duplicates. */
  | { readonly kind: "read"; readonly entries: readonly LabelledEntry[] }
  /** Some texts are no entries: `faults` are the first of them, `faultCount` is their number. */
  | { readonly kind: "faulty"; readonly faults: readonly InvalidEntry[]; readonly faultCount: number }
  /** The text has more than `LIMITS.ownListEntriesMax` entries or `LINES_MAX` lines; it was not read to its end. */
  | { readonly kind: "too_many" }

/** No entry is longer: a stored form has up to 325 characters. */
const ENTRY_LENGTH_MAX = 1024
const EXCERPT_LENGTH_MAX = 80

/** Lines, or pieces of a line, that are read, blank ones and comments included: 4 MB of commas take 2 s. */
export const LINES_MAX = 100_000

/**
 * Parses the entries of a text: one per line, in pasted text also several separated by commas or semicolons. Blank lines, a
 * byte order mark, comments (`# …`) and a header row are skipped. Returns at most `faultsMax` faults. Parsing a long text takes
 * up to half a second, so `pause` is called after each entry, and wherever `CHARS_PER_STEP` characters were read.
 */
export async function parseEntries(
  text: string,
  form: EntryTextFormat,
  normalize: NormalizeEntry,
  faultsMax: number,
  pause: Pause,
): Promise<ParsedEntries> {
  const entries: LabelledEntry[] = []
  const faults: InvalidEntry[] = []
  let [textCount, faultCount] = [0, 0]
  for (const written of writtenEntries(text, form)) {
    if (written === null) {
      await pause()
      continue
    }
    if (written.line > LINES_MAX || ++textCount > LIMITS.ownListEntriesMax) return { kind: "too_many" }
    const entry = readEntry(written, normalize)
    if ("storedText" in entry) entries.push(entry)
    else if (++faultCount <= faultsMax) faults.push(entry)
    await pause()
  }
  return faultCount === 0 ? { kind: "read", entries } : { kind: "faulty", faults, faultCount }
}

function readEntry({ line, written, note = "", shownAs = "" }: WrittenEntry, normalize: NormalizeEntry) {
  const entry = parseNotedEntry(written, note, normalize)
  if (entry === "not_an_entry") return { line, excerpt: excerptOf(written) }
  if (entry === "note_too_long") return { line, excerpt: excerptOf(note), isNote: true } as const
  return { ...entry, shownAs: entry.shownAs ?? shownFrom(shownAs, entry) }
}

/** Parses an entry with the note that was written for it, or says what is wrong with it. */
export function parseNotedEntry(
  written: string,
  note: string,
  normalize: NormalizeEntry,
): LabelledEntry | OwnListFault {
  const entry = written.length > ENTRY_LENGTH_MAX ? null : parseLabelledEntry(written, normalize, null)
  if (entry === null) return "not_an_entry"
  if (!hasAtMostCharacters(note, LIMITS.ownListNoteLengthMax)) return "note_too_long"
  return { ...entry, note: normalizeNote(note) }
}

/** The masked form that a file gives to a hash, if it is one. */
const shownFrom = (shownAs: string, { kind, domain }: OwnListEntry): string | null =>
  kind === "address" && isShownAs(shownAs, domain) ? shownAs : null

type WrittenEntry = {
  readonly line: number
  readonly written: string
  readonly note?: string
  readonly shownAs?: string
}

/**
 * The texts that may be entries, with their lines; null: some of the text was read. In a text that is too long, the last one
 * has a line beyond `LINES_MAX`. Each character is read a few times, whatever stands around it.
 */
function* writtenEntries(text: string, form: EntryTextFormat): Generator<WrittenEntry | null> {
  let count = 0
  for (const piece of form === "table" ? tableRows(text) : pastedPieces(text)) {
    if (piece !== null && ++count > LINES_MAX) return yield { line: LINES_MAX + 1, written: "" }
    if (piece === null || piece.written !== "") yield piece
    else if (count % PIECES_PER_STEP === 0) yield null
  }
}

function* pastedPieces(text: string): Generator<WrittenEntry | null> {
  for (const line of textLines(text)) {
    const rule = line === null ? null : blockerRule(text, line)
    if (line === null) yield null
    else if (rule !== null) yield* namesOfPiece(rule, line.number)
    else for (const piece of linePieces(text, line)) yield* piece === null ? [null] : namesOfPiece(piece, line.number)
  }
}

/** A line that is a rule or a remark of an ad blocker, whose commas separate no entries; null: it is another one. */
function blockerRule(text: string, { start, end }: TextLine): string | null {
  const beginning = trimSpace(text.slice(start, Math.min(end, start + ENTRY_LENGTH_MAX)))
  return isBlockerRule(beginning) || beginning.startsWith("! ") ? beginning : null
}

/** The names that a piece of a line is written for, else the piece itself. */
const namesOfPiece = (piece: string, line: number): readonly WrittenEntry[] =>
  namesOf(piece).map(written => ({ line, written }))

/** The names of a text that is no longer than an entry, such as a line of a hosts file, else the text itself; one that is empty stands for none. */
function namesOf(text: string): readonly string[] {
  // A remark begins a line, not a piece of one.
  const names = text.length > ENTRY_LENGTH_MAX || text.startsWith("#") ? null : namesOfLine(text)
  return names === null ? [text] : names.length === 0 ? [""] : names
}

/** The rows of a table. Its first row may be a header. Nothing is written in a row that is skipped. */
function* tableRows(text: string): Generator<WrittenEntry | null> {
  let columns: TableColumns | null = null
  for (const line of textLines(text)) {
    const row = line === null ? "" : text.slice(line.start, Math.min(line.end, line.start + ROW_LENGTH_MAX))
    const isSkipped = row.trim() === "" || row.trimStart().startsWith("#")
    const isFirst = columns === null && !isSkipped
    if (isFirst) columns = findTableColumns(row)
    if (line === null) yield null
    else if (columns === null || isSkipped || (isFirst && columns.isHeader)) yield { line: line.number, written: "" }
    else yield* rowEntries(row, columns, line.number)
  }
}

function rowEntries(row: string, columns: TableColumns, line: number): readonly WrittenEntry[] {
  const { written, ...labels } = splitTableRow(row, columns)
  return namesOf(written).map(name => ({ line, ...labels, written: name }))
}

/** So many characters, or pieces without any, are read before other work may have its turn. They take a few tenths of a millisecond. */
const CHARS_PER_STEP = 16_384
const PIECES_PER_STEP = 256

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const HASH = 0x23
const COMMA = 0x2c
const SEMICOLON = 0x3b
const LINE_ENDS: readonly number[] = [LINE_FEED, CARRIAGE_RETURN, 0x2028, 0x2029]
const BYTE_ORDER_MARK = "\uFEFF"

type TextLine = { readonly number: number; readonly start: number; readonly end: number }

/** The lines of a text. The one after the last line end counts, even if it is empty. */
function* textLines(text: string): Generator<TextLine | null> {
  let start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  let number = 1
  for (let at = start; at <= text.length; at++) {
    if ((at + 1) % CHARS_PER_STEP === 0) yield null
    if (at < text.length && !LINE_ENDS.includes(text.charCodeAt(at))) continue
    yield { number, start, end: at }
    if (text.startsWith("\r\n", at)) at++
    start = at + 1
    number++
  }
}

/**
 * The pieces of a line of pasted text, between commas and semicolons, without white space around them and without a comment, which
 * begins with its sign at the beginning of the line or after white space.
 */
function* linePieces(text: string, line: TextLine): Generator<string | null> {
  let [start, end] = [line.start, line.start]
  let wasBlank = true
  for (let at = line.start; at < line.end; at++) {
    if ((at + 1) % CHARS_PER_STEP === 0) yield null
    const unit = text.charCodeAt(at)
    if (unit === HASH && wasBlank) break
    wasBlank = isSpace(unit)
    if (wasBlank) continue
    if (unit === COMMA || unit === SEMICOLON) {
      yield text.slice(start, end)
      start = end = at + 1
    } else {
      if (start === end) start = at
      end = at + 1
    }
  }
  yield text.slice(start, end)
}

/** Replaces invisible characters and those that change the text direction by U+FFFD. */
function excerptOf(written: string): string {
  const cut = [...written.slice(0, EXCERPT_LENGTH_MAX * 2)].slice(0, EXCERPT_LENGTH_MAX).join("")
  return cut.replace(/\p{C}/gu, "\uFFFD") + (cut.length < written.length ? "…" : "")
}
