import { parseJson } from "../../../base/text.ts"
import type { SourceFormat } from "./catalogue.ts"

/** Reads what stands at `path`; `at` is the catalogue's. It throws only what the shelf throws. */
type FormatReader = (shelf: SourceFiles, path: string, at: string) => ReadEntriesResult

/** The reader of each format. All of them read text; nothing of a package is run. */
export const FORMAT_READERS: { readonly [F in SourceFormat]: FormatReader } = {
  curated: (shelf, path) => readCurated(shelf.read(path)),
  lines: (shelf, path) => readLines(shelf.read(path)),
  json: (shelf, path, at) => readJson(shelf.read(path), at),
  script_json: (shelf, path, at) => readJsModuleJson(shelf.read(path), at),
  script_text: (shelf, path, at) => readJsStringLines(shelf.read(path), at),
  script_words: (shelf, path) => readJsWordArrays(shelf.read(path)),
  csv: (shelf, path, at) => readCsvColumn(shelf.read(path), at),
  tree: (shelf, path) => readDomainTree(shelf.list(path)),
}

/** What the reader of a format found: raw entries, or why the text is not of that format. */
export type ReadEntriesResult =
  | {
      readonly kind: "entries"
      readonly entries: readonly string[]
      /** Entries of the wrong shape, which have no name to report. */
      readonly malformedCount: number
      /** What a curated file says about itself. */
      readonly header?: CuratedHeader
    }
  | { readonly kind: "refused"; readonly message: string }

/** The header of a curated file. */
export type CuratedHeader = {
  readonly set: string
  readonly says: string
  readonly origin: string
  readonly licence: string
  readonly date: string
}

/** Where sources stand: repository-relative paths in, contents out. Both throw when there is nothing. */
export type SourceFiles = {
  /** The text of one file (UTF-8). */
  readonly read: (path: string) => string
  /** The paths of all files below a folder, relative to it, with `/`, in any order. */
  readonly list: (folder: string) => readonly string[]
}

/**
 * Reads one column of a CSV text (RFC 4180). `column` is the name in the first row, or a number from 1 for a text
 * without such a row. A row too short to have the column is misshapen.
 */
export function readCsvColumn(text: string, column: string): ReadEntriesResult {
  const rows = parseCsv(text.startsWith("\uFEFF") ? text.slice(1) : text)
  const isNumbered = /^[1-9]\d*$/.test(column)
  const at = isNumbered ? Number(column) - 1 : (rows[0] ?? []).indexOf(column)
  if (at < 0) return { kind: "refused", message: `no column ${column}` }
  const cells = rows.slice(isNumbered ? 0 : 1).map(row => row[at])
  const entries = cells.filter(cell => cell !== undefined && cell !== "")
  return { kind: "entries", entries: entries as string[], malformedCount: cells.length - entries.length }
}

const CSV_CELL = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/gy

function parseCsv(text: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  let reached = 0
  for (const [whole, cell = "", end] of text.matchAll(CSV_CELL)) {
    reached += whole.length
    row.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end === ",") continue
    if (row.length > 1 || row[0] !== "") rows.push(row)
    row = []
    if (reached >= text.length) break
  }
  return rows
}

/** Reads one entry a line. Empty lines and lines that start with `#` are not entries; a note after ` #` is dropped. */
export function readLines(text: string): ReadEntriesResult {
  const entries: string[] = []
  for (const line of text.split("\n")) {
    const entry = line.split(/\s#/, 1)[0]?.trim() ?? ""
    if (entry !== "" && !entry.startsWith("#")) entries.push(entry)
  }
  return { kind: "entries", entries, malformedCount: 0 }
}

const HEADER_LINE = /^# ([a-z]+): (\S.*)$/
const HEADER_KEYS = ["set", "says", "origin", "licence", "date"] as const satisfies readonly (keyof CuratedHeader)[]

/**
 * Reads a curated file: header lines `# key: value` at the top, one for each member of `Header`, then sorted entries
 * (code unit order), one a line, each once, with an optional ` # note`.
 */
export function readCurated(text: string): ReadEntriesResult {
  const header = parseHeader(text)
  const missing = HEADER_KEYS.filter(key => header[key] === undefined)
  if (missing.length > 0) return refused(`the header has no ${missing.join(", ")}`)
  const { set = "", says = "", origin = "", licence = "", date = "" } = header
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return refused(`the date ${date} is no day`)
  const read = readLines(text)
  if (read.kind === "refused") return read
  const { entries } = read
  const disorder = entries.findIndex((entry, at) => at > 0 && (entries[at - 1] ?? "") >= entry)
  if (disorder > 0) return refused(`"${entries[disorder]}" does not sort after "${entries[disorder - 1]}"`)
  return { kind: "entries", entries, malformedCount: 0, header: { set, says, origin, licence, date } }
}

const refused = (message: string): ReadEntriesResult => ({ kind: "refused", message })

function parseHeader(text: string): Partial<Record<keyof CuratedHeader, string>> {
  const header: Partial<Record<keyof CuratedHeader, string>> = {}
  for (const line of text.split("\n")) {
    const [, key, value] = HEADER_LINE.exec(line.trimEnd()) ?? []
    const known = HEADER_KEYS.find(name => name === key)
    if (!line.startsWith("#")) break
    if (known !== undefined && value !== undefined) header[known] = value
  }
  return header
}

/**
 * Reads the strings that a path leads to in a JSON text. The path's steps are parted by `.`: a member's name; `name?`,
 * a member that may be absent; `*`, every element or member; `@keys`, every member's name; `name=value`, go on only
 * where that member is that string. A value of another shape than the path says is misshapen.
 */
export function readJson(text: string, path: string): ReadEntriesResult {
  const root = parseJson(text)
  if (root === undefined) return { kind: "refused", message: "not JSON" }
  const entries: string[] = []
  let malformedCount = 0
  for (const found of path.split(".").reduce<readonly unknown[]>(followStep, [root])) {
    if (typeof found === "string") entries.push(found)
    else malformedCount++
  }
  return { kind: "entries", entries, malformedCount }
}

/** Stands for a value that is not there; it ends up misshapen. */
const ABSENT = Symbol("nothing")

function followStep(values: readonly unknown[], step: string): readonly unknown[] {
  return values.flatMap(value => (typeof value === "object" && value !== null ? stepInto(value, step) : [ABSENT]))
}

function stepInto(value: object, step: string): readonly unknown[] {
  if (step === "*") return Object.values(value)
  if (step === "@keys") return Array.isArray(value) ? [ABSENT] : Object.keys(value)
  const members = new Map<string, unknown>(Object.entries(value))
  const [name = "", wanted] = step.split("=", 2)
  if (wanted !== undefined) return members.get(name) === wanted ? [value] : []
  const mayBeAbsent = name.endsWith("?")
  const member = members.get(mayBeAbsent ? name.slice(0, -1) : name)
  if (member !== undefined) return [member]
  return mayBeAbsent ? [] : [ABSENT]
}

const EXPORTED_JSON = /^\s*module\.exports\s*=\s*([[{][\s\S]*[\]}])\s*;?\s*$/
const WORD_LINE = /^\s+'((?:[^'\\]|\\.)*)',?$/

/** Reads a script that is `module.exports = ` and a JSON value, as JSON; `path` as in read-json.ts. */
export function readJsModuleJson(text: string, path: string): ReadEntriesResult {
  const json = EXPORTED_JSON.exec(text)?.[1]
  return json === undefined ? refuseScript("no `module.exports = ` with a JSON value") : readJson(json, path)
}

/** Reads the lines of the text that a script holds as `var {variable} = "…"`, a string literal that is JSON too. */
export function readJsStringLines(text: string, variable: string): ReadEntriesResult {
  const opening = `var ${variable} = "`
  const starts = text.indexOf(opening) + opening.length - 1
  if (starts < opening.length - 1) return refuseScript(`no variable ${variable} with a string`)
  const ends = text.indexOf("\n", starts)
  const literal = text.slice(starts, ends < 0 ? text.length : ends).replace(/;\s*$/, "")
  try {
    const held: unknown = JSON.parse(literal)
    return typeof held === "string" ? readLines(held) : refuseScript(`${variable} is no string`)
  } catch (notJson) {
    return refuseScript(`the string of ${variable}: ${String(notJson)}`)
  }
}

/** Reads the words of a script's arrays that stand one a line in single quotes; the same word may stand in several. */
export function readJsWordArrays(text: string): ReadEntriesResult {
  const entries = text.split("\n").flatMap(line => WORD_LINE.exec(line)?.[1] ?? [])
  return entries.length === 0
    ? refuseScript("no line is a word in single quotes")
    : { kind: "entries", entries, malformedCount: 0 }
}

const refuseScript = (message: string): ReadEntriesResult => ({ kind: "refused", message })

/**
 * Reads names out of a tree of files in which `uk/ac/ox.txt` stands for `ox.ac.uk`. A file without the ending is
 * misshapen; the files at the top are lists about the tree and not part of it.
 */
export function readDomainTree(paths: readonly string[]): ReadEntriesResult {
  const below = paths.filter(path => path.includes("/"))
  const named = below.filter(path => path.endsWith(".txt"))
  const entries = named.map(path => path.slice(0, -".txt".length).split("/").reverse().join("."))
  return { kind: "entries", entries: entries.sort(), malformedCount: below.length - named.length }
}
