import { describe, expect, test } from "bun:test"
import { parse } from "csv-parse/sync"
import { stringify } from "csv-stringify/sync"
import fc from "fast-check"
import { formatCsvRecord } from "../../src/base/csv.ts"
import { type CsvRecord, CsvRecordParser, parseRecords } from "../../src/rows/csv-reader.ts"
import { type InputRow, readRow } from "../../src/rows/input-rows.ts"
import { LINE_BYTES_MAX } from "../../src/rows/line-splitter.ts"
import { SINGLE_COLUMN } from "../../src/rows/reading-plan.ts"
import { RecordCutter } from "../../src/rows/record-cutter.ts"
import { RESULT_FORMATS } from "../../src/rows/result-format.ts"
import { fileRows, partsOf } from "../support/file-rows.ts"
import { outcomeOf } from "../support/outcome-of.ts"

const linesOf = (text: string) =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map(line => ({ text: line, isTooLong: false }))

const recordsIn = (text: string, delimiter = ","): readonly CsvRecord[] => parseRecords(linesOf(text), delimiter)

/** A record of one line. */
const record = (...cells: string[]): CsvRecord => ({ cells, fault: null, lineCount: 1 })
const faulty = (...cells: string[]): CsvRecord => ({ cells, fault: "invalid_syntax", lineCount: 1 })

/** The rows of a table whose column has inputs or not. */
const rowsIn = async (text: string, column: string | null = null): Promise<readonly InputRow[]> =>
  (await fileRows(partsOf(text), { format: "csv", column, isForced: true }))?.rows ?? []

const inputs = (rows: readonly InputRow[]) => rows.map(({ input }) => input)
const cells = (records: readonly CsvRecord[]) => records.map(record => record.cells)

const cell = fc.string({ unit: fc.constantFrom("a", "é", '"', ",", ";", "\t", "\n", "\r", " ", "@") })
const table = fc
  .integer({ min: 2, max: 4 })
  .chain(width => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }))

describe("records", () => {
  test("what the library writes is read as it was", () => {
    fc.assert(
      fc.property(table, fc.constantFrom("\n", "\r\n"), (rows, end) => {
        const all = [["email", "name"], ...rows]
        expect(cells(recordsIn(stringify(all, { record_delimiter: end, quoted: true })))).toEqual(all)
      }),
    )
  })

  test("what is written is read by the library as it was", () => {
    fc.assert(
      fc.property(table, fc.constantFrom(",", ";", "\t"), (rows, delimiter) => {
        const text = rows.map(row => `${formatCsvRecord(row, delimiter)}\n`).join("")
        expect(parse(text, { delimiter, record_delimiter: "\n" })).toEqual(rows)
      }),
    )
  })

  test("blanks between a delimiter and a quote belong to the quote", () => {
    expect(cells(recordsIn('1, "Doe, Jane" , jane@gmail.com'))).toEqual([["1", "Doe, Jane", " jane@gmail.com"]])
  })

  test("a quote within a cell that does not begin with one is a character like others", () => {
    expect(recordsIn('name,size\nscreen,5"\nb,2"x"')).toEqual([
      record("name", "size"),
      record("screen", '5"'),
      record("b", '2"x"'),
    ])
  })

  test("a quote that closes in the middle of a cell costs its line alone", () => {
    const [, broken, next] = recordsIn('a,b\n"x"y,1\nz,2')
    expect(broken).toEqual(faulty('"x"y', "1"))
    expect(next).toEqual(record("z", "2"))
  })

  test("a quote that is never closed costs its line alone, at the end of a file and before more than a record may be", () => {
    for (const count of [3, LINE_BYTES_MAX]) {
      const after = Array.from({ length: count }, (_, at) => `r${at},x`)
      const [, broken, ...rest] = recordsIn(["a,b", '"open,1', ...after].join("\n"))
      expect(broken).toEqual(faulty('"open', "1"))
      expect(rest).toHaveLength(count)
      expect(rest.every(({ fault }) => fault === null)).toBe(true)
    }
  })

  test("a record of many lines that is as long as a line may be is whole, and one longer is not", () => {
    const recordOf = (length: number) => `a,b\n"${"\n".repeat(length)}",1\nnext,2`
    // The line with the closing quote ends the record, whatever it adds.
    expect(recordsIn(recordOf(LINE_BYTES_MAX - 1))).toHaveLength(3)
    const over = recordsIn(recordOf(LINE_BYTES_MAX))
    expect(over[1]).toEqual(faulty('"'))
    expect(over.at(-1)).toEqual(record("next", "2"))
  })

  test("a line that is too long ends a record whose quote is open", () => {
    const reader = new CsvRecordParser(",")
    const records: CsvRecord[] = []
    reader.push({ text: "a,b", isTooLong: false }, records)
    reader.push({ text: '"open,1', isTooLong: false }, records)
    reader.push({ text: "xxx", isTooLong: true }, records)
    expect(records.map(({ fault }) => fault)).toEqual([null, "invalid_syntax", "too_long"])
  })

  test("any text gives every line to one record, and reading it never throws", () => {
    const hostile = fc.string({ unit: fc.constantFrom('"', ",", "\n", "a", "\r"), maxLength: 60 })
    fc.assert(
      fc.property(hostile, text => {
        const lines = linesOf(text).length
        const records = recordsIn(text)
        const inCells =
          records
            .flatMap(({ cells }) => cells)
            .join("")
            .split("\n").length - 1
        expect(records.length + inCells).toBe(lines)
      }),
      { numRuns: 2_000 },
    )
  })
})

/** How often the text of a line is looked at: to begin a record, to continue one, as a record with a fault, and for its length. */
const LOOKS_PER_LINE_MAX = 8

describe("quotes that go wrong", () => {
  const units = {
    "between commas": 'a","\n',
    "between tabs": 'a"\t"\n',
    "at each beginning": '"a\n',
    alone: '"\n',
    "every second line": '"a\nb\n',
    "closed in the middle of a cell": '"x"y\n"a\n',
    "before many lines": `"a\n${"b\n".repeat(500)}`,
    "between whole records": '"a\n""\n"b"\n',
  }

  test.each(Object.entries(units))("are read a few times and no more, however many there are: %s", (_, unit) => {
    for (const isTooLong of [false, true]) {
      let looks = 0
      const lines = linesOf(unit.repeat(20_000 / unit.length)).map(({ text }) => ({
        get text() {
          looks++
          return text
        },
        isTooLong: false,
      }))
      const reader = new CsvRecordParser(",")
      const records: CsvRecord[] = []
      for (const line of lines) reader.push(line, records)
      if (isTooLong) reader.push({ text: "x", isTooLong }, records)
      else reader.end(records)
      expect(looks / lines.length).toBeLessThan(LOOKS_PER_LINE_MAX)
    }
  })

  test.each(Object.entries(units))("hold no more of a file than a record may have: %s", (_, unit) => {
    const bytes = Buffer.from(`email,x\n${unit.repeat(300_000 / unit.length)}`)
    const cutter = new RecordCutter({ format: "csv", delimiter: ",", skippedLines: 0 })
    let [cut, held] = [0, 0]
    for (let at = 0; at < bytes.length; at += 16_384) {
      for (const block of cutter.push(bytes.subarray(at, at + 16_384))) cut += block?.bytes.length ?? 0
      held = Math.max(held, at + 16_384 - cut)
    }
    expect(held).toBeLessThan(2 * LINE_BYTES_MAX)
  })
})

describe("the column of inputs", () => {
  test("is the one that is named, by its exact name before others, whatever its case", async () => {
    expect(inputs(await rowsIn("Mail,MAIL\na,b", "MAIL"))).toEqual(["b"])
    expect(inputs(await rowsIn("x, mail \na,b", "Mail"))).toEqual(["b"])
  })

  test("is `email`, then `domain`, then `url`, when none is named", async () => {
    expect(inputs(await rowsIn("url,Domain,EMAIL\nu,d,e"))).toEqual(["e"])
    expect(inputs(await rowsIn("url,Domain,x\nu,d,e"))).toEqual(["d"])
    expect(inputs(await rowsIn("url,y,x\nu,d,e"))).toEqual(["u"])
  })

  test.each([
    ["id,Email Address,name", 1],
    ["E-Mail,name", 0],
    ["name;e_mail", 1],
    ["Name,Customer Email,City", 1],
    ["Email Opt-In,Work Email", 1],
    ["id,Email 1 - Value,Email 2 - Value", 1],
    ["Email Domain,EMAIL_ADDRESS", 1],
    ["id,E-Mail-Adresse", 1],
    ["id,Company Domain", 1],
    ["id,Website", 1],
    ["id,Domain Name,Website", 1],
    ["Billing Email,Email", 1],
  ])("is found by a name that says what it has: %s", async (head, at) => {
    const cells = ["a0.com", "a1.com", "a2.com"].slice(0, head.split(/[,;]/).length)
    expect(inputs(await rowsIn(`${head}\n${cells.join(head.includes(";") ? ";" : ",")}`))).toEqual([`a${at}.com`])
  })

  test.each([
    ["id,E-mailadres", "1,a@b.com", "a@b.com"],
    ["名前;邮箱", "Jo;a@b.com", "a@b.com"],
    ["id,contact", "1,Jo <a@b.com>", "Jo <a@b.com>"],
    ["name,site", "Jo,https://b.com/@jo", "https://b.com/@jo"],
    ["id,where", "1,b.com", "b.com"],
  ])("is found by what it has: %s", async (head, row, input) => {
    expect(inputs(await rowsIn(`${head}\n${row}`))).toEqual([input])
  })

  test.each([
    ["Billing Email,Work Email", "a@b.com,c@d.com", "2 columns have addresses: 1 `Billing Email`, 2 `Work Email`."],
    ["email opt-in,email status", "yes,valid", "The columns are: 1 `email opt-in`, 2 `email status`."],
    ["id,name", "1,Jo", "The columns are: 1 `id`, 2 `name`."],
  ])("is not guessed: %s", async (head, row, told) => {
    const read = await outcomeOf(rowsIn(`${head}\n${row}`))
    expect(read).toThrow(told)
    expect(read).toThrow(/Choose one with `column`/)
  })

  test("may be named by its number, counted from 1, after names", async () => {
    expect(inputs(await rowsIn("a,b\n1,2", "2"))).toEqual(["2"])
    expect(inputs(await rowsIn("2,b\nx,y", "2"))).toEqual(["x"])
    expect(inputs(await rowsIn("a,E Mail\n1,2", "e-mail"))).toEqual(["2"])
  })

  test("is the only one, under any name", async () => {
    expect(inputs(await rowsIn("contact\njane@gmail.com"))).toEqual(["jane@gmail.com"])
  })

  test("is found in a file without header, which loses no line", async () => {
    expect(inputs(await rowsIn("jane@gmail.com\nacme.com"))).toEqual(["jane@gmail.com", "acme.com"])
    expect(inputs(await rowsIn("Jane,jane@gmail.com\nJo,jo@acme.com"))).toEqual(["jane@gmail.com", "jo@acme.com"])
  })

  test("that is not there is a wrong use, and what the header holds is not told", async () => {
    const named = await outcomeOf(rowsIn("jane@x.com,b\n1,2", "c"))
    expect(named).toThrow(/is a number from 1 to 2/)
    expect(named).not.toThrow(/jane/)
    const columns = "The file has no column of this name. The columns are: 1 `a`, 2 `b`."
    expect(await outcomeOf(rowsIn("a,b\n1,2", "c"))).toThrow(columns)
    expect(await outcomeOf(rowsIn("a,b\n1,2", "3"))).toThrow(columns)
    expect(await outcomeOf(rowsIn("id,\u001b[2J\n1,2"))).toThrow("The columns are: 1 `id`, 2 `\\u001b[2J`.")
  })
})

test("a row that is short is filled with empty cells in the results alone, and one that is long keeps all", async () => {
  const file = await fileRows(partsOf("email,name\na@b.com\n\na@b.com,x,y"), { format: "csv" })
  const { rows, plan } = file ?? { rows: [], plan: { columns: SINGLE_COLUMN } }
  expect(rows.map(row => row.cells)).toEqual([["a@b.com"], [""], ["a@b.com", "x", "y"]])
  const { prefix } = RESULT_FORMATS.csv(plan.columns, { hasSafeCells: false, tellsCached: true })
  expect(rows.map(row => prefix(readRow(row, "mailkind.test")))).toEqual(["a@b.com,,", ",,", "a@b.com,x,"])
})
