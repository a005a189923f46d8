import { expect, test } from "bun:test"
import { exceedsUtf8Bytes, hasControlCharacter } from "../../src/base/text.ts"

test("C0, DEL and C1 are control characters, and adjacent characters are not", () => {
  for (const code of [0, 9, 10, 27, 31, 127, 128, 133, 159])
    expect(hasControlCharacter(`a${String.fromCharCode(code)}b`)).toBe(true)
  for (const code of [32, 126, 160, 0x2028, 0x200b, 0xfeff, 0xd800]) {
    expect(hasControlCharacter(`a${String.fromCharCode(code)}b`)).toBe(false)
  }
})

test("bytes are counted in UTF-8", () => {
  expect(exceedsUtf8Bytes("aaaa", 4)).toBe(false)
  expect(exceedsUtf8Bytes("aaaaa", 4)).toBe(true)
  expect(exceedsUtf8Bytes("éé", 4)).toBe(false)
  expect(exceedsUtf8Bytes("ééa", 4)).toBe(true)
  expect(exceedsUtf8Bytes("💩", 4)).toBe(false)
  expect(exceedsUtf8Bytes("💩", 3)).toBe(true)
  expect(exceedsUtf8Bytes("日本", 6)).toBe(false)
  expect(exceedsUtf8Bytes("日本", 5)).toBe(true)
  expect(exceedsUtf8Bytes("", 0)).toBe(false)
})
