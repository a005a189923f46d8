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
  for (const [sent, text] of cases) expect([sent, parseLocalPart(sent)]).toEqual([sent, { text, hasTag: false }])
})

test("the tag goes from the first + to the end, unless the local part starts with one", () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["jane+news", "jane", true],
    ["jane+", "jane", true],
    ["jane+a+b", "jane", true],
    ["jane+a.b", "jane", true],
    ["j.doe+x", "j.doe", true],
    ['"jane+news"', "jane", true],
    ["+jane", "+jane", false],
    ["+jane+news", "+jane+news", false],
    ["+", "+", false],
    ["jane-news", "jane-news", false],
    ['"jane doe+news"', '"jane doe+news"', false],
  ]
  for (const [sent, text, hasTag] of cases) expect([sent, parseLocalPart(sent)]).toEqual([sent, { text, hasTag }])
})

test("a local part is quoted if removing its tag leaves a trailing dot", () => {
  expect(parseLocalPart("jane.+news")).toEqual({ text: '"jane."', hasTag: true })
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

test("an invisible character, U+FFFD, or more combining marks in a row than any language needs, is invalid", () => {
  for (const invisible of ["\u00ad", "\u200b", "\u200d", "\u2060", "\u3164", "\ufe0f", "\u{e0041}", "\ufffd"])
    for (const text of [`ja${invisible}ne`, `"ja${invisible}ne"`])
      expect([text, parseLocalPart(text)]).toEqual([text, null])
  expect(parseLocalPart(`a${"\u0316".repeat(31)}`)).toBeNull()
  expect(parseLocalPart(`a${"\u0316".repeat(30)}`)).not.toBeNull()
  expect(parseLocalPart("nguyễn")?.text).toBe("nguyễn")
})
