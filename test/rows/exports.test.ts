import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { readFileName } from "../../src/rows/file-format.ts"
import { decodeInput } from "../../src/rows/input-decoder.ts"
import { readRow } from "../../src/rows/input-rows.ts"
import { UnreadableFile } from "../../src/rows/unreadable-file.ts"
import { fileRows, partsOf } from "../support/file-rows.ts"

/*
 * Small files in the shapes that products and spreadsheets export, and what is right for each (`exports/exports.ndjson`). Their content is
 * made up. A file that another door reads (`.xlsx`, `.zip`, `.json`) gets its line there, and its reader in `readExport`.
 */

const FOLDER = join(import.meta.dir, "exports")

/** The cell that is judged; with what was cleaned, it and further addresses; null: the row is skipped. */
type ReadCell = string | readonly string[] | null

/** What a file is. */
type Export = { readonly file: string; readonly about: string } & (
  | { /** Why it is refused. Empty: it has no rows. */ readonly refused: string }
  | {
      /** The format and the encoding; of a table its delimiter, the line of its header, its column and the kind of it; else the member. */
      readonly found: readonly (string | number | null)[]
      readonly rows: readonly ReadCell[]
    }
)

const EXPORTS: readonly Export[] = readFileSync(join(FOLDER, "exports.ndjson"), "utf8")
  .trimEnd()
  .split("\n")
  .map(line => JSON.parse(line))

async function readExport(name: string): Promise<Omit<Export, "file" | "about">> {
  const { format, delimiter } = readFileName(name)
  let encoding = ""
  const refuse = (says: string): never => {
    throw new UnreadableFile(() => `The file ${says}.`)
  }
  const bytes = readFileSync(join(FOLDER, "files", name))
  try {
    const decoded = decodeInput(partsOf(bytes), null, refuse, told => {
      encoding = told
    })
    const file = await fileRows(decoded, { format, delimiter })
    if (file === null) return { refused: "" }
    const { plan } = file
    const header = plan.hasHeader ? plan.skippedLines + 1 : null
    const table = plan.format === "csv" ? [plan.delimiter, header, plan.inputIndex + 1, plan.kind] : [plan.member]
    const rows = file.rows.map(row => cellOf(readRow(row, "mailkind.test")))
    return { found: [plan.format, encoding, ...table], rows }
  } catch (error) {
    if (error instanceof UnreadableFile) return { refused: error.message }
    throw error
  }
}

const cellOf = ({ row: { cleaned }, subject }: ReturnType<typeof readRow>): ReadCell => {
  if (subject === null) return null
  return cleaned === null ? subject.sent : [cleaned.text, ...cleaned.others]
}

test.each(EXPORTS.map(entry => [`${entry.file}: ${entry.about}`, entry] as const))(
  "%s",
  async (_, { file, about, ...right }) => {
    expect(await readExport(file)).toEqual(right)
  },
)

test("every file has a line", () => {
  expect(EXPORTS.map(({ file }) => file).toSorted()).toEqual(readdirSync(join(FOLDER, "files")).toSorted())
})

test("numbers of a JSON array are no inputs", async () => {
  expect(await fileRows(partsOf("1\n2\n3\n"), { format: "ndjson" }).catch(String)).toMatch(
    /Nothing in the first 3 lines/,
  )
})

test("a table of 500 columns is judged by its first 20 records", async () => {
  const row = (cell: string): string => `${"x,".repeat(250)}${cell}${",".repeat(249)}\n`
  const lines = [
    row("Contact"),
    ...Array.from({ length: 12 }, () => row("")),
    row("jo@gmail.com"),
    row("ann@stripe.com"),
  ]
  const file = await fileRows(partsOf(lines.join("")), { format: "csv" })
  expect(file?.plan).toMatchObject({ hasHeader: true, inputIndex: 250, kind: "email" })
})
