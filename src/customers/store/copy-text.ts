import type { Cell } from "./store.ts"

/** What PostgreSQL's text format of COPY writes for characters that would end a cell or a row (its manual, COPY, "Text Format"). */
const ESCAPES: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\\": "\\\\",
  // Text holds none there.
  "\0": "\uFFFD",
}

const ESCAPED = /[\b\t\n\v\f\r\\\0]/g

/** A row as one line of that format, in the one way in which PostgreSQL itself writes it. */
export const copyLine = (row: readonly Cell[]): string => `${row.map(cellText).join("\t")}\n`

function cellText(cell: Cell): string {
  if (cell === null) return "\\N"
  if (typeof cell === "number") return String(cell)
  return typeof cell === "string"
    ? cell.replace(ESCAPED, found => ESCAPES[found] ?? found)
    : `\\\\x${Buffer.from(cell).toString("hex")}`
}
