import { expect, test } from "bun:test"
import { utf8Text } from "../../src/base/utf8.ts"

test("octets of UTF-8 are their text without a byte order mark, and any others are null", () => {
  expect(utf8Text(new TextEncoder().encode("\uFEFFgrün"))).toBe("grün")
  expect(utf8Text(new Uint8Array())).toBe("")
  for (const octets of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0x61, 0xc0, 0xaf]])
    expect(utf8Text(Uint8Array.from(octets))).toBeNull()
})
