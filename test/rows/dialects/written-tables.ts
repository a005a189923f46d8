import { join } from "node:path"
import { stringify } from "csv-stringify/sync"
import Papa from "papaparse"
import type { Cell, Dialect, RandomTable } from "./random-tables.ts"

type Records = readonly (readonly Cell[])[]

/** The records of a table, its header too. Papa Parse alone quotes a line end within a cell that is not the one of records. */
function recordsOf({ header, rows, dialect: { lineEnd } }: RandomTable, writer: Writer): Records {
  const records = header === null ? rows : [header, ...rows]
  const ended = (cell: Cell): Cell => (typeof cell === "string" ? cell.replaceAll("\n", lineEnd) : cell)
  return writer === "papaparse" ? records : records.map(record => record.map(ended))
}

/** Writes the text of records. */
const WRITERS = {
  "csv-stringify": (records: Records, { delimiter, quoting, lineEnd }: Dialect): string =>
    stringify(records as Cell[][], {
      ...{ delimiter, record_delimiter: lineEnd, quoted: quoting === "all", quoted_string: quoting === "nonnumeric" },
    }),
  papaparse: (records: Records, { delimiter, quoting, lineEnd }: Dialect): string => {
    const quotes = quoting === "nonnumeric" ? (value: unknown) => typeof value !== "number" : quoting === "all"
    return Papa.unparse(records as Cell[][], { delimiter, newline: lineEnd, quotes }) + lineEnd
  },
} as const

/** The programs that write tables. */
export type Writer = keyof typeof WRITERS | "python"
export const WRITER_NAMES: readonly Writer[] = [...(Object.keys(WRITERS) as (keyof typeof WRITERS)[]), "python"]

/** With a blank after delimiters each cell is written alone. */
const cellsAlone = (records: Records): Records => records.flatMap(record => record.map(cell => [cell]))

function withBlanks(table: RandomTable, cells: readonly string[]): string {
  const { delimiter, lineEnd } = table.dialect
  let at = 0
  return (table.header === null ? table.rows : [table.header, ...table.rows])
    .map(record => record.map(() => cells[at++] ?? "").join(`${delimiter} `) + lineEnd)
    .join("")
}

/** The texts of tables, as a writer writes them. */
export async function writeTables(tables: readonly RandomTable[], writer: Writer): Promise<readonly string[]> {
  const tasks = tables.map(table => {
    const records = recordsOf(table, writer)
    return { ...table.dialect, records: table.dialect.hasBlank ? cellsAlone(records) : records }
  })
  if (writer === "python") return await byPython(tables, tasks)
  const write = WRITERS[writer]
  return tables.map((table, at) => {
    const records = tasks[at]?.records ?? []
    if (!table.dialect.hasBlank) return write(records, table.dialect)
    const end = table.dialect.lineEnd.length
    return withBlanks(
      table,
      records.map(record => write([record], table.dialect).slice(0, -end)),
    )
  })
}

async function byPython(
  tables: readonly RandomTable[],
  tasks: readonly (Dialect & { readonly records: Records })[],
): Promise<readonly string[]> {
  const lines = tasks.flatMap(({ records, hasBlank, ...dialect }) =>
    (hasBlank ? records.map(record => [record]) : [records]).map(rows => JSON.stringify({ ...dialect, rows })),
  )
  await using child = Bun.spawn(["python3", join(import.meta.dir, "write-csv.py")], {
    stdin: Buffer.from(`${lines.join("\n")}\n`),
  })
  const out = (await new Response(child.stdout).text()).trimEnd().split("\n")
  if ((await child.exited) !== 0) throw new Error("Python failed")
  let at = 0
  return tables.map((table, index) => {
    if (!table.dialect.hasBlank) return JSON.parse(out[at++] ?? "") as string
    const end = table.dialect.lineEnd.length
    const cells = (tasks[index]?.records ?? []).map(() => (JSON.parse(out[at++] ?? "") as string).slice(0, -end))
    return withBlanks(table, cells)
  })
}

/** The bytes that windows-1252 has elsewhere than Latin-1, as far as tables hold them. */
const BYTES_OF: Readonly<Record<Dialect["encoding"], (text: string) => Uint8Array>> = {
  "utf-8": text => Buffer.from(text),
  "utf-8 with a mark": text => Buffer.from(`\ufeff${text}`),
  "utf-16le": text => Buffer.from(`\ufeff${text}`, "utf16le"),
  "utf-16be": text => Buffer.from(`\ufeff${text}`, "utf16le").swap16(),
  "windows-1252": text => Buffer.from(text, "latin1"),
}

/** The bytes of a file with a table, whose text this is. */
export function fileOf({ dialect, above, below }: RandomTable, text: string): Uint8Array {
  const lines = (all: readonly string[]): string => all.map(line => `${line}${dialect.lineEnd}`).join("")
  return BYTES_OF[dialect.encoding](`${lines(above)}${text}${lines(below)}`)
}
