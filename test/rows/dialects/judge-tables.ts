import { isEmptyCell } from "../../../src/rows/clean-cell.ts"
import { decodeInput } from "../../../src/rows/input-decoder.ts"
import { UnreadableFile } from "../../../src/rows/unreadable-file.ts"
import { fileRows, partsOf } from "../../support/file-rows.ts"
import { type RandomTable, randomTable } from "./random-tables.ts"
import { fileOf, type Writer, writeTables } from "./written-tables.ts"

/** What came of a table: what went in, a refusal with its words, or something else in silence. */
export type Judged = {
  readonly table: RandomTable
  readonly text: string
  readonly writer: Writer
  readonly came: "right" | "refused" | "wrong"
  readonly because: string
}

/** Writes and reads the tables of some numbers. */
export async function judgeTables(
  seed: number,
  from: number,
  count: number,
  writer: Writer,
): Promise<readonly Judged[]> {
  const tables = Array.from({ length: count }, (_, at) => randomTable(seed, from + at))
  const texts = await writeTables(tables, writer)
  const judged: Judged[] = []
  for (const [at, table] of tables.entries()) {
    const text = texts[at] ?? ""
    judged.push({ table, text, writer, ...(await judge(table, fileOf(table, text))) })
  }
  return judged
}

async function judge(table: RandomTable, bytes: Uint8Array): Promise<Pick<Judged, "came" | "because">> {
  const refuse = (says: string): never => {
    throw new UnreadableFile(() => says)
  }
  try {
    const file = await fileRows(decodeInput(partsOf(bytes), null, refuse), { format: "csv" })
    if (file === null) return { came: "wrong", because: "nothing came out" }
    const { plan, rows } = file
    const because = differenceOf(table, {
      inputIndex: plan.inputIndex,
      header: plan.hasHeader ? plan.columns.names : null,
      rows: rows.map(({ cells }) => cells ?? []),
    })
    return because === null ? { came: "right", because: "" } : { came: "wrong", because }
  } catch (error) {
    if (error instanceof UnreadableFile) return { came: "refused", because: error.message }
    throw error
  }
}

type Read = {
  readonly inputIndex: number
  readonly header: readonly string[] | null
  readonly rows: readonly (readonly string[])[]
}

/** How what came out differs from what went in; null: it does not. Rows below those of the table are lines below it. */
function differenceOf(table: RandomTable, read: Read): string | null {
  const { dialect, addressIndex, header, rows } = table
  // A blank after a delimiter stays with a cell that has no quotes, and what ends lines within a cell follows the file.
  const plain = (cell: string | number, index: number): string =>
    (dialect.hasBlank && index > 0 ? String(cell).replace(/^ +/, "") : String(cell)).replaceAll(/\r\n?/g, "\n")
  const same = (one: readonly (string | number)[], other: readonly (string | number)[]): boolean =>
    JSON.stringify(one.map(plain)) === JSON.stringify(other.map(plain))
  if (read.inputIndex !== addressIndex) return `column ${read.inputIndex} for ${addressIndex}`
  if (header !== null && (read.header === null || !same(header, read.header))) return "another header"
  // A line above rows without header is one of them whose cell is empty, and skipped.
  const skipped = header === null ? read.rows.findIndex(cells => !isEmptyCell(cells[addressIndex] ?? "")) : 0
  const starts = Array.from({ length: Math.max(0, Math.min(skipped, table.above.length)) + 1 }, (_, at) => at)
  const otherFrom = (start: number): number => rows.findIndex((row, at) => !same(row, read.rows[start + at] ?? []))
  if (starts.some(start => otherFrom(start) < 0)) return null
  const other = otherFrom(0)
  return `row ${other}: ${JSON.stringify(read.rows[other])} for ${JSON.stringify(rows[other])}`
}
