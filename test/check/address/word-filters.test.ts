import { expect, test } from "bun:test"
import fc, { array, assert, constantFrom, oneof, property, string, stringMatching, tuple } from "fast-check"
import { AffixFilter, MAY_HAVE_ROLE, MAY_HAVE_WORD, WordFilter } from "../../../src/check/address/word-filters.ts"

const WORDS = new Set(["info", "no-reply", "customer-service", "hr", "x", "24h", "équipe", "info2", "7"])
const wholes = new WordFilter(WORDS)

/** The expected result, by looking up the complete name. */
function isWord(name: string): boolean {
  const spelt = name.replace(/[._]/g, "-")
  return WORDS.has(spelt) || WORDS.has(spelt.replace(/-?\d{1,2}$/, ""))
}

const part = oneof(constantFrom(...WORDS, "customer", "service"), string({ maxLength: 3 }), stringMatching(/^\d{0,3}$/))
const names = array(tuple(part, constantFrom("", "-", ".", "_", "1", "07", "123")), { minLength: 1, maxLength: 3 }).map(
  parts => parts.flat().join(""),
)

test("the word filter has no false negatives, with and without a short number", () => {
  const spelt = ["no.reply", "no_reply7", "info-12", "info.1", "hr42", "x1", "7-07", "customer_service.3"]
  for (const name of [...WORDS, ...spelt]) {
    expect({ name, isWord: isWord(name) }).toEqual({ name, isWord: true })
    expect({ name, mayBe: wholes.mayContain(name) }).toEqual({ name, mayBe: true })
  }
  assert(
    property(names, name => !isWord(name) || wholes.mayContain(name)),
    { numRuns: 5000 },
  )
})

test("the word filter has few false positives, however many words it has", () => {
  const people = Array.from({ length: 10_000 }, (_, at) => `p${at.toString(36)}.q${(at * 7919).toString(36)}`)
  for (const count of [10, 1000, 30_000]) {
    const words = new WordFilter(new Set(Array.from({ length: count }, (_, at) => `word-${at.toString(36)}x`)))
    expect(people.filter(name => words.mayContain(name)).length).toBeLessThan(1500)
  }
})

test("the word filter rejects an empty name, and without words every name", () => {
  expect(wholes.mayContain("")).toBe(false)
  expect(new WordFilter(new Set()).mayContain("info")).toBe(false)
})

const EDGE_WORDS = [
  "info",
  "no-reply",
  "customer.service",
  "team_all",
  "hr",
  "x",
  "24h",
  "kundendienst",
  "équipe",
  "info2",
]
const NONE = { words: [], besideRoles: [], joinable: [] }
const affixes = new AffixFilter({ ...NONE, words: EDGE_WORDS })
const mayMatch = (name: string): boolean => (affixes.edgesOf(name) & MAY_HAVE_WORD) !== 0

const firstPart = (text: string): string => text.split(/[-._]/)[0] ?? ""
const lastPart = (text: string): string => text.split(/[-._]/).at(-1) ?? ""
const starts = new Set(EDGE_WORDS.map(firstPart))
const ends = new Set(EDGE_WORDS.map(lastPart))

/** The expected result, by splitting the name. */
function isAtEdge(name: string): boolean {
  const first = firstPart(name)
  return starts.has(first) || starts.has(first.replace(/\d{1,2}$/, "")) || ends.has(lastPart(name))
}

const edgePart = fc.oneof(
  fc.constantFrom(...starts, ...ends),
  fc.string({ maxLength: 4 }),
  fc.stringMatching(/^\d{0,3}$/),
)
const edgeNames = fc
  .array(fc.tuple(edgePart, fc.constantFrom("", "-", ".", "_", "1", "07", "123")), { minLength: 1, maxLength: 4 })
  .map(parts => parts.flat().join(""))

test("the affix filter has no false negatives", () => {
  for (const name of [
    ...EDGE_WORDS,
    "info.x",
    "info7",
    "info42.berlin",
    "jane-service",
    "jane.reply",
    "hr_",
    "x1",
    "x12",
  ]) {
    expect({ name, mayBe: mayMatch(name) }).toEqual({ name, mayBe: true })
  }
  fc.assert(
    fc.property(edgeNames, name => !isAtEdge(name) || mayMatch(name)),
    { numRuns: 5000 },
  )
})

test("the affix filter has few false positives", () => {
  const people = Array.from({ length: 10_000 }, (_, at) => `p${at.toString(36)}.q${(at * 7919).toString(36)}`)
  expect(people.filter(isAtEdge)).toEqual([])
  expect(people.filter(name => mayMatch(name)).length).toBeLessThan(100)
})

test("the affix filter rejects an empty name, and without words every name", () => {
  expect(mayMatch("")).toBe(false)
  expect(new AffixFilter(NONE).edgesOf("info")).toBe(0)
})

const beside = ["uk", "emea", "berlin", "équipe"]
const joinable = ["info", "sales", "vertrieb", "contact"]
const roles = new AffixFilter({ words: [], besideRoles: beside, joinable })
const mayHaveRole = (name: string): boolean => (roles.edgesOf(name) & MAY_HAVE_ROLE) !== 0

test("the affix filter lets every name pass that starts or ends with a word beside a role, whatever short number ends it", () => {
  const edge = fc.constantFrom(
    ...beside.flatMap(word => [`${word}.x`, `x-${word}`]),
    ...joinable.flatMap(word => [`${word}x`, `x${word}`]),
  )
  fc.assert(
    fc.property(edge, fc.constantFrom("", "7", "07", "-7", "_07"), (name, number) => mayHaveRole(`${name}${number}`)),
    { numRuns: 500 },
  )
})

test("the affix filter lets few names of persons pass as a role's", () => {
  const people = Array.from({ length: 10_000 }, (_, at) => `p${at.toString(36)}.q${(at * 7919).toString(36)}`)
  expect(people.filter(mayHaveRole).length).toBeLessThan(20)
  expect(["uk", "berlin", "", "u.k"].filter(mayHaveRole)).toEqual([])
})
