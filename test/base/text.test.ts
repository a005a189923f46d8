import { expect, test } from "bun:test"
import { asSentence, decodeUtf8, parseJson } from "../../src/base/text.ts"

test("a JSON text is what it says, also null, and any other text is undefined", () => {
  expect([parseJson("null"), parseJson('{"a":[1]}'), parseJson(' "x" ')]).toEqual([null, { a: [1] }, "x"])
  for (const text of ["", "{", "undefined", "{'a':1}", "1 2"]) expect(parseJson(text)).toBeUndefined()
})

test("octets of UTF-8 are their text without a byte order mark, and any others are null", () => {
  expect(decodeUtf8(new TextEncoder().encode("\uFEFFgrün"))).toBe("grün")
  expect(decodeUtf8(new Uint8Array())).toBe("")
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0x61, 0xc0, 0xaf]])
    expect(decodeUtf8(Uint8Array.from(bytes))).toBeNull()
})

test("a text gets a full stop, unless it ends as a sentence does", () => {
  expect(["It failed", "It failed.", "Is the port in use?", ""].map(asSentence)).toEqual([
    "It failed.",
    "It failed.",
    "Is the port in use?",
    ".",
  ])
})
