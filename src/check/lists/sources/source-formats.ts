import { namesOfLine } from "../../../base/name-lines.ts"
import { parseJson } from "../../../base/text.ts"
import type { SourceFormat } from "./catalogue.ts"
import { normalizeName } from "./normalized-name.ts"

/** Reads the source at `path`; `at` is the member of the catalogue. It throws only what `files` throws. */
type FormatReader = (files: SourceFiles, path: string, at: string) => ReadEntriesResult

/** The reader of each format. All of them parse text; code of a package is never run. */
export const FORMAT_READERS: { readonly [F in SourceFormat]: FormatReader } = {
  curated: (files, path) => readCurated(files.read(path)),
  lines: (files, path) => readLines(files.read(path)),
  names: (files, path) => readNames(files.read(path)),
  json: (files, path, at) => readJson(files.read(path), at),
  script_json: (files, path, at) => readJsModuleJson(files.read(path), at),
  script_text: (files, path, at) => readJsStringLines(files.read(path), at),
  script_words: (files, path) => readJsWordArrays(files.read(path)),
  csv: (files, path, at) => readCsvColumn(files.read(path), at),
  tree: (files, path) => readDomainTree(files.list(path)),
}

/** The raw entries of a text, or why it is not of the format. */
export type ReadEntriesResult =
  | {
      readonly kind: "entries"
      readonly entries: readonly string[]
      /** The number of malformed entries, which have no name to report. */
      readonly malformedCount: number
      /** The first line with a malformed entry, counted from 1; absent: there is none, or it is not known. */
      readonly firstMalformedLine?: number
      /** The header of a curated file. */
      readonly header?: CuratedHeader
    }
  | { readonly kind: "refused"; readonly message: string }

/** The header of a curated file; the members are the keys of its lines. */
export type CuratedHeader = {
  readonly set: string
  readonly says: string
  readonly origin: string
  readonly licence: string
  readonly date: string
}

/** Read access to source files by paths relative to the repository. Both functions throw if there is nothing at the path. */
export type SourceFiles = {
  /** The text of one file (UTF-8). */
  readonly read: (path: string) => string
  /** The paths of all files below a folder, relative to it, separated by `/`, in any order. */
  readonly list: (folder: string) => readonly string[]
}

/**
 * Reads one column of a CSV text (RFC 4180). The column is a name in the header row, or a number from 1 for a text without
 * a header row. `column!=value.` before it leaves out the rows that have the value in another column. A row without the column
 * is malformed.
 */
export function readCsvColumn(text: string, at: string): ReadEntriesResult {
  const rows = parseCsv(text.startsWith("\uFEFF") ? text.slice(1) : text)
  const steps = at.split(".")
  const column = steps.pop() ?? ""
  const isNumbered = /^[1-9]\d*$/.test(column)
  const indexOf = (name: string): number => (isNumbered ? Number(name) - 1 : (rows[0] ?? []).indexOf(name))
  const unwanted = steps.map(step => step.split("!=", 2)).map(([name = "", value = ""]) => ({ name, value }))
  const missing = [column, ...unwanted.map(({ name }) => name)].find(name => indexOf(name) < 0)
  if (missing !== undefined) return refused(`no column ${missing}`)
  const index = indexOf(column)
  const cells = rows
    .slice(isNumbered ? 0 : 1)
    .filter(row => unwanted.every(({ name, value }) => row[indexOf(name)] !== value))
    .map(row => row[index])
  const entries = cells.filter(cell => cell !== undefined && cell !== "")
  return { kind: "entries", entries: entries as string[], malformedCount: cells.length - entries.length }
}

const CSV_CELL = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/gy

function parseCsv(text: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  let position = 0
  for (const [match, cell = "", end] of text.matchAll(CSV_CELL)) {
    position += match.length
    row.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end === ",") continue
    if (row.length > 1 || row[0] !== "") rows.push(row)
    row = []
    if (position >= text.length) break
  }
  return rows
}

/** Reads one entry per line. Empty lines and lines that start with `#` are skipped; a comment after ` #` is dropped. */
export function readLines(text: string): ReadEntriesResult {
  const entries: string[] = []
  for (const line of text.split("\n")) {
    const entry = line.split(/\s#/, 1)[0]?.trim() ?? ""
    if (entry !== "" && !entry.startsWith("#")) entries.push(entry)
  }
  return { kind: "entries", entries, malformedCount: 0 }
}

/** The line ends of all systems, since people write such a list by hand. */
const LINE_END = /\r\n|[\r\n]/

/**
 * Reads the names of a list that an operator keeps, one on each line, also as `*.name`, in a hosts file, or as rules of an ad blocker: `namesOfLine` says
 * which. A line with anything else is malformed.
 */
export function readNames(text: string): ReadEntriesResult {
  const entries: string[] = []
  let [malformedCount, firstLine] = [0, 0]
  for (const [at, line] of text
    .replace(/^\uFEFF/, "")
    .split(LINE_END)
    .entries()) {
    const names = namesOfLine(line)?.map(name => name.replace(/^\*\./, ""))
    if (names?.every(name => normalizeName(name).kind === "name") === true) {
      entries.push(...names)
      continue
    }
    if (malformedCount++ === 0) firstLine = at + 1
  }
  return { kind: "entries", entries, malformedCount, ...(firstLine === 0 ? {} : { firstMalformedLine: firstLine }) }
}

const HEADER_LINE = /^# ([a-z]+): (\S.*)$/
const HEADER_KEYS = ["set", "says", "origin", "licence", "date"] as const satisfies readonly (keyof CuratedHeader)[]

/**
 * Reads a curated file: header lines `# key: value`, one for each member of `CuratedHeader`, then one entry per line,
 * sorted by code units, without duplicates, with an optional ` # comment`.
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
  const unsorted = entries.findIndex((entry, index) => index > 0 && (entries[index - 1] ?? "") >= entry)
  if (unsorted > 0) return refused(`"${entries[unsorted]}" does not sort after "${entries[unsorted - 1]}"`)
  return { kind: "entries", entries, malformedCount: 0, header: { set, says, origin, licence, date } }
}

const refused = (message: string): ReadEntriesResult => ({ kind: "refused", message })

function parseHeader(text: string): Partial<Record<keyof CuratedHeader, string>> {
  const header: Partial<Record<keyof CuratedHeader, string>> = {}
  for (const line of text.split("\n")) {
    const [, key, value] = HEADER_LINE.exec(line.trimEnd()) ?? []
    const headerKey = HEADER_KEYS.find(name => name === key)
    if (!line.startsWith("#")) break
    if (headerKey !== undefined && value !== undefined) header[headerKey] = value
  }
  return header
}

/**
 * Reads the strings that a path selects in a JSON text. The steps of the path are separated by `.`: a member's name;
 * `name?`, a member that may be absent; `*`, all elements or members; `@keys`, the names of all members; `name=value`,
 * continue only if the member has this value. A value that does not fit the path is malformed.
 */
export function readJson(text: string, path: string): ReadEntriesResult {
  const root = parseJson(text)
  if (root === undefined) return refused("not JSON")
  const entries: string[] = []
  let malformedCount = 0
  for (const value of path.split(".").reduce<readonly unknown[]>(followStep, [root])) {
    if (typeof value === "string") entries.push(value)
    else malformedCount++
  }
  return { kind: "entries", entries, malformedCount }
}

/** Replaces a value that is absent, so that it counts as malformed. */
const ABSENT = Symbol("absent")

function followStep(values: readonly unknown[], step: string): readonly unknown[] {
  return values.flatMap(value => (typeof value === "object" && value !== null ? stepInto(value, step) : [ABSENT]))
}

function stepInto(value: object, step: string): readonly unknown[] {
  if (step === "*") return Object.values(value)
  if (step === "@keys") return Array.isArray(value) ? [ABSENT] : Object.keys(value)
  const members = new Map<string, unknown>(Object.entries(value))
  const [name = "", required] = step.split("=", 2)
  if (required !== undefined) return members.get(name) === required ? [value] : []
  const mayBeAbsent = name.endsWith("?")
  const member = members.get(mayBeAbsent ? name.slice(0, -1) : name)
  if (member !== undefined) return [member]
  return mayBeAbsent ? [] : [ABSENT]
}

const EXPORTED_JSON = /^\s*module\.exports\s*=\s*([[{][\s\S]*[\]}])\s*;?\s*$/
const WORD_LINE = /^\s+'((?:[^'\\]|\\.)*)',?$/

/** Reads a script that is `module.exports = ` and a JSON value; `path` as in `readJson`. */
export function readJsModuleJson(text: string, path: string): ReadEntriesResult {
  const json = EXPORTED_JSON.exec(text)?.[1]
  return json === undefined ? refused("no `module.exports = ` with a JSON value") : readJson(json, path)
}

/** Reads the lines of the string in a script's `var {variable} = "…"`; the string literal must also be valid JSON. */
export function readJsStringLines(text: string, variable: string): ReadEntriesResult {
  const opening = `var ${variable} = "`
  const start = text.indexOf(opening) + opening.length - 1
  if (start < opening.length - 1) return refused(`no variable ${variable} with a string`)
  const end = text.indexOf("\n", start)
  const literal = text.slice(start, end < 0 ? text.length : end).replace(/;\s*$/, "")
  try {
    const value: unknown = JSON.parse(literal)
    return typeof value === "string" ? readLines(value) : refused(`${variable} is no string`)
  } catch (notJson) {
    return refused(`the string of ${variable}: ${String(notJson)}`)
  }
}

/** Reads the words of a script's arrays that are written one per line in single quotes. Words may be repeated. */
export function readJsWordArrays(text: string): ReadEntriesResult {
  const entries = text.split("\n").flatMap(line => WORD_LINE.exec(line)?.[1] ?? [])
  return entries.length === 0
    ? refused("no line is a word in single quotes")
    : { kind: "entries", entries, malformedCount: 0 }
}

/**
 * Reads names from a tree of files in which `uk/ac/ox.txt` means `ox.ac.uk`. A file with another extension is malformed.
 * Files at the top are lists about the tree and are skipped.
 */
export function readDomainTree(paths: readonly string[]): ReadEntriesResult {
  const below = paths.filter(path => path.includes("/"))
  const named = below.filter(path => path.endsWith(".txt"))
  const entries = named.map(path => path.slice(0, -".txt".length).split("/").reverse().join("."))
  return { kind: "entries", entries: entries.sort(), malformedCount: below.length - named.length }
}
