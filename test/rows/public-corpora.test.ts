import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { runInNewContext } from "node:vm"
import { parseRecords } from "../../src/rows/csv-reader.ts"
import { decodeInput } from "../../src/rows/input-decoder.ts"
import { splitLines } from "../../src/rows/line-splitter.ts"
import { partsOf } from "../support/file-rows.ts"

/* What the corpora of other CSV parsers state of the records of a text, as published by their packages. */

const folderOf = (name: string): string => dirname(Bun.resolveSync(`${name}/package.json`, import.meta.dir))

async function recordsOf(text: Uint8Array | string, delimiter: string) {
  const refuse = (says: string): never => {
    throw new Error(says)
  }
  const chunks = await Array.fromAsync(decodeInput(partsOf(text), null, refuse), chunk => new Uint8Array(chunk))
  return parseRecords(splitLines(Buffer.concat(chunks)), delimiter)
}

const SPECTRUM = folderOf("csv-spectrum")

/** What is stated of this file is another number than it has. */
const MISSTATED = "location_coordinates.csv"

describe("the corpus of csv-spectrum", () => {
  test.each(readdirSync(join(SPECTRUM, "csvs")).filter(file => file !== MISSTATED))(
    "%s is read as it states",
    async file => {
      const stated: unknown = JSON.parse(readFileSync(join(SPECTRUM, "json", file.replace(".csv", ".json")), "utf8"))
      const [header, ...records] = await recordsOf(readFileSync(join(SPECTRUM, "csvs", file)), ",")
      const read = records.map(({ cells }) =>
        Object.fromEntries(cells.map((cell, at) => [header?.cells[at] ?? "", cell.replaceAll("\r\n", "\n")])),
      )
      // A cell on two lines keeps what ends the lines of its file.
      expect(read).toEqual(JSON.parse(JSON.stringify(stated).replaceAll("\\r\\n", "\\n")))
    },
  )
})

/** A case of Papa Parse's core parser. */
type PapaCase = {
  readonly description: string
  readonly input: string
  readonly config?: Readonly<Record<string, unknown>>
  readonly expected: { readonly data: readonly (readonly string[])[]; readonly errors: readonly unknown[] }
}

const nothing = Object.assign((): void => undefined, { skip: (): void => undefined })

const PAPA_CASES: readonly PapaCase[] = runInNewContext(
  `${readFileSync(join(folderOf("papaparse"), "tests", "test-cases.js"), "utf8")};CORE_PARSER_TESTS`,
  { module: { exports: {} }, require: () => ({}), describe: nothing, window: undefined },
)

/** Where we read otherwise: a blank before a quote belongs to the quote, and a line feed at the end begins no row. */
const READ_OTHERWISE = ["Quoted field with whitespace around quotes", "One column input with empty fields"]

test("the texts without an error that Papa Parse states are read as it states, but for two", async () => {
  const plain = PAPA_CASES.filter(({ config = {}, expected }) => {
    const isDelimiter = Object.entries(config).every(
      ([name, value]) => name === "delimiter" && typeof value === "string",
    )
    return isDelimiter && expected.errors.length === 0
  })
  const otherwise: string[] = []
  for (const { description, input, config = {}, expected } of plain) {
    const records = await recordsOf(input, String(config["delimiter"] ?? ","))
    const read = records.map(({ cells }) => cells)
    if (JSON.stringify(read) !== JSON.stringify(expected.data)) otherwise.push(description)
  }
  expect([plain.length > 30, otherwise]).toEqual([true, READ_OTHERWISE])
})
