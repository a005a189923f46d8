import { withoutReturn } from "./text-rows.ts"

/** What the cells of a line come to, by RFC 4180. */
export type CellsRead =
  | { readonly kind: "whole"; readonly cells: readonly string[] }
  /** The last cell's quote is open: the record goes on in the next line. */
  | OpenCells
  /** A closing quote is followed by neither a delimiter nor the end of the line. */
  | { readonly kind: "broken" }

/** The cells before one whose quote is open, and what that one holds so far. Reading on takes `cells` over. */
export type OpenCells = { readonly kind: "open"; readonly cells: string[]; readonly cell: string }

const BROKEN = { kind: "broken" } as const

/** A quoted cell: where the text after its closing quote begins; null: its quote stays open. */
type Quoted = { readonly cell: string; readonly end: number | null }

/**
 * Reads the cells of a line, which goes on with those of `open`, if any. A quote that does not begin a cell is a character
 * like others. It takes time in proportion to the line, however many lines the record has.
 */
export function readCells(line: string, delimiter: string, open: OpenCells | null): CellsRead {
  if (open === null && !line.includes('"')) return { kind: "whole", cells: withoutReturn(line).split(delimiter) }
  const cells = open?.cells ?? []
  let next = open === null ? 0 : takeQuoted(line, 0, `${open.cell}\n`, delimiter, cells)
  while (typeof next === "number") {
    next =
      line[next] === '"' ? takeQuoted(line, next + 1, "", delimiter, cells) : takeBare(line, next, delimiter, cells)
  }
  return next
}

/** Takes a cell without quotes; gives where the next one begins, if there is one. */
function takeBare(line: string, from: number, delimiter: string, cells: string[]): number | CellsRead {
  const end = line.indexOf(delimiter, from)
  cells.push(end < 0 ? withoutReturn(line.slice(from)) : line.slice(from, end))
  return end < 0 ? { kind: "whole", cells } : end + 1
}

/** Takes a cell from behind its opening quote on, with what it had `before`; gives where the next one begins, if there is one. */
function takeQuoted(
  line: string,
  from: number,
  before: string,
  delimiter: string,
  cells: string[],
): number | CellsRead {
  const { cell, end } = quoted(line, from)
  if (end === null) return { kind: "open", cells, cell: before + cell }
  cells.push(before + cell)
  if (isEnd(line, end)) return { kind: "whole", cells }
  return line[end] === delimiter ? end + 1 : BROKEN
}

/** Reads on to the closing quote; two quotes are one within. */
function quoted(line: string, from: number): Quoted {
  let cell = ""
  let at = from
  for (let quote = line.indexOf('"', at); quote >= 0; quote = line.indexOf('"', at)) {
    if (line[quote + 1] !== '"') return { cell: cell + line.slice(at, quote), end: quote + 1 }
    cell += line.slice(at, quote + 1)
    at = quote + 2
  }
  return { cell: cell + line.slice(at), end: null }
}

const isEnd = (line: string, at: number): boolean =>
  at === line.length || (at === line.length - 1 && line.endsWith("\r"))

/** The cells as one record, without its line feed: a cell is quoted where it must be, and keeps every character. */
export function csvText(cells: readonly string[], delimiter: string): string {
  let text = ""
  for (const cell of cells) text += delimiter + quotedWhereNeeded(cell)
  return text.slice(delimiter.length)
}

/** Any delimiter that a file may have is quoted, whichever this one has. */
const NEEDS_QUOTES = /[",;\t\r\n]/

const quotedWhereNeeded = (cell: string): string => (NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
