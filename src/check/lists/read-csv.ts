import type { Entries } from "./entries.ts"

/**
 * Reads one column of a CSV text (RFC 4180). `column` is the name in the first row, or a number from 1 for a text
 * without such a row. A row too short to have the column is misshapen.
 */
export function readColumn(text: string, column: string): Entries {
  const rows = rowsOf(text.startsWith("\uFEFF") ? text.slice(1) : text)
  const isNumbered = /^[1-9]\d*$/.test(column)
  const at = isNumbered ? Number(column) - 1 : (rows[0] ?? []).indexOf(column)
  if (at < 0) return { kind: "refused", says: `no column ${column}` }
  const cells = rows.slice(isNumbered ? 0 : 1).map(row => row[at])
  const entries = cells.filter(cell => cell !== undefined && cell !== "")
  return { kind: "entries", entries: entries as string[], misshapen: cells.length - entries.length }
}

const CELL = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/gy

function rowsOf(text: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  let reached = 0
  for (const [whole, cell = "", end] of text.matchAll(CELL)) {
    reached += whole.length
    row.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end === ",") continue
    if (row.length > 1 || row[0] !== "") rows.push(row)
    row = []
    if (reached >= text.length) break
  }
  return rows
}
