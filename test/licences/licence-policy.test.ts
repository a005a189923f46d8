import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { allowedLicences } from "../../scripts/licences/inventory-scan.ts"

describe("an expression of licences", () => {
  test.each([
    ["MIT", ["MIT"]],
    ["(MIT OR CC0-1.0)", ["MIT"]],
    ["(AFL-2.1 OR BSD-3-Clause)", ["BSD-3-Clause"]],
    ["MIT AND ISC", ["MIT", "ISC"]],
    ["GPL-3.0-only OR MIT AND ISC", ["MIT", "ISC"]],
  ])("%s is taken by %j", (expression, expected) => {
    expect<readonly string[] | null>(allowedLicences(expression)).toEqual(expected)
  })

  test.each([
    "",
    "GPL-3.0-only",
    "MIT AND GPL-3.0-only",
    "AGPL-3.0-only OR SSPL-1.0",
    "UNLICENSED",
    "SEE LICENSE IN LICENSE.md",
    "Apache-2.0 WITH LLVM-exception",
    "MIT OR",
    "MIT AND (GPL-3.0-only OR ISC)",
    "((MIT))",
    "(MIT OR GPL-3.0-only) AND (GPL-3.0-only)",
    "(MIT",
    "MIT)",
    "MIT ISC",
    "AND",
    "mit",
    "LGPL-2.1-or-later",
    "constructor",
  ])("%j is taken by none", expression => {
    expect(allowedLicences(expression)).toBeNull()
  })

  test("no text makes it throw, and what it chooses stands in the text", () => {
    const word = fc.constantFrom("MIT", "ISC", "GPL-3.0-only", "AND", "OR", "WITH", "(", ")", "é")
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words: readonly string[]) => {
        for (const id of allowedLicences(words.join(" ")) ?? []) expect(words).toContain(id)
      }),
    )
  })
})
