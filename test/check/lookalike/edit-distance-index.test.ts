import { expect, test } from "bun:test"
import fc from "fast-check"
import { EditDistanceIndex } from "../../../src/check/lookalike/edit-distance-index.ts"

const LABELS = ["gmail", "yahoo", "t-online", "163", "q", "aa", "hotmail", "mail"]
const near = new EditDistanceIndex(LABELS)

const label = fc.stringMatching(/^[a-d-]{1,12}$/)

/** Each text that is one deletion, insertion, substitution or move away. */
const edited = fc
  .tuple(label, fc.nat(12), fc.nat(12), fc.constantFrom("a", "e", "-", "7"))
  .chain(([text, from, to, letter]) => {
    const at = from % text.length
    const without = text.slice(0, at) + text.slice(at + 1)
    const moved = without.slice(0, to) + text.charAt(at) + without.slice(to)
    const [added, replaced] = [
      text.slice(0, at) + letter + text.slice(at),
      text.slice(0, at) + letter + text.slice(at + 1),
    ]
    return fc.constantFrom(text, without, moved, added, replaced).map(typed => ({ text, typed }))
  })

test("a label is found by every text that is one letter away from it", () => {
  fc.assert(
    fc.property(edited, fc.array(label, { maxLength: 50 }), ({ text, typed }, others) => {
      expect(new EditDistanceIndex([...others, text]).candidates(typed)).toContain(others.length)
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ["gmail", ["gmail", "mail"]],
  ["gmial", ["gmail"]],
  ["hgmail", ["gmail"]],
  ["mail", ["gmail", "mail"]],
  ["tonline", ["t-online"]],
  ["i63", ["163"]],
  ["", ["q"]],
  ["a", ["q", "aa"]],
  ["acme", []],
  ["gmailmail", []],
  ["a".repeat(64), []],
] as const)("%p is near %p", (text, labels) => {
  const found = near.candidates(text).map(place => LABELS[place])
  expect(found.sort()).toEqual([...labels].sort())
})

test("a label is returned once, however many of its hashes match", () => {
  expect(new EditDistanceIndex(["aaaa", "abab"]).candidates("aaba").toSorted()).toEqual([0, 1])
})

test("without labels there are no candidates", () => {
  expect(new EditDistanceIndex([]).candidates("gmail")).toEqual([])
})

test("few candidates are hash collisions", () => {
  const many = Array.from({ length: 5000 }, (_, at) => `${at.toString(36)}-${(at * 7919).toString(36)}`)
  const strangers = Array.from({ length: 5000 }, (_, at) => `${(at * 104_729).toString(36)}zzzz`)
  const index = new EditDistanceIndex(many)
  expect(strangers.reduce((sum, text) => sum + index.candidates(text).length, 0)).toBeLessThan(25)
})
