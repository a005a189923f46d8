import { expect, test } from "bun:test"
import fc, { array, assert, constantFrom, oneof, property, string, stringMatching, tuple } from "fast-check"
import { AffixFilter, WordFilter } from "../../../src/check/address/word-filters.ts"

const WORDS = new Set(["info", "no-reply", "customer-service", "hr", "x", "24h", "équipe", "info2", "7"])
const wholes = new WordFilter(WORDS)

/** The same by looking the name up. */
function isWord(name: string): boolean {
  const spelt = name.replace(/[._]/g, "-")
  return WORDS.has(spelt) || WORDS.has(spelt.replace(/-?\d{1,2}$/, ""))
}

const part = oneof(constantFrom(...WORDS, "customer", "service"), string({ maxLength: 3 }), stringMatching(/^\d{0,3}$/))
const names = array(tuple(part, constantFrom("", "-", ".", "_", "1", "07", "123")), { minLength: 1, maxLength: 3 }).map(
  parts => parts.flat().join(""),
)

test("a name that is a word, with a short number or without, is never taken for none", () => {
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

test("of names that are none, few are taken for one, however many words there are", () => {
  const people = Array.from({ length: 10_000 }, (_, at) => `p${at.toString(36)}.q${(at * 7919).toString(36)}`)
  for (const count of [10, 1000, 30_000]) {
    const words = new WordFilter(new Set(Array.from({ length: count }, (_, at) => `word-${at.toString(36)}x`)))
    expect(people.filter(name => words.mayContain(name)).length).toBeLessThan(1500)
  }
})

test("an empty name is no word, and no words are no name", () => {
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

/** The same by cutting the parts. */
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

test("a name with a word's first part at its start, or a last part at its end, is never taken for one without", () => {
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

test("of names without, few are taken for one that holds a word", () => {
  const people = Array.from({ length: 10_000 }, (_, at) => `p${at.toString(36)}.q${(at * 7919).toString(36)}`)
  expect(people.filter(isAtEdge)).toEqual([])
  expect(people.filter(name => edges.mayMatch(name)).length).toBeLessThan(100)
})

test("an empty name holds no word, and no words are in no name", () => {
  expect(edges.mayMatch("")).toBe(false)
  expect(new AffixFilter([]).mayMatch("info")).toBe(false)
})
