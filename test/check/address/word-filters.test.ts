import { expect, test } from "bun:test"
import fc, { array, assert, constantFrom, oneof, property, string, stringMatching, tuple } from "fast-check"
import { AffixFilter, WordFilter } from "../../../src/check/address/word-filters.ts"

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
const edges = new AffixFilter(EDGE_WORDS)

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
    expect({ name, mayBe: edges.mayMatch(name) }).toEqual({ name, mayBe: true })
  }
  fc.assert(
    fc.property(edgeNames, name => !isAtEdge(name) || edges.mayMatch(name)),
    { numRuns: 5000 },
  )
})

test("the affix filter has few false positives", () => {
  const people = Array.from({ length: 10_000 }, (_, at) => `p${at.toString(36)}.q${(at * 7919).toString(36)}`)
  expect(people.filter(isAtEdge)).toEqual([])
  expect(people.filter(name => edges.mayMatch(name)).length).toBeLessThan(100)
})

test("the affix filter rejects an empty name, and without words every name", () => {
  expect(edges.mayMatch("")).toBe(false)
  expect(new AffixFilter([]).mayMatch("info")).toBe(false)
})
