import { expect, test } from "bun:test"
import fc from "fast-check"
import { type InputLine, LINE_BYTES_MAX, splitLines } from "../../src/rows/line-splitter.ts"
import { type Block, RecordCutter } from "../../src/rows/record-cutter.ts"

/** The lines of parts, each of which is wiped when it was taken, as memory that is read into again is. */
function linesIn(...parts: readonly Uint8Array[]): InputLine[] {
  const cutter = new RecordCutter({ format: "text", delimiter: ",", skippedLines: 0 })
  const blocks: (Block | null)[] = []
  for (const part of parts) {
    const lent = new Uint8Array(part)
    blocks.push(...cutter.push(lent))
    lent.fill(120)
  }
  blocks.push(...cutter.end())
  return blocks.filter(block => block !== null).flatMap(({ bytes }) => splitLines(bytes))
}

const texts = (lines: readonly InputLine[]): string[] => lines.map(({ text }) => text)

test("lines are the same wherever their bytes are cut", () => {
  const bytes = Buffer.from("jané@gmail.com\r\n\n\u0000日本.jp\nlast")
  const whole = linesIn(bytes)
  expect(texts(whole)).toEqual(["jané@gmail.com\r", "", "\u0000日本.jp", "last"])
  for (let first = 0; first <= bytes.length; first++)
    for (let second = first; second <= bytes.length; second++) {
      const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)]
      expect(linesIn(...parts)).toEqual(whole)
    }
})

test("lines joined by line feeds are the text again", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" }).map(text => text.replaceAll("\n", ""))), lines => {
      const text = lines.map(line => `x${line}\n`).join("")
      expect(texts(linesIn(Buffer.from(text)))).toEqual(lines.map(line => `x${line}`))
    }),
  )
})

test("a file without lines has none, and a line feed ends a line and begins none", () => {
  expect(linesIn()).toEqual([])
  expect(texts(linesIn(Buffer.from("\n")))).toEqual([""])
  expect(texts(linesIn(Buffer.from("a\n")))).toEqual(["a"])
})

test("a line one byte over the bound is too long, in one part or in many, and the next line is whole", () => {
  const lines = (length: number) => Buffer.from(`${"a".repeat(length)}\nnext`)
  for (const cut of [0, 1, LINE_BYTES_MAX, LINE_BYTES_MAX + 1]) {
    for (const [length, isTooLong] of [
      [LINE_BYTES_MAX, false],
      [LINE_BYTES_MAX + 1, true],
      [LINE_BYTES_MAX * 3, true],
    ] as const) {
      const bytes = lines(length)
      const [long, next] = linesIn(bytes.subarray(0, cut), bytes.subarray(cut))
      expect(long?.isTooLong).toBe(isTooLong)
      expect(long?.text.length).toBe(isTooLong ? 256 : length)
      expect(next).toEqual({ text: "next", isTooLong: false })
    }
  }
})

test("bytes that are no UTF-8 are replaced within their line", () => {
  expect(texts(linesIn(Buffer.from([0x61, 0xff, 0x0a, 0x62, 0xc3, 0x0a, 0x63])))).toEqual(["a\ufffd", "b\ufffd", "c"])
})
