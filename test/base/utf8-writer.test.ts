import { expect, test } from "bun:test"
import { Utf8Writer } from "../../src/base/utf8-writer.ts"

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const textOf = (to: Utf8Writer): string | null => {
  const bytes = to.written()
  return bytes === null ? null : decoder.decode(bytes)
}

/** Every unit up to U+00FF alone and within others, what takes more octets than units, and what is too long to be looked at. */
const TEXTS = [
  "",
  "plain",
  ...Array.from({ length: 256 }, (_, code) => `a${String.fromCharCode(code)}b`),
  "bücher 中文 😀 \u2028",
  "x".repeat(64),
  "x".repeat(65),
  `${"x".repeat(200)}é"`,
]

test("what is written is what UTF-8 is of the texts, one after the other", () => {
  const to = new Utf8Writer(10_000)
  to.reset()
  for (const text of TEXTS) to.text(text)
  to.bytes(new Uint8Array([0x2e, 0x0a]))
  expect(textOf(to)).toBe(`${TEXTS.join("")}.\n`)
})

test("a JSON string is the one that JSON.stringify gives, a lone surrogate included", () => {
  for (const text of [...TEXTS, "\ud800", "a\udc00b"]) {
    const to = new Utf8Writer(1000)
    to.reset()
    to.jsonString(text)
    expect(textOf(to)).toBe(JSON.stringify(text))
  }
})

test("what has no room is not written in part, and what begins anew has all the room again", () => {
  const to = new Utf8Writer(10)
  for (const put of [
    () => to.text("x".repeat(11)),
    () => to.text("é".repeat(6)),
    () => to.jsonString("x".repeat(9)),
    () => to.jsonString('""""'),
    () => to.bytes(new Uint8Array(11)),
  ]) {
    to.reset()
    put()
    to.text("y")
    expect(to.written()).toBeNull()
    to.reset()
    to.jsonString("x".repeat(8))
    expect(textOf(to)).toBe(`"${"x".repeat(8)}"`)
  }
})
