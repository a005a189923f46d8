import { expect, test } from "bun:test"
import { domainToASCII } from "node:url"
import fc from "fast-check"
import { domainToALabels } from "../../src/base/idna.ts"

const character = fc.oneof(
  fc.integer({ min: 0x61, max: 0x7a }).map(String.fromCodePoint),
  fc.integer({ min: 0xc0, max: 0x24f }).map(String.fromCodePoint),
  fc.integer({ min: 0x300, max: 0x345 }).map(String.fromCodePoint),
  fc.integer({ min: 0x4e00, max: 0x9fff }).map(String.fromCodePoint),
  fc.integer({ min: 0x1100, max: 0x1200 }).map(String.fromCodePoint),
  fc.integer({ min: 0xff01, max: 0xffef }).map(String.fromCodePoint),
  fc.integer({ min: 0x20000, max: 0x2a6df }).map(String.fromCodePoint),
  fc.constantFrom("\u00ad", "\u200d", "\ufdfa", "ß", "ﬁ", "㎏"),
)
const label = fc.array(character, { minLength: 1, maxLength: 70 }).map(letters => letters.join(""))
const name = fc
  .array(label, { minLength: 1, maxLength: 8 })
  .chain(labels => fc.constantFrom(".", "。", "．", "｡").map(separator => labels.join(separator)))

const isDnsName = (ascii: string): boolean =>
  ascii.length <= 253 && ascii.split(".").every(part => part.length >= 1 && part.length <= 63)

test("every name that DNS can hold is converted as UTS 46 says", () => {
  fc.assert(
    fc.property(name, text => {
      const expected = domainToASCII(text)
      if (isDnsName(expected)) expect(domainToALabels(text)).toBe(expected)
    }),
    { numRuns: 2000 },
  )
  expect(domainToALabels("Müller.DE")).toBe("xn--mller-kva.de")
  // A decomposed Hangul name has three code units for each of its letters, and an invisible character none.
  expect(domainToALabels(`${"한국어메일".normalize("NFD").repeat(8)}.kr`)).toBe(
    domainToASCII(`${"한국어메일".repeat(8)}.kr`),
  )
  expect(domainToALabels(`a${"\u00ad".repeat(300)}b.com`)).toBe("ab.com")
})

test("a name that is too long, or has more combining marks in a row than any language needs, has no A-labels", () => {
  const letters = (count: number) =>
    Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + at)).join("")
  expect(domainToALabels(`${letters(64)}.com`)).toBe("")
  expect(domainToALabels(`${letters(985)}.com`)).toBe("")
  expect(domainToALabels(`${"ü".repeat(250)}.com`)).toBe("")
  expect(domainToALabels(`a${"\u00ad".repeat(1000)}.com`)).toBe("")
  expect(domainToALabels(`a${"\u0316".repeat(31)}.com`)).toBe("")
  expect(domainToALabels(`a${"\u0316".repeat(30)}.com`)).toBe(domainToASCII(`a${"\u0316".repeat(30)}.com`))
})
