import { expect, test } from "bun:test"
import fc from "fast-check"
import { ownMember, sanitizeText } from "../../src/base/untrusted-text.ts"

test("control and format characters are removed everywhere in a text", () => {
  expect(sanitizeText("\u0000E\u001b[31mU\r\n\u009b", 32)).toBe("E[31mU")
  expect(sanitizeText("E\u202eU\u200b\u2028\ufeff", 32)).toBe("EU")
})

test("a lone surrogate is removed, and a pair is one character", () => {
  expect(sanitizeText("a\ud83d", 32)).toBe("a")
  expect(sanitizeText("a😀b", 2)).toBe("a😀")
})

test("a text is truncated to the greatest length", () => {
  expect(sanitizeText("a".repeat(32), 32)).toBe("a".repeat(32))
  expect(sanitizeText("a".repeat(33), 32)).toBe("a".repeat(32))
})

test("a value that is no string, and a text with nothing left, are null", () => {
  for (const value of [undefined, null, 7, true, {}, ["EU"], "", " \t\n", "\u0000\u200b"]) {
    expect(sanitizeText(value, 32)).toBeNull()
  }
})

test("any sanitized text is short, well formed, trimmed and without control characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), text => {
      const left = sanitizeText(text, 32)
      if (left === null) return
      expect([...left].length).toBeLessThanOrEqual(32)
      expect(left).toMatch(/^\S(?:.*\S)?$/u)
      expect(left).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect(left.isWellFormed()).toBe(true)
    }),
  )
})

test("only a JSON object's own members are found", () => {
  expect(ownMember(JSON.parse('{"a":1,"__proto__":2}'), "a")).toBe(1)
  expect(ownMember(JSON.parse('{"__proto__":2}'), "__proto__")).toBe(2)
  for (const json of [null, "text", 7, [], {}]) {
    expect(ownMember(json, "toString")).toBeUndefined()
    expect(ownMember(json, "a")).toBeUndefined()
  }
})
