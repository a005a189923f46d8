import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { LIMITS } from "../../../src/contract/limits.ts"
import { sanitizeComment } from "../../../src/customers/feedback/feedback.ts"

test.each([
  ["it is a school", "it is a school"],
  ["  two\n\tlines\r\n here ", "two lines here"],
  ["a\0b\u001b[2Jc\u009bd\u202ee", "ab[2Jcde"],
  ["half \ud800 a character", "half a character"],
  ["Zürich, 東京, 👩‍👩‍👧", "Zürich, 東京, 👩‍👩‍👧"],
  ["meet me @ noon, at home", "meet me @ noon, at home"],
  ["@example is their name", "@example is their name"],
  ["the mail arrived at example.com", "the mail arrived at example.com"],
  ["connect the dot at once", "connect the dot at once"],
  [`they say "hello" and "bye"`, `they say "hello" and "bye"`],
])("%j is kept as %j", (sent, kept) => {
  expect(sanitizeComment(sent)).toBe(kept)
})

test.each(["", " ", "\n", "\0", "\u202e"])("of %j nothing is kept", sent => {
  expect(sanitizeComment(sent)).toBeNull()
})

describe("an address loses its local part", () => {
  test.each([
    ["jane@example.com", "…@example.com"],
    ["ask jane.doe+x@example.com please", "ask …@example.com please"],
    ["<jane@example.com>", "…@example.com>"],
    ["mailto:jane@example.com?subject=x", "…@example.com?subject=x"],
    ["jane@example.com,joe@example.org", "…@…@example.org"],
    [`"jane doe"@example.com`, "…@example.com"],
    [`x "jane \\" doe @ work"@example.com`, "x …@example.com"],
    [`an "open quote, "jane doe"@example.com`, `an "open quote, …@example.com`],
    ["jane(work)@example.com", "…@example.com"],
    ["jane@localhost", "…@localhost"],
    ["jane@[192.0.2.1]", "…@[192.0.2.1]"],
    ["jane @ example.com", "…@example.com"],
    ["jane\n@example.com", "…@example.com"],
    ["jane@ example.com", "…@example.com"],
    ["ja\0ne\u200b@example.com", "…@example.com"],
    ["ja\ufeffne@example.com", "…@example.com"],
    ["jane＠example.com", "…@example.com"],
    ["jane﹫example.com", "…@example.com"],
    ["jane%40example.com", "…@example.com"],
    ["jane&#64;example.com jane&#x40;example.com jane&commat;example.com", "…@example.com …@example.com …@example.com"],
    ["jane%2540example.com jane%252540example.com", "…@example.com …@example.com"],
    ["jane&amp;#64;example.com jane\\u0040example.com", "…@example.com …@example.com"],
    ["jane ＠ 例え。jp jane @例え．jp", "…@例え。jp …@例え．jp"],
    ["jane (work) (home) @example.com", "…@example.com"],
    ["jane(at)example.com", "…@example.com"],
    ["jane [AT] example [DOT] com", "…@example.com"],
    ["jane dot doe at example dot com", "…@example.com"],
    ["jane @ example dot com", "…@example.com"],
    ["jané@bücher.example, 王@例え.jp", "…@bücher.example, …@例え.jp"],
  ])("%j is kept as %j", (sent, kept) => {
    expect(sanitizeComment(sent)).toBe(kept)
  })

  test("whatever stands around it and however long the comment is", () => {
    // With a letter that the domain does not have.
    const atoms = fc.stringMatching(/^q[a-z]{2,7}(?:[.+_-][a-z]{3,8}){0,2}$/)
    const prose = fc.string({
      unit: fc.constantFrom("X", " ", "\n", '"', "@", ".", "<", "(", "é", "\\", "💧"),
      maxLength: 30,
    })
    const signs = fc.constantFrom("@", " @ ", "＠", "%40", "(at)", " [at] ", "\0@", '"@')
    fc.assert(
      fc.property(prose, atoms, signs, prose, fc.nat(1200), (before, local, sign, after, padding) => {
        const sent = `${"y ".repeat(padding)}${before}${local}${sign}example.com${after}`
        expect(sanitizeComment(sent) ?? "").not.toContain(local)
      }),
      { numRuns: 500 },
    )
  })
})

describe("length", () => {
  const { commentLengthMax } = LIMITS

  test("a comment of the most characters there may be is kept whole, whatever they are", () => {
    for (const character of ["a", "é", "💧"]) {
      expect(sanitizeComment(character.repeat(commentLengthMax))).toBe(character.repeat(commentLengthMax))
      expect(sanitizeComment(character.repeat(commentLengthMax + 1))).toBe(character.repeat(commentLengthMax))
    }
  })

  test("a cut leaves no part of an address behind", () => {
    const sent = `${"a".repeat(commentLengthMax - 5)} zaphod@example.com`
    expect(sanitizeComment(sent)).toBe(`${"a".repeat(commentLengthMax - 5)} …@ex`)
  })

  test.each([
    "a",
    " ",
    "@",
    '"',
    '\\"',
    "a@",
    " at ",
    "a dot ",
    "(at",
    "&#0",
    "a.",
    '"a',
    "(",
    ")",
    "(a)",
    "(a) ",
    "%25",
    "&amp;",
    "\\u00",
  ])("a hundred thousand times %j is read through once", piece => {
    const kept = sanitizeComment(piece.repeat(100_000)) ?? ""
    expect([...kept].length).toBeLessThanOrEqual(commentLengthMax)
  })
})
