import { describe, expect, test } from "bun:test"
import { zipSync } from "fflate"
import { type InputAsked, openInput } from "../../src/rows/open-input.ts"
import { rowsOf, workbook } from "./workbook.ts"

const MIB = 1_048_576
const ASKED: InputAsked = { encoding: null, sheet: null, isJson: false, archiveBytesMax: MIB }

async function* inPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.slice(at, at + length)
}

/** The lines of a file and what they are, or why it is refused. */
async function opened(file: string | Uint8Array, asked: Partial<InputAsked> = {}, pieceBytes = 65_536) {
  const refuse = (says: string): never => {
    throw new Error(says)
  }
  try {
    const input = await openInput(inPieces(Buffer.from(file), pieceBytes), { ...ASKED, ...asked }, refuse)
    const { format, delimiter } = input
    const parts: Uint8Array[] = []
    for await (const part of input.text) parts.push(new Uint8Array(part))
    return { format, delimiter, text: Buffer.concat(parts).toString() }
  } catch (error) {
    return error instanceof Error ? error.message : error
  }
}

describe("a JSON array becomes lines of NDJSON", () => {
  test.each([
    ["strings", '["a@b.co", "c@d.co"]', '"a@b.co"\n"c@d.co"\n'],
    [
      "objects on several lines",
      ' [\n {"email":\n"a@b.co"},\r\n{"email":"c"}\n]\n',
      '{"email": "a@b.co"}\n{"email":"c"} \n',
    ],
    [
      "nested values, whose text stays",
      '[{"n":12345678901234567890,"x":[1,{"y":"],\\"["}]}]',
      '{"n":12345678901234567890,"x":[1,{"y":"],\\"["}]}\n',
    ],
    ["values that are no text", "[1,null, true]".replace("[1", '["a",1'), '"a"\n1\nnull\ntrue\n'],
    ["a byte order mark", '\ufeff["a"]', '"a"\n'],
    ["nothing", "[]", ""],
  ])("with %s", async (_, json, text) => {
    for (const pieceBytes of [1, 65_536])
      expect(await opened(json, {}, pieceBytes)).toEqual({ format: "ndjson", delimiter: null, text })
  })

  test("in UTF-16", async () => {
    expect(await opened(Buffer.from('\ufeff["é@b.co"]', "utf16le"))).toMatchObject({
      format: "ndjson",
      text: '"é@b.co"\n',
    })
  })

  test("whose elements are too long for a row, but for the first, are cut", async () => {
    const { text } = (await opened(`["a","${"x".repeat(MIB)}","b"]`)) as { readonly text: string }
    expect(text.split("\n").map(line => line.length)).toEqual([3, 65_537, 3, 0])
  })

  test.each([
    ["is cut off", '["a","b"', /ends in the middle of its JSON array, after 1 elements/],
    ["is cut off in a string", '["a","b', /ends in the middle/],
    ["is followed by another", '["a"]["b"]', /continues after its JSON array/],
    ["has a comma too many", '["a",]', /nothing in the place of element 2/],
    [
      "has one long element",
      Buffer.concat([Buffer.from('["'), Buffer.alloc(MIB, "x"), Buffer.from('"]')]),
      /first element of more than 65536 bytes/,
    ],
    ["has one element that is nested a million deep", `[${"[".repeat(MIB)}`, /first element of more than 65536 bytes/],
  ])("or is refused when it %s", async (_, json, message) => {
    expect(await opened(json, { isJson: true })).toMatch(message)
  })
})

test("a file that is called JSON may have an object on each line, and is refused when it is one object", async () => {
  const lines = '{"email":"a"}\n{"email":"b"}\n'
  expect(await opened(lines, { isJson: true })).toEqual({ format: "ndjson", delimiter: null, text: lines })
  for (const json of ['{"contacts":[{"email":"a"}]}', '{\n"email":"a"\n}'])
    expect(await opened(json, { isJson: true })).toMatch(/is one JSON object, not a list/)
})

test("a line of text may begin with a bracket", async () => {
  for (const text of ["[Report]\nemail\na@b.co\n", "[1.2.3.4]\n", "[", "a@b.co\n", ""])
    expect(await opened(text)).toEqual({ format: null, delimiter: null, text })
})

describe("the only file of a zip archive is read", () => {
  const csv = Buffer.from("email\na@b.co\n")
  test.each([
    [
      "beside folders and what macOS adds",
      { "a/": new Uint8Array(), "a/list.csv": csv, "__MACOSX/a/._list.csv": csv, ".DS_Store": csv },
      { format: "csv", delimiter: null, text: csv.toString() },
    ],
    ["by its name", { "list.tsv": csv }, { format: "csv", delimiter: "\t", text: csv.toString() }],
    [
      "compressed again",
      { "list.csv.gz": Bun.gzipSync(csv) },
      { format: "csv", delimiter: null, text: csv.toString() },
    ],
    ["as JSON", { "list.json": Buffer.from('["a"]') }, { format: "ndjson", delimiter: null, text: '"a"\n' }],
  ])("%s", async (_, files, input) => {
    expect(await opened(zipSync(files))).toEqual(input)
  })

  test.each([
    ["has several files", { "a.csv": csv, "b.csv": csv }, /zip archive of 2 files/],
    [
      "has a thousand files",
      Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`${at}.csv`, csv])),
      /zip archive of 1000 files/,
    ],
    ["has no file", { "a/": new Uint8Array() }, /without a file/],
    ["has an archive", { "a.zip": zipSync({ "a.csv": csv }) }, /with 1 archive or spreadsheet in it/],
    ["has a spreadsheet", { "a.xlsx": workbook({ a: "" }) }, /with 1 archive or spreadsheet in it/],
    ["is an OpenDocument table", { mimetype: csv, "content.xml": csv }, /OpenDocument/],
  ])("or the archive is refused when it %s", async (_, files, message) => {
    expect(await opened(zipSync(files))).toMatch(message)
  })

  test("or the archive is refused when it is damaged, has more entries or bytes than it may, or a sheet is asked of it", async () => {
    const archive = zipSync({ "list.csv": [csv, { level: 0 }] })
    expect(await opened(archive.subarray(0, 60))).toMatch(/damaged zip archive/)
    // The content is stored as it is, and its checksum tells that a byte of it is another one.
    const changed = Buffer.from(archive)
    changed[changed.indexOf(csv) + 6] = 0x62
    expect(await opened(changed)).toMatch(/damaged data/)
    // The number of entries stands ten bytes behind the mark of the end.
    const many = Buffer.from(archive)
    many.writeUInt16LE(10_001, archive.length - 12)
    expect(await opened(many)).toMatch(/of 10001 files. An archive has at most 10000/)
    expect(await opened(archive, { archiveBytesMax: archive.length })).toMatchObject({ format: "csv" })
    expect(await opened(archive, { archiveBytesMax: archive.length - 1 })).toMatch(/archive of more than \d+ bytes/)
    for (const file of [archive, csv]) expect(await opened(file, { sheet: "1" })).toMatch(/no spreadsheet/)
  })
})

describe("a sheet becomes a table of CSV", () => {
  const csv = (text: string) => ({ format: "csv", delimiter: ",", text })

  test("with shared, own and formula's texts as they are seen, without what says how they are pronounced", async () => {
    const texts =
      "<si><t>a@b.co</t></si><si><r><t>J. </t></r><r><t>&quot;Doe&quot;, _x000A_</t></r><rPh><t>no</t></rPh></si>"
    const row = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c><c r="D1" t="s"><v>7</v></c></row>
      <row r="3"><c r="A3" t="str"><f>B1</f><v>x</v></c><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="inlineStr"><is><t> y</t></is></c></row>`
    for (const pieceBytes of [100, 65_536])
      expect(await opened(workbook({ a: row }, { texts }), {}, pieceBytes)).toEqual(
        csv('a@b.co,,"J. ""Doe"", \n"\n\nx,TRUE,#N/A," y"\n'),
      )
  })

  test("without the empty rows after the last filled one, which have a style alone", async () => {
    const empty = '<row><c s="1"/><c s="1"/></row>'
    const sheet = `${empty}${rowsOf([["email"], ["a@b.co"]])}${empty}<row r="7"/>${rowsOf([["c@d.co"]])}${empty.repeat(3)}<row r="40"/>`
    expect(await opened(workbook({ a: sheet }))).toEqual(csv("\nemail\na@b.co\n\n\n\n\nc@d.co\n"))
  })

  test("with numbers and dates in the format of their cells", async () => {
    const styles = `<numFmts><numFmt numFmtId="164" formatCode="dd.mm.yyyy"/><numFmt numFmtId="165" formatCode="bad[[" /></numFmts>
      <cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs>${[0, 164, 165, 14, 10, 4, 49].map(id => `<xf numFmtId="${id}"/>`).join("")}</cellXfs>`
    const cells = ["0.30000000000000004", "45000", "5", "45000.5", "0.125", "1234.5", "7"]
    const row = `<row>${cells.map((value, style) => `<c s="${style}"><v>${value}</v></c>`).join("")}<c><v>12345678901234</v></c></row>`
    const text = (first: string, second: string) => csv(`0.3,${first},5,${second},12.50%,"1,234.50",7,12345678901234\n`)
    expect(await opened(workbook({ a: row }, { styles }))).toEqual(text("15.03.2023", "2023-03-15"))
    expect(await opened(workbook({ a: row }, { styles, is1904: true }))).toEqual(text("16.03.2027", "2027-03-16"))
  })

  test("which is the first that is not hidden, or that with the name or the number", async () => {
    const book = workbook({ hidden: rowsOf([["h"]]), b: rowsOf([["a"]]), c: rowsOf([["b"]]) })
    const of = async (sheet: string | null) => await opened(book, { sheet })
    expect([await of(null), await of("c"), await of("2"), await of("3"), await of("1")]).toEqual(
      ["a", "b", "a", "b", "h"].map(text => csv(`${text}\n`)),
    )
    expect(await of("x")).toBe("has no sheet of this name or number. Its sheets are 1 `hidden`, 2 `b`, 3 `c`")
  })

  const spaces = " ".repeat(2 * MIB)
  const elements = (element: string, count: number) => element.repeat(count)
  test.each([
    ["a sheet of more rows than Excel has", workbook({ a: '<row r="1048577"/>' }), /more than 1048576 rows/],
    ["a sheet of more columns than Excel has", workbook({ a: '<row><c r="ZZZ1"/></row>' }), /more than 16384 columns/],
    [
      "rows of one cell at the end",
      workbook({ a: elements('<row><c r="XFD1"><v>1</v></c></row>', 4000) }),
      /more than 50000000 cells/,
    ],
    ["a tag that does not end", workbook({ a: `<row a="${spaces}` }), /damaged sheet/],
    ["a comment that does not end", workbook({ a: `<!--${spaces}` }), /damaged sheet/],
    ["elements that are nested without end", workbook({ a: elements("<row>", 100) }), /damaged sheet/],
    [
      "a tag with a thousand attributes",
      workbook({ a: `<row ${Array.from({ length: 1000 }, (_, at) => `a${at}="b"`).join(" ")}/>` }),
      /damaged sheet/,
    ],
    [
      "entities in entities",
      workbook(
        { a: rowsOf([["&b;"]]) },
        {},
        { "xl/sharedStrings.xml": '<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><sst/>' },
      ),
      csv("&b;\n"),
    ],
    [
      "texts of 40 MB",
      workbook({ a: "" }, { texts: elements(`<si><t>${"x".repeat(32_000)}</t></si>`, 1250) }),
      /texts of more than 33554432 bytes/,
    ],
    [
      "two million texts and one",
      workbook({ a: "" }, { texts: elements("<si/>", 2_000_001) }),
      /more than 2000000 texts/,
    ],
    [
      "styles of 9 MB",
      workbook({ a: "" }, { styles: elements("<xf/>", (9 * MIB) / 5) }),
      /part with styles of more than 8388608 bytes/,
    ],
    [
      "a workbook of 5 MB",
      workbook({ a: "" }, {}, { "xl/workbook.xml": elements("<a/>", (5 * MIB) / 4) }),
      /workbook of more than 4194304 bytes/,
    ],
    [
      "no workbook",
      workbook({ a: "" }, {}, { "_rels/.rels": '<Relationship Type="x/officeDocument" Target="word/document.xml"/>' }),
      /no .xlsx workbook/,
    ],
    ["no sheet", workbook({}), /has no sheet/],
    [
      "a formula's text that is longer than a cell",
      workbook({ a: `<row><c t="str"><v>${"x".repeat(MIB)}</v></c></row>` }),
      null,
    ],
  ])("or its bound is told: %s", async (_, book, outcome) => {
    const found = await opened(book)
    if (outcome instanceof RegExp) expect(found).toEqual(expect.stringMatching(outcome))
    else if (outcome !== null) expect(found).toEqual(outcome)
    else expect((found as { readonly text: string }).text.length).toBeLessThan(2 * 65_536)
  })
})
