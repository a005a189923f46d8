import { describe, expect, test } from "bun:test"
import { gzipSync } from "node:zlib"
import { categoriesOf, classifying, inputsOf, linesOf } from "./classifying.ts"

const TEXT = "jane@gmail.com\nrené@mailinator.com\nlast@gmail.com\n"
const utf16 = (text: string) => Buffer.from(text, "utf16le")

describe("encodings", () => {
  test.each([
    ["UTF-16 with its mark", utf16(`\ufeff${TEXT}`), []],
    ["UTF-16 without its mark", utf16(TEXT), []],
    ["big-endian UTF-16 with its mark", utf16(`\ufeff${TEXT}`).swap16(), []],
    ["big-endian UTF-16", utf16(TEXT).swap16(), []],
    ["named UTF-16", utf16(TEXT), ["--encoding", "utf-16le"]],
    ["UTF-16 of either order by its mark", utf16(`\ufeff${TEXT}`).swap16(), ["--encoding", "UTF-16"]],
    ["named big-endian UTF-16", utf16(TEXT).swap16(), ["--encoding", "utf-16be"]],
    ["Latin-1", Buffer.from(TEXT, "latin1"), ["--encoding", "latin1"]],
    ["Windows", Buffer.from(TEXT, "latin1"), ["--encoding", "Windows-1252"]],
    ["UTF-8 with its mark", Buffer.from(`\ufeff${TEXT}`), ["--encoding", "utf8"]],
    ["gzip", gzipSync(TEXT), []],
    ["gzip in several members", Buffer.concat([gzipSync(TEXT.slice(0, 20)), gzipSync(TEXT.slice(20))]), []],
    ["UTF-16 in gzip", gzipSync(utf16(`\ufeff${TEXT}`)), []],
    ["carriage returns", Buffer.from(TEXT.replaceAll("\n", "\r")), []],
    ["carriage returns without the last", Buffer.from(TEXT.replaceAll("\n", "\r").slice(0, -1)), []],
    ["carriage returns in UTF-16", utf16(`\ufeff${TEXT.replaceAll("\n", "\r")}`), []],
  ] as const)("%s is read, in however small parts it comes", async (_, bytes, options) => {
    for (const partBytes of [1, 7, 65_536]) {
      const { run } = classifying({ "-": bytes }, { partBytes })
      const { code, answered, err } = await run("-", ...options)
      expect({ code, inputs: inputsOf(answered), err }).toMatchObject({ code: 0, inputs: linesOf(TEXT) })
    }
  })

  test("that no one knows, or that the file contradicts, are a sentence", async () => {
    const { run } = classifying({ in: utf16(`\ufeff${TEXT}`) })
    expect(await run("in", "--encoding", "klingon")).toMatchObject({ code: 2, answered: "" })
    expect((await run("in", "--encoding", "klingon")).err).toContain("windows-1252")
    expect((await run("in", "--encoding", "utf-8")).err).toContain("Name utf-16le")
    expect((await run("in", "--encoding", "windows-1252")).err).toContain("Name utf-16le")
    const utf8 = classifying({ in: TEXT, marked: `\ufeff${TEXT}`, utf32: utf16(`\ufeff\0${TEXT}`) })
    expect((await utf8.run("in", "--encoding", "utf-16")).err).toContain("is not UTF-16LE")
    expect((await utf8.run("marked", "--encoding", "latin1")).err).toContain("Name utf-8")
    expect((await utf8.run("utf32")).err).toContain("is UTF-32")
  })

  test("UTF-16 that shows its byte order is read, whichever order is named", async () => {
    const { run } = classifying({ in: utf16(TEXT).swap16() })
    expect(inputsOf((await run("in", "--encoding", "utf-16le")).answered)).toEqual(linesOf(TEXT))
  })

  test("a cell that is wrong in the encoding is told in the summary, and its row is checked", async () => {
    const { run } = classifying({ "in.csv": Buffer.from("email,name\na@gmail.com,Joe\nb@gmail.com,René\n", "latin1") })
    const { code, err } = await run("in.csv", "--encoding", "utf-8")
    expect(code).toBe(0)
    expect(err).toContain("1 row has bytes that are wrong in the encoding of the file")
    expect(err).toContain("the first is row 2. --encoding names another encoding")
    for (const options of [[], ["--encoding", "latin1"]])
      expect((await run("in.csv", ...options)).err).not.toContain("wrong")
  })

  test("bytes that are wrong in the encoding cost their line", async () => {
    const { run } = classifying({ in: Buffer.from(TEXT, "latin1") })
    const { answered, err } = await run("in", "--encoding", "utf-8")
    expect(categoriesOf(answered)).toEqual(["personal", "invalid", "personal"])
    expect(err).toContain("1 row could not be read and is invalid; the first is row 2, with bytes that are wrong")
  })
})

describe("gzip", () => {
  test("that is cut or damaged ends the run with a sentence, after the results that could be read", async () => {
    const many = "jane@gmail.com\n".repeat(20_000)
    const packed = gzipSync(many, { level: 0 })
    const damaged = Buffer.from(packed)
    damaged[200_000] = 0xff
    for (const [bytes, says] of [
      [packed.subarray(0, 200_000), "ends in the middle of its gzip data"],
      [damaged, "damaged gzip data"],
    ] as const) {
      const { run, textOf } = classifying({ in: bytes })
      const { code, err } = await run("in", "--out", "out")
      expect(code).toBe(1)
      expect(err).toContain(says)
      const results = linesOf(textOf("out") ?? "")
      expect(results.length).toBeGreaterThan(10_000)
      expect(results.every(line => line.split("\t").length === 5)).toBe(true)
    }
  })

  test("in a name shows the format before it", async () => {
    const { run } = classifying({ "in.CSV.gz": gzipSync("name,email\nx,a@gmail.com\n") })
    expect(linesOf((await run("in.CSV.gz")).answered)[1]).toStartWith("x,a@gmail.com,personal,")
  })
})

test("bytes that are no text are refused, and a text with a few control characters is not", async () => {
  const bytes = Uint8Array.from({ length: 4096 }, (_, at) => (at * 7919 + (at >> 3)) % 256)
  const { run } = classifying({ bytes, text: `a\u0001b\n${"jane@gmail.com\n".repeat(20)}` })
  expect(await run("bytes")).toMatchObject({ code: 1, answered: "" })
  expect((await run("bytes")).err).toContain("is not text")
  expect((await run("text")).code).toBe(0)
})

describe("csv", () => {
  const row = async (text: string, ...options: string[]) => {
    const { run } = classifying({ "in.csv": text })
    const { code, answered, err } = await run("in.csv", ...options)
    return { code, lines: linesOf(answered), err }
  }

  test("a delimiter may be named, is detected, or stands in the first line; the results have the same", async () => {
    for (const [text, delimiter, ...options] of [
      ["a:email\nx,y:a@gmail.com\n", ":", "--delimiter", ":"],
      ["a|email\nx,y|a@gmail.com\n", "|"],
      ["a,b\temail\nx,y\ta@gmail.com\n", "\t", "--delimiter", "tab"],
      ["a,b\temail\nx,y\ta@gmail.com\n", "\t", "--delimiter", "\\t"],
      ["sep=;\na,b;email\r\nx,y;a@gmail.com\n", ";"],
      ['"sep=^"\r\na,b^email\nx,y^a@gmail.com\n', "^"],
    ] as const) {
      const { lines } = await row(text, ...options)
      expect(lines.at(-2)).toContain(`${delimiter}email${delimiter}category${delimiter}`)
      expect(lines.at(-1)).toStartWith(`"x,y"${delimiter}a@gmail.com${delimiter}personal${delimiter}`)
    }
    const { run } = classifying({ "in.tsv": "a,b\temail\nx\ta@gmail.com\n" })
    expect(linesOf((await run("in.tsv")).answered)[1]).toStartWith("x\ta@gmail.com\tpersonal\t")
  })

  test("a cell with the named delimiter keeps its quotes", async () => {
    const { lines } = await row('n:email\n"x:y":a@gmail.com\n', "--delimiter", ":")
    expect(lines[1]).toStartWith('"x:y":a@gmail.com:personal')
  })

  test("without a header every line is a row, and the results have none either", async () => {
    const two = "1,a@gmail.com\n2,b@mailinator.com\n"
    for (const options of [[], ["--column", "2"]]) {
      const { code, lines } = await row(two, "--no-header", ...options)
      expect(code).toBe(0)
      expect(lines.map(line => line.split(",").slice(0, 3))).toEqual([
        ["1", "a@gmail.com", "personal"],
        ["2", "b@mailinator.com", "disposable"],
      ])
    }
    // A column alone has a name in the results.
    const { lines } = await row("contact\na@gmail.com\n", "--no-header")
    expect(lines.map(line => line.split(",").slice(0, 2))).toEqual([
      ["input", "category"],
      ["contact", "invalid"],
      ["a@gmail.com", "personal"],
    ])
    expect((await row(two, "--no-header", "--column", "email")).err).toContain("a number from 1 to 2")
    expect((await row(two, "--no-header", "--column", "3")).code).toBe(2)
    expect((await row("a@b.com,c@d.com\n", "--no-header")).err).toContain(
      "2 columns have addresses: 1, 2. Choose one with --column.",
    )
  })

  test("options of csv are a wrong use with other formats", async () => {
    const { run } = classifying({ in: "a\n" })
    for (const options of [["--delimiter", ";"], ["--no-header"], ["--column", "1"]])
      expect(await run("in", "--format", "text", ...options)).toMatchObject({ code: 2, answered: "" })
    for (const delimiter of ["", "ab", '"', "\n"])
      expect((await run("in", "--format", "csv", "--delimiter", delimiter)).code).toBe(2)
  })

  test("a run without a header, and one with a named delimiter, go on where they were cut", async () => {
    const text = Array.from({ length: 30 }, (_, at) => `${at}:a${at}@gmail.com\n`).join("")
    const options = ["--no-header", "--delimiter", ":"]
    const first = classifying({ "in.csv": text })
    await first.run("in.csv", "--out", "out", ...options)
    const whole = first.textOf("out") ?? ""
    for (const cut of [0, 5, 100, 700]) {
      const { run, textOf } = classifying({ "in.csv": text, out: whole.slice(0, cut) })
      expect((await run("in.csv", "--out", "out", "--resume", ...options)).code).toBe(0)
      expect(textOf("out")).toBe(whole)
    }
  })
})

describe("ndjson", () => {
  const resultsOf = async (text: string, ...options: string[]) => {
    const { run } = classifying({ "in.ndjson": text })
    return linesOf((await run("in.ndjson", ...options)).answered)
  }

  test("the members of a line stand before the result, as they were written", async () => {
    const [line = ""] = await resultsOf(
      '{"id": 12345678901234567890, "email" : "jane@gmail.com", "tags":["a,}\\"",{"b":1.0}], "name":"O\\u00e9"}\r\n',
    )
    expect(line).toStartWith(
      '{"id":12345678901234567890,"tags":["a,}\\"",{"b":1.0}],"name":"O\\u00e9","email":"jane@gmail.com",',
    )
    expect(JSON.parse(line)).toMatchObject({ category: "personal", request_id: "line_1" })
  })

  test("a member whose name the result has is kept under another", async () => {
    const [line = ""] = await resultsOf(
      '{"email":"jane@gmail.com","category":"lead","input_category":1,"domain":"x.org","request_id":"r"}\n',
    )
    expect(JSON.parse(line)).toMatchObject({
      email: "jane@gmail.com",
      category: "personal",
      input_input_category: "lead",
      input_category: 1,
      domain: "gmail.com",
      input_domain: "x.org",
      input_request_id: "r",
      request_id: "line_1",
    })
    const keys = [...line.matchAll(/"(\w+)":/g)].map(([, key]) => key)
    expect(keys.filter(key => key === "email")).toHaveLength(1)
  })

  test("a line that cannot be read says why, and a wrong address does not", async () => {
    const lines = [
      '{"email":"no-address"}',
      "{broken",
      '{"id":7}',
      '["a"]',
      `"${"x".repeat(70_000)}"`,
      '{"email":5,"id":8}',
    ]
    const results = (await resultsOf(`${lines.join("\n")}\n`, "--force")).map(line => JSON.parse(line))
    expect(results.every(({ category }) => category === "invalid")).toBe(true)
    expect(results.map(({ line_error }) => line_error)).toEqual([
      undefined,
      "not_json",
      "no_input",
      "no_input",
      "too_long",
      "no_input",
    ])
    expect(results[2]).toMatchObject({ id: 7 })
  })

  test("the summary counts lines that cannot be read and names the first", async () => {
    const { run } = classifying({ "in.ndjson": '{"email":"a@b"}\n{x\n{"id":1}\n' })
    const { err } = await run("in.ndjson")
    expect(err).toContain("2 rows could not be read and are invalid; the first is row 2, not valid JSON")
    expect(JSON.parse((await run("in.ndjson", "--json")).err)).toMatchObject({
      unreadable: { rows: 2, first: 2, because: "not_json" },
    })
  })

  test("a run goes on after lines with members", async () => {
    const text = Array.from({ length: 10 }, (_, at) => `{"n":${at},"email":"a${at}@gmail.com","domain":"y"}\n`).join("")
    const whole = (await resultsOf(text)).map(line => `${line}\n`).join("")
    for (const cut of [0, 3, 40, 1_000, whole.length - 1]) {
      const { run, textOf } = classifying({ "in.ndjson": text, out: whole.slice(0, cut) })
      expect((await run("in.ndjson", "--out", "out", "--resume")).code).toBe(0)
      expect(textOf("out")).toBe(whole)
    }
  })
})
