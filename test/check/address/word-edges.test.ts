import { expect, test } from "bun:test"
import fc from "fast-check"
import { WordEdges } from "../../../src/check/address/word-edges.ts"

const WORDS = ["info", "no-reply", "customer.service", "team_all", "hr", "x", "24h", "kundendienst", "équipe", "info2"]
const edges = new WordEdges(WORDS)

const firstPart = (text: string): string => text.split(/[-._]/)[0] ?? ""
const lastPart = (text: string): string => text.split(/[-._]/).at(-1) ?? ""
const starts = new Set(WORDS.map(firstPart))
const ends = new Set(WORDS.map(lastPart))

/** The same by cutting the parts. */
function isAtEdge(name: string): boolean {
  const first = firstPart(name)
  return starts.has(first) || starts.has(first.replace(/\d{1,2}$/, "")) || ends.has(lastPart(name))
}

const part = fc.oneof(fc.constantFrom(...starts, ...ends), fc.string({ maxLength: 4 }), fc.stringMatching(/^\d{0,3}$/))
const names = fc
  .array(fc.tuple(part, fc.constantFrom("", "-", ".", "_", "1", "07", "123")), { minLength: 1, maxLength: 4 })
  .map(parts => parts.flat().join(""))

test("a name with a word's first part at its start, or a last part at its end, is never taken for one without", () => {
  for (const name of [...WORDS, "info.x", "info7", "info42.berlin", "jane-service", "jane.reply", "hr_", "x1", "x12"]) {
    expect({ name, mayBe: edges.mayBeIn(name) }).toEqual({ name, mayBe: true })
  }
  fc.assert(
    fc.property(names, name => !isAtEdge(name) || edges.mayBeIn(name)),
    { numRuns: 5000 },
  )
})

test("of names without, few are taken for one that holds a word", () => {
  const people = Array.from({ length: 10_000 }, (_, at) => `p${at.toString(36)}.q${(at * 7919).toString(36)}`)
  expect(people.filter(isAtEdge)).toEqual([])
  expect(people.filter(name => edges.mayBeIn(name)).length).toBeLessThan(100)
})

test("an empty name holds no word, and no words are in no name", () => {
  expect(edges.mayBeIn("")).toBe(false)
  expect(new WordEdges([]).mayBeIn("info")).toBe(false)
})
