import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { parseAddressOrDomain } from "../../../src/check/address/parse-subject.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { type EntryTextFormat, LINES_MAX, parseEntries } from "../../../src/customers/own-lists/entries.ts"

const read = (text: string, form: EntryTextFormat = "pasted", faultsMax = 10) =>
  parseEntries(text, form, parseAddressOrDomain, faultsMax, () => undefined)

async function kept(text: string, form: EntryTextFormat = "pasted"): Promise<readonly string[]> {
  const lines = await read(text, form)
  return lines.kind === "read" ? lines.entries.map(entry => entry.storedText) : [lines.kind]
}

async function faults(text: string, form: EntryTextFormat = "pasted") {
  const lines = await read(text, form)
  return lines.kind === "faulty" ? lines.faults.map(({ line, excerpt }) => [line, excerpt]) : lines.kind
}

const HASH = "a".repeat(64)

describe("pasted text", () => {
  test.each([
    ["a.com\nb.com", ["a.com", "b.com"]],
    ["a.com\r\nb.com\rc.com\u2028d.com", ["a.com", "b.com", "c.com", "d.com"]],
    ["a.com, b.com;c.com,", ["a.com", "b.com", "c.com"]],
    ["\uFEFFa.com\n\n   \n\t*.b.com  ", ["a.com", "*.b.com"]],
    ["# heading\na.com # why\n  # more\n#b.com", ["a.com"]],
    ["Bücher.example", ["xn--bcher-kva.example"]],
    [`sha256:${HASH}@a.com`, [`sha256:${HASH}@a.com`]],
    [".a.com\n@b.com\nc.com,\n<d.com>", ["a.com", "b.com", "c.com", "d.com"]],
    ["127.0.0.1 localhost\n0.0.0.0 a.com b.com # c\n::1\tc.com\n0.0.0.0 0.0.0.0", ["a.com", "b.com", "c.com"]],
    [
      "[Adblock Plus 2.0]\n! Title: x, y\n!\n||a.com^\n||b.com^$third-party,popup\n||c.com",
      ["a.com", "b.com", "c.com"],
    ],
    ["", []],
    [",;,\n;", []],
  ])("%j names %j", async (text, expected) => {
    expect(await kept(text)).toEqual(expected)
  })

  test("an address may have the sign of comments, where no space stands before it", async () => {
    const [entry = ""] = await kept("a#b@acme.com")
    expect(entry).toEndWith("@acme.com")
    expect(entry).toBe((await kept("A#B@acme.com # a comment, with commas"))[0] ?? "")
  })

  test("what is no entry is told by its line, however many lines before it were blank", async () => {
    expect(await faults("\r\n\r\n# c\r\na.com, bad\nhttps://x.com/\n")).toEqual([
      [4, "bad"],
      [5, "https://x.com/"],
    ])
  })

  test("a rule of an ad blocker that is no name is told whole", async () => {
    const rules = ["@@||a.com^", "||a.com/x", "||a.com^$domain=b.com,c", "/^temp[0-9]+$/", "two words.com"]
    expect(await faults(rules.join("\n"))).toEqual(rules.map((rule, at) => [at + 1, rule]))
  })

  test("what cannot be seen is shown, and long texts are cut between characters", async () => {
    expect(await faults("a\u202Eb\u200B\u0000")).toEqual([[1, "a\uFFFDb\uFFFD\uFFFD"]])
    expect(await faults("😀".repeat(81))).toEqual([[1, `${"😀".repeat(80)}…`]])
    expect(await faults("😀".repeat(80))).toEqual([[1, "😀".repeat(80)]])
  })

  test("so many faults are told as was asked for, and all are counted", async () => {
    const lines = await read("x\n".repeat(22), "pasted", 10)
    expect(lines).toMatchObject({ kind: "faulty", faultCount: 22 })
    expect(lines.kind === "faulty" && lines.faults).toHaveLength(10)
  })
})

describe("a table", () => {
  test.each([
    ["Email,Name\na.com,A Inc\n", ["a.com"]],
    ["\uFEFFE-Mail Address;Name\r\na.com;A\r\n", ["a.com"]],
    ['"a.com","x,y"\n"b.com"\n', ["a.com", "b.com"]],
    ["a.com\tA\nb.com\tB", ["a.com", "b.com"]],
    [",x\na.com", ["a.com"]],
    ["a.com\nheading", ["faulty"]],
    ["\n# c\n\nheading\na.com", ["a.com"]],
    ["heading\nheading\na.com", ["faulty"]],
  ])("%j names %j: the first column, without a heading", async (text, expected) => {
    expect(await kept(text, "table")).toEqual(expected)
  })

  test("a cell's quotes are those of RFC 4180", async () => {
    expect((await kept('"""a,b""@acme.com",x', "table"))[0]).toEndWith("@acme.com")
    expect(await faults('x.com\n"a.com', "table")).toEqual([[2, '"a.com']])
  })
})

describe("bounds", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.example`).join("\n")

  test(`${LIMITS.ownListEntriesMax} entries are read, and not one more, be they repeated or faulty`, async () => {
    const most = await read(lines(LIMITS.ownListEntriesMax))
    expect(most.kind === "read" && most.entries).toHaveLength(LIMITS.ownListEntriesMax)
    expect(await read(lines(LIMITS.ownListEntriesMax + 1))).toEqual({ kind: "too_many" })
    expect(await read("a,".repeat(2_000_000))).toEqual({ kind: "too_many" })
    expect(await read("a.com,".repeat(LIMITS.ownListEntriesMax + 1))).toEqual({ kind: "too_many" })
  })

  test("blank lines and pieces count too, far beyond the entries", async () => {
    const blank = async (count: number, sign: string) => (await read(sign.repeat(count))).kind
    expect([await blank(LINES_MAX - 1, "\n"), await blank(LINES_MAX, "\n")]).toEqual(["read", "too_many"])
    expect([await blank(LINES_MAX - 1, ","), await blank(LINES_MAX, ",")]).toEqual(["read", "too_many"])
    expect(await blank(LINES_MAX / 2 - 1, ",\n")).toBe("read")
    expect(await blank(LINES_MAX / 2, ",\n")).toBe("too_many")
    expect(await blank(LINES_MAX, "# c\n")).toBe("too_many")
  })

  test("so many of the longest fit into the form", async () => {
    const label = "a".repeat(63)
    const domain = `${label}.${label}.${label}.${"a".repeat(61)}`
    const longest = `sha256:${HASH}@${domain}`
    expect(await kept(longest)).toEqual([longest])
    expect((longest.length + 2) * LIMITS.ownListEntriesMax).toBeLessThan(LIMITS.ownListFormBytesMax)
  })

  test("no text makes it throw, and each fault's line is one of the text's", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary" }),
        fc.constantFrom<EntryTextFormat>("pasted", "table"),
        async (text, form) => {
          const lines = await read(text, form)
          if (lines.kind !== "faulty") return
          const lineCount = text.split(/\r\n|[\r\n\u2028\u2029]/).length
          for (const { line } of lines.faults) expect(line >= 1 && line <= lineCount).toBe(true)
        },
      ),
    )
  })

  test("each entry is followed by a pause, and so is each stretch without any, so that other requests have their turn", async () => {
    const pausesOf = async (text: string) => {
      let pauses = 0
      await parseEntries(text, "pasted", parseAddressOrDomain, 10, () => void pauses++)
      return pauses
    }
    expect(await pausesOf(lines(500))).toBe(500)
    expect(await pausesOf("x\n".repeat(500))).toBe(500)
    for (const text of [" ", "a", "#", "\n", ","])
      expect(await pausesOf(text.repeat(99_000))).toBeGreaterThanOrEqual(Math.floor(99_000 / 16_384))
  })

  test("whatever stands in pasted text, its entries are the parts between line ends, commas and semicolons, without comments", async () => {
    const plainly = (text: string) =>
      text
        .split(/\r\n|[\r\n\u2028\u2029]/)
        .flatMap(line => line.replace(/(?:^|\s)#.*$/s, "").split(/[,;]/))
        .filter(piece => piece.trim() !== "").length
    const unit = fc.constantFrom("\n", "\r", "\u2028", ",", ";", "#", " ", "\t", "\u00a0", "x")
    await fc.assert(
      fc.asyncProperty(fc.string({ unit, maxLength: 30 }), async text => {
        const found = await read(text)
        expect(found.kind === "faulty" ? found.faultCount : 0).toBe(plainly(text))
      }),
      { numRuns: 1000 },
    )
  })
})
