import { expect, test } from "bun:test"
import { array, assert, constantFrom, oneof, property, string, stringMatching, tuple } from "fast-check"
import { WholeWords } from "../../../src/check/address/whole-words.ts"

const WORDS = new Set(["info", "no-reply", "customer-service", "hr", "x", "24h", "équipe", "info2", "7"])
const wholes = new WholeWords(WORDS)

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
    expect({ name, mayBe: wholes.mayBe(name) }).toEqual({ name, mayBe: true })
  }
  assert(
    property(names, name => !isWord(name) || wholes.mayBe(name)),
    { numRuns: 5000 },
  )
})

test("of names that are none, few are taken for one, however many words there are", () => {
  const people = Array.from({ length: 10_000 }, (_, at) => `p${at.toString(36)}.q${(at * 7919).toString(36)}`)
  for (const count of [10, 1000, 30_000]) {
    const words = new WholeWords(new Set(Array.from({ length: count }, (_, at) => `word-${at.toString(36)}x`)))
    expect(people.filter(name => words.mayBe(name)).length).toBeLessThan(1500)
  }
})

test("an empty name is no word, and no words are no name", () => {
  expect(wholes.mayBe("")).toBe(false)
  expect(new WholeWords(new Set()).mayBe("info")).toBe(false)
})
