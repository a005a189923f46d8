import { expect, test } from "bun:test"
import { parseLocalPart } from "../../../src/check/address/parse-email.ts"

const textOf = (sent: string) => parseLocalPart(sent)?.text ?? null

test("a dot-atom is lower-cased, composed, and otherwise kept", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["jane", "jane"],
    ["Jane.DOE", "jane.doe"],
    ["j", "j"],
    ["1", "1"],
    ["a.b.c.d", "a.b.c.d"],
    ["_", "_"],
    ["-", "-"],
    ["!#$%&'*/=?^_`{|}~-", "!#$%&'*/=?^_`{|}~-"],
    ["Jürgen", "jürgen"],
    ["Ju\u0308rgen", "jürgen"],
    ["ΟΔΟΣ", "οδος"],
    ["İ", "i̇"],
    ["\u212a", "k"],
    ["用户", "用户"],
    ["💩", "💩"],
    ["पता", "पता"],
  ]
  for (const [sent, text] of cases) expect([sent, parseLocalPart(sent)]).toEqual([sent, { text, tagged: null }])
})

test("the tag goes from the first + to the end, unless the local part starts with one", () => {
  const cases: readonly (readonly [string, string, string | null])[] = [
    ["jane+news", "jane", "jane+news"],
    ["jane+", "jane", "jane+"],
    ["jane+a+b", "jane", "jane+a+b"],
    ["jane+a.b", "jane", "jane+a.b"],
    ["j.doe+x", "j.doe", "j.doe+x"],
    ['"jane+news"', "jane", "jane+news"],
    ["jane+\u037e", "jane", '"jane+;"'],
    ['"jane+a b"', "jane", '"jane+a b"'],
    ['"jane+.."', "jane", '"jane+.."'],
    ['"jane+@,\\""', "jane", '"jane+@,\\""'],
    ["+jane", "+jane", null],
    ["+jane+news", "+jane+news", null],
    ["+", "+", null],
    ["jane-news", "jane-news", null],
    ['"jane doe+news"', '"jane doe+news"', null],
  ]
  for (const [sent, text, tagged] of cases) expect([sent, parseLocalPart(sent)]).toEqual([sent, { text, tagged }])
})

test("a local part is quoted if removing its tag leaves a trailing dot", () => {
  expect(parseLocalPart("jane.+news")).toEqual({ text: '"jane."', tagged: "jane.+news" })
  expect(textOf('"jane."')).toBe('"jane."')
})

test("a quoted string loses unnecessary quotes and backslashes", () => {
  const cases: readonly (readonly [string, string])[] = [
    ['"jane"', "jane"],
    ['"Jane.Doe"', "jane.doe"],
    ['"j\\a\\n\\e"', "jane"],
    ['"jane doe"', '"jane doe"'],
    ['"jane\\ doe"', '"jane doe"'],
    ['"Jane@Work"', '"jane@work"'],
    ['"a\\"b"', '"a\\"b"'],
    ['"a\\\\b"', '"a\\\\b"'],
    ['"a\\@b"', '"a@b"'],
    ['"\\\\"', '"\\\\"'],
    ['"\\""', '"\\""'],
    ['""', '""'],
    ['" "', '" "'],
    ['".jane"', '".jane"'],
    ['"a..b"', '"a..b"'],
    ['"(a),:;<>[b]"', '"(a),:;<>[b]"'],
    ['"jürgen"', "jürgen"],
    ['"é ü"', '"é ü"'],
    ["a\u037eb", '"a;b"'],
  ]
  for (const [sent, text] of cases) expect([sent, textOf(sent)]).toEqual([sent, text])
})

test("a text that is neither a dot-atom nor a quoted string is not a local part", () => {
  for (const sent of [
    ...[
      "",
      ".",
      ".jane",
      "jane.",
      "jane..doe",
      "jane doe",
      " jane",
      "jane@work",
      "a,b",
      "a;b",
      "a:b",
      "a(b)",
      "(b)a",
      "<jane",
      "[a]",
    ],
    ...[
      "a\\b",
      "a\\ b",
      "jane\\",
      '"',
      '"jane',
      'jane"',
      '"a"b"',
      'a"b"',
      '"a"b',
      '"a".b',
      'a."b"',
      '"a"."b"',
      '"a\\"',
      '"\\é"',
    ],
    ...["\ud800", "a\udc00", '"\ud800"', "\udc00\ud800"],
  ]) {
    expect([sent, parseLocalPart(sent)]).toEqual([sent, null])
  }
})

/** Every character that nobody sees, or that means nothing to others. */
const UNSEEN = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter(code => code > 0x9f && (code < 0xd800 || code > 0xdfff))
  .map(code => String.fromCodePoint(code))
  .filter(character =>
    /[\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Cf}\p{Co}\p{Noncharacter_Code_Point}\u2800\u3164\ufffc\ufffd]/u.test(
      character,
    ),
  )

test("a character that nobody sees makes a local part invalid, wherever it stands, and so does a leading combining mark", () => {
  expect(UNSEEN.length).toBeGreaterThan(137_000)
  // All of them inside, and the first and last of each run of code points at every place.
  for (const unseen of UNSEEN) if (parseLocalPart(`ja${unseen}ne`) !== null) expect(unseen).toBe("refused")
  const code = (character: string | undefined) => character?.codePointAt(0) ?? -1
  const ends = UNSEEN.filter(
    (character, at) => code(UNSEEN[at - 1]) !== code(character) - 1 || code(UNSEEN[at + 1]) !== code(character) + 1,
  )
  const marks = ["\u0300", "\u0903", "\u20dd"]
  for (const unseen of [...ends, "\u0378", "\u{1d455}", "\u{13441}", "\u{13442}", "\u{16fe4}", "\u{1d159}"])
    for (const text of [`${unseen}jane`, `jane${unseen}`, `"${unseen}jane"`, `"ja ${unseen}ne"`, `jane+${unseen}`])
      expect([text, parseLocalPart(text)]).toEqual([text, null])
  for (const mark of marks)
    for (const text of [`${mark}jane`, `"${mark}jane"`, `jane.${mark}doe`, `"ja ${mark}ne"`])
      expect([text, parseLocalPart(text)]).toEqual([text, null])
  for (const mark of marks) expect(parseLocalPart(`j${mark}ane`)).not.toBeNull()
})

test("more combining marks in a row than any language needs are invalid", () => {
  expect(parseLocalPart(`a${"\u0316".repeat(31)}`)).toBeNull()
  expect(parseLocalPart(`a${"\u0316".repeat(30)}`)).not.toBeNull()
  expect(parseLocalPart("nguyễn")?.text).toBe("nguyễn")
})
