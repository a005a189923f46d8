import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { generateCode, parseTypedCode } from "../../../src/customers/sign-in/secrets.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { random } from "../temp-store.ts"

/** A random source that draws these numbers of 32 bits, one after another. */
function drawing(...numbers: readonly number[]) {
  const left = [...numbers]
  return () => {
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setUint32(0, left.shift() ?? 0)
    return bytes
  }
}

describe("a new code", () => {
  test("is six digits, with its zeros in front", () => {
    expect(generateCode(drawing(0))).toBe("000000")
    expect(generateCode(drawing(1_000_042))).toBe("000042")
    expect(generateCode(drawing(999_999))).toBe("999999")
    for (let time = 0; time < 1000; time++) expect(generateCode(random)).toMatch(/^[0-9]{6}$/)
  })

  test("is drawn again where the end of 32 bits would make some codes come more often", () => {
    expect(generateCode(drawing(4_293_999_999))).toBe("999999")
    expect(generateCode(drawing(4_294_000_000, 7))).toBe("000007")
    expect(generateCode(drawing(2 ** 32 - 1, 4_294_000_000, 8))).toBe("000008")
  })

  test("is not made of a source that gives nothing usable", async () => {
    const stuck = () => new Uint8Array(4).fill(255)
    expect(await outcomeOf(Promise.resolve().then(() => generateCode(stuck)))).toThrow("usable draws")
  })
})

describe("a code that was typed", () => {
  test("may have spaces and hyphens in it, and wide digits", () => {
    for (const text of [
      "123456",
      "123 456",
      " 1 2 3 4 5 6 ",
      "123-456",
      "123–456",
      "123\u00a0456",
      "１２３４５６",
      "123\t456",
    ])
      expect(parseTypedCode(text)).toBe("123456")
    expect(parseTypedCode("000 000")).toBe("000000")
  })

  test("is none when anything else stands in it, or more or fewer digits", () => {
    for (const text of [
      ...["", "12345", "1234567", "12345a", "123.456", "+123456", "0x1234", "1e5000", "123456\0", "12345６7"],
      ...["١٢٣٤٥٦", "१२३४५६", "①②③④⑤", "null", "[object Object]", "1".repeat(100_000), " ".repeat(33)],
    ])
      expect(parseTypedCode(text)).toBeNull()
  })

  test("is read wherever spaces stand between its digits", () => {
    const gaps = fc.array(fc.constantFrom("", " ", "\u00a0", "-", "\u2009"), { minLength: 7, maxLength: 7 })
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{6}$/), gaps, (code, [first = "", ...rest]) => {
        expect(parseTypedCode(first + [...code].map((digit, at) => digit + (rest[at] ?? "")).join(""))).toBe(code)
      }),
    )
  })
})
