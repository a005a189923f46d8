import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { FILLABLE_SETS, type FillableSet } from "../../../src/check/lists/sets.ts"
import {
  type DownloadedEntries,
  describeLeftOut,
  leftOutMessage,
  leftOutNames,
  type NeverListedNames,
  normalizeEntries,
  type PreviousSource,
  VALIDATION_RULES,
  type ValidationFault,
  type ValidationRule,
  validateSource,
} from "../../../src/check/refresh/source-validation.ts"

const NO_RULES: NeverListedNames = { neverListed: new Set(), knownFaults: new Set() }
const SUFFIXES = ["co.uk", "com.au", "edu.pl", "my.id", "web.id", "id.au", "com.ar", "github.io", "com.br", "co.jp"]

/** So many distinct names, none of them a public suffix. */
const namesOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `name-${at}.com`)

const foundOf = (entries: readonly string[], parts: Partial<DownloadedEntries> = {}): DownloadedEntries => ({
  set: "disposable",
  entries,
  malformedCount: 0,
  endsWithNewline: true,
  ...parts,
})

const beforeOf = (names: readonly string[], endsWithNewline = true): PreviousSource => ({
  count: names.length,
  endsWithNewline,
})

const rulesBroken = (
  found: DownloadedEntries,
  before: PreviousSource | null = null,
  rules = NO_RULES,
): ValidationRule[] => validateSource(found, before, rules).map(({ rule }) => rule)

const messagesOf = (found: DownloadedEntries, before: PreviousSource | null = null, rules = NO_RULES): string[] =>
  validateSource(found, before, rules).map(({ message }) => message)

test("a list like the previous one is valid, and so is a first list", () => {
  expect(validateSource(foundOf(namesOf(100)), null, NO_RULES)).toEqual([])
  expect(validateSource(foundOf(namesOf(101)), beforeOf(namesOf(100)), NO_RULES)).toEqual([])
})

test("each rule is broken by a list that is otherwise valid", () => {
  const hundred = namesOf(100)
  const never = { ...NO_RULES, neverListed: new Set(namesOf(11)) }
  const cases: Readonly<Record<ValidationRule, readonly ValidationFault[]>> = {
    empty: validateSource(foundOf([]), null, NO_RULES),
    malformed: validateSource(foundOf([...hundred, "?", "?", "?"]), null, NO_RULES),
    shrunken: validateSource(foundOf(namesOf(80)), beforeOf(hundred), NO_RULES),
    swollen: validateSource(foundOf(namesOf(1000)), beforeOf(hundred), NO_RULES),
    never_listed: validateSource(foundOf(hundred), null, never),
    public_suffixes: validateSource(foundOf([...hundred, ...SUFFIXES]), null, NO_RULES),
    cut_off: validateSource(foundOf(hundred, { endsWithNewline: false }), beforeOf(hundred), NO_RULES),
  }
  for (const [rule, faults] of Object.entries(cases)) {
    expect(faults.map(fault => fault.rule as string)).toEqual([rule])
    expect(faults[0]?.message).toMatch(/^[A-Z0-9].*\.$/)
  }
})

test("all broken rules are reported, in the order of their table", () => {
  const found = foundOf([...namesOf(11), ...SUFFIXES, "?", "?", "?"], { endsWithNewline: false })
  const rules = { ...NO_RULES, neverListed: new Set(namesOf(11)) }
  expect(rulesBroken(found, beforeOf(namesOf(100)), rules)).toEqual([
    "malformed",
    "shrunken",
    "never_listed",
    "public_suffixes",
    "cut_off",
  ])
  expect(rulesBroken(found, beforeOf(["a.com"]), rules)).toContain("swollen")
  expect(Object.keys(VALIDATION_RULES)).toHaveLength(7)
})

describe("a list is empty", () => {
  test("without entries or without names, and is then not reported as shrunken too", () => {
    expect(rulesBroken(foundOf([]), beforeOf(namesOf(10)))).toEqual(["empty"])
    expect(rulesBroken(foundOf([], { malformedCount: 2 }))).toEqual(["empty"])
    expect(rulesBroken(foundOf(["?", "404: Not Found"]))).toEqual(["empty"])
    expect(rulesBroken(foundOf(["a.com"]))).toEqual([])
  })

  test("also for a set of words", () => {
    expect(rulesBroken(foundOf([], { set: "role" }))).toEqual(["empty"])
  })
})

describe("a list is malformed", () => {
  const withBad = (count: number, bad: number): DownloadedEntries =>
    foundOf([...namesOf(count - bad), ...Array.from({ length: bad }, () => "no name")])

  test("if more than one entry in a hundred is not a name", () => {
    expect(messagesOf(withBad(400, 4))).toEqual([])
    expect(messagesOf(withBad(400, 5))).toEqual(["5 of its 400 entries are not names."])
    expect(messagesOf(withBad(499, 5))).toEqual(["5 of its 499 entries are not names."])
    expect(messagesOf(withBad(500, 5))).toEqual([])
    // 0.07 * 100 is more than 7 in floating point.
    expect(messagesOf(withBad(700, 7))).toEqual([])
  })

  test("if at least three entries are not names", () => {
    expect(messagesOf(withBad(10, 2))).toEqual([])
    expect(messagesOf(withBad(10, 3))).toEqual(["3 of its 10 entries are not names."])
  })

  test("by entries that the reader rejects, addresses, words, and unknown top-level domains", () => {
    expect(rulesBroken(foundOf(namesOf(10), { malformedCount: 3 }))).toEqual(["malformed"])
    for (const bad of ["a@b.com", "192.0.2.1", "word", "a.invalid", "a..com", "http://a.com/", `${"a".repeat(64)}.com`])
      expect(rulesBroken(foundOf([...namesOf(10), bad, bad, bad]))).toEqual(["malformed"])
  })

  test("by the normal form of its set", () => {
    const patterns = ["*.gov.uk", "k12.*.us", "*.admin.ch", "gov.pl", "gouv.fr"]
    expect(rulesBroken(foundOf(patterns, { set: "government_suffix" }))).toEqual([])
    expect(rulesBroken(foundOf(patterns, { set: "government" }))).toEqual(["malformed"])
    expect(rulesBroken(foundOf(["sales", "postmaster", "no reply"], { set: "role" }))).toEqual([])
  })
})

describe("a list is shrunken", () => {
  const before = beforeOf(namesOf(1000))

  test("by a fifth, and not by less", () => {
    expect(messagesOf(foundOf(namesOf(801)), before)).toEqual([])
    expect(messagesOf(foundOf(namesOf(800)), before)).toEqual(["It has 800 names, and had 1000."])
    expect(rulesBroken(foundOf(namesOf(5)), beforeOf(namesOf(6)))).toEqual([])
    expect(rulesBroken(foundOf(namesOf(8)), beforeOf(namesOf(10)))).toEqual(["shrunken"])
  })

  test("never by one name, so that a list of five names or fewer is not refused for good", () => {
    for (let count = 2; count <= 10; count++) {
      expect(rulesBroken(foundOf(namesOf(count - 1)), beforeOf(namesOf(count)))).toEqual([])
      if (count > 2) expect(rulesBroken(foundOf(namesOf(count - 2)), beforeOf(namesOf(count)))).toEqual(["shrunken"])
    }
  })

  test("by its names, without repeated and malformed entries", () => {
    expect(rulesBroken(foundOf([...namesOf(800), ...namesOf(800)]), before)).toEqual(["shrunken"])
    expect(
      rulesBroken(foundOf([...namesOf(800), ...namesOf(800).map(name => `${name.toUpperCase()}.`)]), before),
    ).toEqual(["shrunken"])
  })

  test("never if it is a window, of which names that are gone stay", () => {
    expect(rulesBroken(foundOf(namesOf(10), { isWindow: true }), before)).toEqual([])
    expect(rulesBroken(foundOf([], { isWindow: true }), before)).toEqual(["empty"])
  })

  test("only if there is a previous one", () => {
    expect(rulesBroken(foundOf(namesOf(1)), null)).toEqual([])
    expect(rulesBroken(foundOf(namesOf(1)), beforeOf([]))).toEqual([])
  })
})

describe("a list is swollen", () => {
  test("at ten times the names, and not below", () => {
    const before = beforeOf(namesOf(100))
    expect(messagesOf(foundOf(namesOf(990)), before)).toEqual([])
    expect(messagesOf(foundOf(namesOf(999)), before)).toEqual([])
    expect(messagesOf(foundOf(namesOf(1000)), before)).toEqual(["It has 1000 names, and had 100."])
  })

  test("by its names, without repeated ones", () => {
    const tenfold = Array.from({ length: 10 }, () => namesOf(100)).flat()
    expect(rulesBroken(foundOf(tenfold), beforeOf(namesOf(100)))).toEqual([])
  })
})

describe("names that no list may hold", () => {
  const rules = { neverListed: new Set(["gmail.com", "yahoo.com"]), knownFaults: new Set(["yahoo.com"]) }
  const leftOutOf = (entries: readonly string[], set: FillableSet = "disposable", isWindow = false): string[] => [
    ...leftOutNames({ set, isWindow }, normalizeEntries(foundOf(entries, { set })).names, rules),
  ]
  /** A list of so many names, the first of which no list may hold. */
  const withNever = (count: number, never: number, neverListedMax?: number): string[] =>
    messagesOf(foundOf(namesOf(count)), null, {
      neverListed: new Set(namesOf(never)),
      knownFaults: new Set(),
      neverListedMax,
    })

  test("are left out one by one, whatever their spelling", () => {
    for (const spelt of ["gmail.com", "GMail.com", "gmail.com.", " gmail.com"]) {
      expect(leftOutOf(["a.com", spelt])).toEqual(["gmail.com"])
      expect(messagesOf(foundOf(["a.com", spelt]), null, rules)).toEqual([])
    }
  })

  test("are not other names, property names, or faults that building a pack knows and drops", () => {
    expect(leftOutOf(["notgmail.com", "gmail.com.au", "a.gmail.com", "constructor", "__proto__", "yahoo.com"])).toEqual(
      [],
    )
  })

  test("are all left out of a window, of which known faults do not count", () => {
    expect(leftOutOf(["a.com", "gmail.com", "yahoo.com"], "disposable", true)).toEqual(["gmail.com", "yahoo.com"])
    const never = { neverListed: new Set(namesOf(11)), knownFaults: new Set(["name-3.com"]) }
    const window = foundOf(namesOf(1000), { isWindow: true })
    expect(rulesBroken(window, null, never)).toEqual([])
    expect(rulesBroken(window, null, { ...never, knownFaults: new Set() })).toEqual(["never_listed"])
  })

  test("are accepted in sets of known names, and in no others", () => {
    const known: readonly FillableSet[] = ["popular", "never_disposable", "organisation"]
    for (const set of FILLABLE_SETS)
      expect(leftOutOf(["a.com", "gmail.com"], set)).toEqual(known.includes(set) ? [] : ["gmail.com"])
  })

  test("are at most ten in a list of up to ten thousand names, and one in a thousand of a longer one", () => {
    expect(withNever(11, 10)).toEqual([])
    expect(withNever(10_999, 11)).toHaveLength(1)
    expect(withNever(11_000, 11)).toEqual([])
    expect(withNever(20_000, 20)).toEqual([])
    expect(withNever(20_000, 21)).toHaveLength(1)
  })

  test("are as many as the row of a source says, if it does", () => {
    expect(withNever(20_000, 100, 100)).toEqual([])
    expect(withNever(20_000, 101, 100)).toHaveLength(1)
    expect(withNever(1000, 1, 0)).toHaveLength(1)
  })

  test("leave an empty list if there is no other, and count neither as gone nor as new", () => {
    expect(rulesBroken(foundOf(["gmail.com"]), null, rules)).toEqual(["empty"])
    expect(rulesBroken(foundOf([...namesOf(81), "gmail.com"]), beforeOf(namesOf(100)), rules)).toEqual([])
    expect(rulesBroken(foundOf([...namesOf(80), "gmail.com"]), beforeOf(namesOf(100)), rules)).toEqual(["shrunken"])
    expect(rulesBroken(foundOf([...namesOf(99), "gmail.com"]), beforeOf(namesOf(10)), rules)).toEqual([])
  })

  test("are told by their number and the first five, in alphabetical order", () => {
    const nine = new Set(["i.com", "h.com", "g.com", "f.com", "e.com", "d.com", "c.com", "b.com", "a.com"])
    expect(describeLeftOut(nine)).toEqual({ count: 9, names: ["a.com", "b.com", "c.com", "d.com", "e.com"] })
    expect(leftOutMessage(describeLeftOut(nine))).toBe(
      "It lists a.com, b.com, c.com, d.com, e.com and 4 more, which cannot be on such a list and are left out.",
    )
    expect(leftOutMessage(describeLeftOut(new Set(["a.com"])))).toBe(
      "It lists a.com, which cannot be on such a list and is left out.",
    )
    expect(leftOutMessage(describeLeftOut(new Set()))).toBe("")
    expect(withNever(1000, 12)).toEqual([
      "12 of its 1000 names cannot be on such a list: name-0.com, name-1.com, name-10.com, name-11.com, name-2.com and 7 more.",
    ])
  })
})

describe("public suffixes", () => {
  const withSuffixes = (count: number, suffixes: number, set: FillableSet = "disposable"): DownloadedEntries =>
    foundOf([...namesOf(count - suffixes), ...SUFFIXES.slice(0, suffixes)], { set })

  test("are at most five in a short list", () => {
    expect(messagesOf(withSuffixes(100, 5))).toEqual([])
    expect(messagesOf(withSuffixes(100, 6))).toEqual(["6 of its 100 names are public suffixes."])
    expect(messagesOf(foundOf(SUFFIXES.slice(0, 5)))).toEqual([])
  })

  test("are at most one name in a thousand in a long list", () => {
    expect(messagesOf(withSuffixes(7000, 7))).toEqual([])
    expect(messagesOf(withSuffixes(7000, 8))).toEqual(["8 of its 7000 names are public suffixes."])
    expect(messagesOf(withSuffixes(6999, 7))).toEqual(["7 of its 6999 names are public suffixes."])
  })

  test("count once each, including top-level domains", () => {
    const entries = [...namesOf(100), "com", "CO.UK", "co.uk", "co.uk.", "github.io"]
    expect(rulesBroken(foundOf(entries))).toEqual([])
    expect(rulesBroken(foundOf([...entries, "net", "org", "de"]))).toEqual(["public_suffixes"])
  })

  test("are accepted in every list but those of mailbox domains", () => {
    const watched: readonly FillableSet[] = ["disposable", "personal"]
    for (const set of FILLABLE_SETS)
      expect(rulesBroken(withSuffixes(100, 10, set))).toEqual(watched.includes(set) ? ["public_suffixes"] : [])
  })
})

test("a list is truncated if its last line has no end and that of the previous one had one", () => {
  const names = namesOf(10)
  const ends = (now: boolean, then: boolean | null): ValidationRule[] =>
    rulesBroken(foundOf(names, { endsWithNewline: now }), then === null ? null : beforeOf(names, then))
  expect(ends(false, true)).toEqual(["cut_off"])
  expect(ends(true, true)).toEqual([])
  expect(ends(false, false)).toEqual([])
  expect(ends(true, false)).toEqual([])
  expect(ends(false, null)).toEqual([])
})

test("a message never contains an entry as it was downloaded", () => {
  const hostile = ["someone@example.com", "\u001b[31m.com", "a.com\nb.com", "\0", "<script>", "x".repeat(100_000)]
  for (const says of messagesOf(foundOf([...hostile, "gmail.com"]), beforeOf(namesOf(50)), {
    ...NO_RULES,
    neverListed: new Set(["gmail.com"]),
  }))
    expect(says).toMatch(/^[A-Za-z0-9 ,.]+$/)
})

/** Valid and invalid entries, as sources have them. */
const entry = fc.oneof(
  { weight: 8, arbitrary: fc.nat(60).map(at => `name-${at}.com`) },
  { weight: 2, arbitrary: fc.constantFrom(...SUFFIXES, "com", "gmail.com", "GMAIL.com.", "yahoo.com") },
  { weight: 1, arbitrary: fc.constantFrom("", "?", "a@b.com", "bücher.de", "xn--bcher-kva.de", "__proto__") },
)
const anyFound: fc.Arbitrary<DownloadedEntries> = fc.record({
  set: fc.constantFrom(...FILLABLE_SETS),
  entries: fc.array(entry, { maxLength: 80 }),
  malformedCount: fc.nat(4),
  endsWithNewline: fc.boolean(),
})
const anyBefore = fc.option(
  fc.record({ entries: fc.uniqueArray(fc.nat(60).map(at => `name-${at}.com`)), endsWithNewline: fc.boolean() }),
)
const RULES = { neverListed: new Set(["gmail.com", "yahoo.com"]), knownFaults: new Set(["yahoo.com"]) }

describe("for any list", () => {
  test("the order never matters", () => {
    fc.assert(
      fc.property(anyFound, anyBefore, fc.infiniteStream(fc.nat()), (found, last, ranks) => {
        const before = last && beforeOf(last.entries, last.endsWithNewline)
        const shuffled = found.entries
          .map(text => ({ text, rank: ranks.next().value ?? 0 }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ text }) => text)
        expect(validateSource({ ...found, entries: shuffled }, before, RULES)).toEqual(
          validateSource(found, before, RULES),
        )
      }),
    )
  })

  test("a valid list stays valid as the previous one", () => {
    fc.assert(
      fc.property(anyFound, anyBefore, (found, last) => {
        const names = normalNames(found)
        fc.pre(validateSource(found, last && beforeOf(last.entries, last.endsWithNewline), RULES).length === 0)
        expect(validateSource(found, beforeOf(names, found.endsWithNewline), RULES)).toEqual([])
      }),
    )
  })

  test("a list equal to the previous one breaks no rule that compares them", () => {
    const compared: readonly ValidationRule[] = ["shrunken", "swollen", "cut_off"]
    fc.assert(
      fc.property(anyFound, found => {
        const broken = rulesBroken(found, beforeOf(normalNames(found), found.endsWithNewline), RULES)
        expect(broken.filter(rule => compared.includes(rule))).toEqual([])
      }),
    )
  })
})

/** The names among the values of `entry`, by hand; words are all values that are neither empty nor an address. */
function normalNames({ set, entries }: DownloadedEntries): string[] {
  const isOfWords = ["role", "shared_inbox", "group", "region", "person_name", "not_role"].includes(set)
  const names = isOfWords
    ? entries.filter(text => text !== "" && text !== "a@b.com").map(text => text.toLowerCase())
    : entries
        .filter(text => !["", "?", "a@b.com", "__proto__"].includes(text))
        .map(text => ({ "GMAIL.com.": "gmail.com", "bücher.de": "xn--bcher-kva.de" })[text] ?? text)
  return [...new Set(names)]
}
