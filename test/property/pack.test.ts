import { expect, test } from "bun:test"
import { array, assert, constantFrom, integer, property, tuple, uniqueArray } from "fast-check"
import { bucketIndex, hashName } from "../../src/check/lists/pack/pack-format.ts"
import { SET_NAMES } from "../../src/check/lists/sets.ts"
import { openedPack, type SmallNames, smallPack } from "../check/lists/pack/small-pack.ts"

/** Few letters and few lengths, so that names are often prefixes, suffixes and parents of each other. */
const label = array(constantFrom("a", "b", "z", "0", "9", "-", "xn--"), { minLength: 1, maxLength: 5 }).map(parts =>
  `a${parts.join("")}b`.slice(0, 63),
)
const name = array(label, { minLength: 1, maxLength: 5 }).map(labels => labels.join("."))
const longName = integer({ min: 1, max: 253 }).map(length => "ab.".repeat(85).slice(0, length).replace(/\.$/, "c"))
const names = uniqueArray(name, { maxLength: 60 })
const nameSet = constantFrom("disposable", "relay", "personal", "education", "government", "organisation" as const)

test("what went into a pack comes out of it, and nothing else does", () => {
  assert(
    property(
      array(tuple(name, nameSet), { maxLength: 80 }),
      names,
      array(longName, { maxLength: 4 }),
      (pairs, others, long) => {
        const model = new Map(pairs)
        for (const one of long) model.set(one, "relay")
        const pack = openedPack(
          smallPack(Object.fromEntries([...model].map(([key, set]) => [key, [set]])) as SmallNames),
        )
        expect(pack.verify()).toEqual({ ok: true })
        for (const input of [...model.keys(), ...others, ...[...model.keys()].flatMap(nearMisses)]) {
          const set = model.get(input)
          expect(pack.match(input, input).sets).toEqual(set === undefined ? [] : [set])
          expect(pack.listingsOf(input).map(listing => listing.set)).toEqual(set === undefined ? [] : [set])
        }
      },
    ),
    { numRuns: 60 },
  )
})

test("a domain is answered by its most specific parent that the pack holds, down to the registrable one", () => {
  assert(
    property(
      array(tuple(name, nameSet), { maxLength: 40 }),
      name,
      integer({ min: 0, max: 4 }),
      (pairs, domain, cut) => {
        const model = new Map(pairs)
        const pack = openedPack(
          smallPack(Object.fromEntries([...model].map(([key, set]) => [key, [set]])) as SmallNames),
        )
        const levels = domain.split(".").map((_, at, labels) => labels.slice(at).join("."))
        const registrable = levels[Math.min(cut, levels.length - 1)] ?? domain
        const answer = levels.find(level => level.length >= registrable.length && model.has(level))
        const listed = pack.match(domain, registrable)
        expect(listed.entry).toBe(answer ?? null)
        expect(listed.mask).toBe(answer === undefined ? 0 : 1 << SET_NAMES.indexOf(model.get(answer) ?? "relay"))
      },
    ),
    { numRuns: 200 },
  )
})

test("the bytes of a pack do not depend on the order of its names", () => {
  assert(
    property(names, some => {
      const pairs = some.map(one => [one, ["disposable"]])
      expect(smallPack(Object.fromEntries(pairs))).toEqual(smallPack(Object.fromEntries(pairs.toReversed())))
    }),
    { numRuns: 40 },
  )
})

test("names with one hash and one length are told apart by their bytes", () => {
  const [one, two] = equalHashes()
  expect(hashName(one)).toBe(hashName(two))
  const pack = openedPack(smallPack({ [one]: ["disposable"] }))
  expect(pack.match(one, one).sets).toEqual(["disposable"])
  expect(pack.match(two, two).sets).toEqual([])
  const both = openedPack(smallPack({ [one]: ["disposable"], [two]: ["personal"] }))
  expect(both.match(one, one).sets).toEqual(["disposable"])
  expect(both.match(two, two).sets).toEqual(["personal"])
})

test("a bucket's number is always one of the buckets", () => {
  assert(
    property(integer(), integer({ min: 1, max: 0xffff }), (hash, buckets) => {
      const bucket = bucketIndex(hash, buckets)
      expect(bucket >= 0 && bucket < buckets).toBe(true)
    }),
  )
})

/** The same name with one character changed, added at either end, or left out. */
function nearMisses(one: string): readonly string[] {
  const middle = one.length >> 1
  return [`a${one}`, `${one}a`, one.slice(1), one.slice(0, -1), `${one.slice(0, middle)}q${one.slice(middle + 1)}`]
}

/** Two names of one length with one hash, found by their birthday: 2^17 names of 32 bits. */
function equalHashes(): readonly [string, string] {
  const seen = new Map<number, string>()
  for (let at = 0; ; at++) {
    const one = `n${Math.imul(at, 0x9e3779b1) >>> 0}`.padEnd(12, "x").concat(".com")
    const other = seen.get(hashName(one))
    if (other !== undefined && other !== one) return [other, one]
    seen.set(hashName(one), one)
  }
}
