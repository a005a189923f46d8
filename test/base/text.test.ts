import { expect, test } from "bun:test"
import {
  asSentence,
  decodeUtf8,
  hasAtMostCharacters,
  pairAt,
  parseJson,
  recurringEnd,
  trimSpace,
} from "../../src/base/text.ts"

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

test("the end of a text is what stands there, however many ends were asked for before", () => {
  const names = Array.from({ length: 5000 }, (_, number) => `acme.${number.toString(36)}`)
  expect([...names, ...names].filter(name => recurringEnd(name, 5) !== name.slice(5))).toEqual([])
})

test("two letters have a number, and one that is missing gives none", () => {
  expect([pairAt("ab", 0), pairAt("xab", 1)]).toEqual([0x61_0062, 0x61_0062])
  expect([pairAt("ab", -1), pairAt("ab", 1), pairAt("", 0)]).toEqual([-1, -1, -1])
})

test("a text gets a full stop, unless it ends as a sentence does", () => {
  expect(["It failed", "It failed.", "Is the port in use?", ""].map(asSentence)).toEqual([
    "It failed.",
    "It failed.",
    "Is the port in use?",
    ".",
  ])
})

test("white space at the ends is taken off: that of ASCII but U+000B, Zs, U+200B and U+FEFF, and nothing else", () => {
  const taken = Array.from({ length: 0x10000 }, (_, code) => code).filter(
    code => trimSpace(`${String.fromCharCode(code)}a b${String.fromCharCode(code)}`) === "a b",
  )
  const zs = Array.from({ length: 0x10000 }, (_, code) => code).filter(code =>
    /\p{Zs}/u.test(String.fromCharCode(code)),
  )
  expect(taken).toEqual([9, 10, 12, 13, ...zs, 0x200b, 0xfeff].toSorted((a, b) => a - b))
  expect([trimSpace(" \r\n\t\u00a0"), trimSpace("")]).toEqual(["", ""])
})

test("a length in characters counts code points, without white space at the ends", () => {
  for (const character of ["a", "é", "💩"]) {
    expect(hasAtMostCharacters(character.repeat(5), 5)).toBe(true)
    expect(hasAtMostCharacters(character.repeat(6), 5)).toBe(false)
    expect(hasAtMostCharacters(` \ufeff${character.repeat(5)}\u3000\n`, 5)).toBe(true)
    expect(hasAtMostCharacters(` ${character.repeat(6)} `, 5)).toBe(false)
  }
})
