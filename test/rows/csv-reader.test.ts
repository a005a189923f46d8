import { describe, expect, test } from "bun:test"
import { parse } from "csv-parse/sync"
import { stringify } from "csv-stringify/sync"
import fc from "fast-check"
import { formatCsvRecord } from "../../src/base/csv.ts"
import { BlockReader } from "../../src/rows/block-reader.ts"
import { type CsvRecord, CsvRecordParser, parseRecords } from "../../src/rows/csv-reader.ts"
import { type InputRow, rowSubject } from "../../src/rows/input-rows.ts"
import { LINE_BYTES_MAX } from "../../src/rows/line-splitter.ts"
import { decideDelimiter } from "../../src/rows/reading-plan.ts"
import { RecordCutter } from "../../src/rows/record-cutter.ts"
import { RESULT_FORMATS } from "../../src/rows/result-format.ts"

const linesOf = (text: string) =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map(line => ({ text: line, isTooLong: false }))

function recordsIn(text: string): readonly CsvRecord[] {
  const lines = linesOf(text)
  return parseRecords(lines, decideDelimiter(lines[0]?.text ?? "", null).delimiter)
}

const rowsIn = (text: string, column: string | null = null): readonly InputRow[] =>
  new BlockReader({ format: "csv", column, delimiter: null, hasHeader: true }).read(Buffer.from(text))

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

  test("a delimiter other than the comma is taken from the first line", () => {
    expect(cells(recordsIn("a;b\n1;2,5"))).toEqual([
      ["a", "b"],
      ["1", "2,5"],
    ])
    expect(cells(recordsIn("a\tb\n1\t2"))).toEqual([
      ["a", "b"],
      ["1", "2"],
    ])
    expect(cells(recordsIn("a,b;c\n1,2;3"))).toEqual([
      ["a", "b;c"],
      ["1", "2;3"],
    ])
  })

  test("a quote within a cell that does not begin with one is a character like others", () => {
    expect(recordsIn('name,size\nscreen,5"\nb,2"x"')).toEqual([
      { cells: ["name", "size"], fault: null },
      { cells: ["screen", '5"'], fault: null },
      { cells: ["b", '2"x"'], fault: null },
    ])
  })

  test("a quote that closes in the middle of a cell costs its line alone", () => {
    const [, broken, next] = recordsIn('a,b\n"x"y,1\nz,2')
    expect(broken).toEqual({ cells: ['"x"y', "1"], fault: "invalid_syntax" })
    expect(next).toEqual({ cells: ["z", "2"], fault: null })
  })

  test("a quote that is never closed costs its line alone, at the end of a file and before more than a record may be", () => {
    for (const count of [3, LINE_BYTES_MAX]) {
      const after = Array.from({ length: count }, (_, at) => `r${at},x`)
      const [, broken, ...rest] = recordsIn(["a,b", '"open,1', ...after].join("\n"))
      expect(broken).toEqual({ cells: ['"open', "1"], fault: "invalid_syntax" })
      expect(rest).toHaveLength(count)
      expect(rest.every(({ fault }) => fault === null)).toBe(true)
    }
  })

  test("a record of many lines that is as long as a line may be is whole, and one longer is not", () => {
    const record = (length: number) => `a,b\n"${"\n".repeat(length)}",1\nnext,2`
    // The line with the closing quote ends the record, whatever it adds.
    expect(recordsIn(record(LINE_BYTES_MAX - 1))).toHaveLength(3)
    const over = recordsIn(record(LINE_BYTES_MAX))
    expect(over[1]).toEqual({ cells: ['"'], fault: "invalid_syntax" })
    expect(over.at(-1)).toEqual({ cells: ["next", "2"], fault: null })
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
    const cutter = new RecordCutter({ format: "csv", delimiter: null })
    let [cut, held] = [0, 0]
    for (let at = 0; at < bytes.length; at += 16_384) {
      for (const block of cutter.push(bytes.subarray(at, at + 16_384))) cut += block?.bytes.length ?? 0
      held = Math.max(held, at + 16_384 - cut)
    }
    expect(held).toBeLessThan(2 * LINE_BYTES_MAX)
  })
})

describe("the column of inputs", () => {
  test("is the one that is named, by its exact name before others, whatever its case", () => {
    expect(inputs(rowsIn("Mail,MAIL\na,b", "MAIL"))).toEqual(["b"])
    expect(inputs(rowsIn("x, mail \na,b", "Mail"))).toEqual(["b"])
  })

  test("is `email`, then `domain`, then `url`, when none is named", () => {
    expect(inputs(rowsIn("url,Domain,EMAIL\nu,d,e"))).toEqual(["e"])
    expect(inputs(rowsIn("url,Domain,x\nu,d,e"))).toEqual(["d"])
    expect(inputs(rowsIn("url,y,x\nu,d,e"))).toEqual(["u"])
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
  ])("is found by a name that says what it has: %s", (head, at) => {
    const cells = ["a0.com", "a1.com", "a2.com"].slice(0, head.split(/[,;]/).length)
    expect(inputs(rowsIn(`${head}\n${cells.join(head.includes(";") ? ";" : ",")}`))).toEqual([`a${at}.com`])
  })

  test.each(["Billing Email,Work Email", "email opt-in,email status", "id,name"])("is not guessed: %s", head => {
    expect(() => rowsIn(`${head}\n1,2`)).toThrow(/Choose one with `column`/)
  })

  test("may be named by its number, counted from 1, after names", () => {
    expect(inputs(rowsIn("a,b\n1,2", "2"))).toEqual(["2"])
    expect(inputs(rowsIn("2,b\nx,y", "2"))).toEqual(["x"])
    expect(inputs(rowsIn("a,E Mail\n1,2", "e-mail"))).toEqual(["2"])
  })

  test("is the only one, under any name", () => {
    expect(inputs(rowsIn("contact\njane@gmail.com"))).toEqual(["jane@gmail.com"])
  })

  test("is the only one of a file without header, which loses no line", () => {
    expect(inputs(rowsIn("jane@gmail.com\nacme.com"))).toEqual(["jane@gmail.com", "acme.com"])
  })

  test("that is not there is a wrong use, and what the header holds is not told", () => {
    expect(() => rowsIn("jane@x.com,b\n1,2")).toThrow(/use `header=false`/)
    expect(() => rowsIn("jane@x.com,b\n1,2")).not.toThrow(/jane/)
    expect(() => rowsIn("a,b\n1,2", "c")).toThrow("The file has no column of this name. The columns are: 1 `a`, 2 `b`.")
    expect(() => rowsIn("a,b\n1,2", "3")).toThrow("The file has no column of this name. The columns are: 1 `a`, 2 `b`.")
    expect(() => rowsIn("id,\u001b[2J\n1,2")).toThrow("The columns are: 1 `id`, 2 `\\u001b[2J`.")
  })
})

test("a row that is short is filled with empty cells in the results alone, and one that is long keeps all", () => {
  const rows = rowsIn("email,name\na@b.com\n\na@b.com,x,y")
  expect(rows.map(row => row.cells)).toEqual([["a@b.com"], [""], ["a@b.com", "x", "y"]])
  const { prefix } = RESULT_FORMATS.csv(
    { names: ["email", "name"], delimiter: ",", hasHeader: true },
    { hasSafeCells: false, tellsCached: true },
  )
  expect(rows.map(row => prefix(row, rowSubject(row, "mailkind.test")))).toEqual(["a@b.com,,", ",,", "a@b.com,x,"])
})
