import { expect, test } from "bun:test"
import { parseSubject } from "../../src/check/address/parse-subject.ts"
import {
  commandDuplicates,
  DISTINCT_INPUTS_MAX,
  DuplicateTable,
  distinctInputsWithin,
} from "../../src/rows/duplicates.ts"

const INPUTS = 60_000

test("each input is found again in the row that had it first, and no other is, while tables grow", () => {
  const finder = new DuplicateTable()
  for (let row = 1; row <= INPUTS; row++)
    if (finder.firstRow(`jane.${row}@acme.com`, row) !== null) throw new Error(`${row}`)
  for (let row = 1; row <= INPUTS; row++) {
    const first = finder.firstRow(`jane.${row}@acme.com`, INPUTS + row)
    if (first !== row) throw new Error(`${row} is ${first}`)
  }
  expect(finder.isFull).toBe(false)
})

test("different names are no duplicates where one hash of 32 bits is the same for both, with any seed", () => {
  const names = ["42u8w.com", "dvvu3.com", "84w5w.com", "hxxr3.com", "74j0w.com", "gxkm3.com"]
  const table = new DuplicateTable()
  expect(names.map((name, at) => table.firstOf(subject(name, "domain"), null, at + 1))).toEqual(names.map(() => null))
})

test("an address that was made to share the hash of another without a seed is no duplicate of it", () => {
  const [victim, forged] = ["themanagingboard@acme1.com", "pwqqjtj4tglr1dxl@acme1.com"]
  expect(Bun.hash.xxHash64(forged)).toBe(Bun.hash.xxHash64(victim))
  const table = new DuplicateTable()
  expect([forged, victim].map((address, at) => table.firstOf(subject(address, "email"), null, at + 1))).toEqual([
    null,
    null,
  ])
})

test("a table holds as many inputs as its part of the memory has room for", () => {
  const table = commandDuplicates({ limitBytes: () => 4 * 24 * 100 })
  for (let row = 1; row <= 100; row++) table.firstRow(`${row}`, row)
  expect(table.isFull).toBe(false)
  table.firstRow("101", 101)
  expect(table.isFull).toBe(true)
  expect(distinctInputsWithin(1e12)).toBe(DISTINCT_INPUTS_MAX)
})

test("beyond its bound, it tells duplicates of the inputs that it remembers, and says that it is full", () => {
  const finder = new DuplicateTable(2)
  expect(["a", "b", "c", "c", "a"].map((input, at) => finder.firstRow(input, at + 1))).toEqual([
    null,
    null,
    null,
    null,
    1,
  ])
  expect(finder.isFull).toBe(true)
})

const subject = (text: string, kind: "email" | "domain" | "url" = "email") => parseSubject(kind, text, "t.test")

/** The first row of each of these addresses, where this provider runs the mail of all of them. */
function firstRows(addresses: readonly string[], operatedBy: string | null): readonly (number | null)[] {
  const table = new DuplicateTable()
  return addresses.map((address, at) => table.firstOf(subject(address), operatedBy, at + 1))
}

test("rows with the same mailbox or the same domain have one first row, and those without a valid input none", () => {
  expect(firstRows(["J.Doe+x@gmail.com", "jdoe@googlemail.com", "jdoe@hotmail.com", "a@b@c", "a@b@c"], null)).toEqual([
    null,
    1,
    null,
    null,
    null,
  ])
  const table = new DuplicateTable()
  expect(table.firstOf(subject("https://www.acme.com/a", "url"), null, 1)).toBeNull()
  expect(table.firstOf(subject("ACME.com.", "domain"), null, 2)).toBe(1)
  expect(table.firstOf(null, null, 3)).toBeNull()
})

const TAGGED = ["jane+a@acme.com", "jane@acme.com", "jane+b@acme.com", "JANE+A@acme.com", "bob@acme.com"]

test("tags tell mailboxes at a domain of one's own apart, unless a suite runs its mail", () => {
  expect(firstRows(TAGGED, null)).toEqual([null, null, null, 1, null])
  for (const suite of ["suite_a", "suite_b"]) expect(firstRows(TAGGED, suite)).toEqual([null, 1, 1, 1, null])
})

test("a row is found as the first one whether it was checked or only read, and however often it is read", () => {
  for (const suite of ["suite_a", null])
    for (let done = 0; done <= TAGGED.length; done++) {
      const table = new DuplicateTable()
      for (const _ of [1, 2])
        for (const [at, address] of TAGGED.slice(0, done).entries()) table.firstOf(subject(address), null, at + 1)
      const found = TAGGED.map((address, at) => table.firstOf(subject(address), suite, at + 1))
      expect(found).toEqual([...firstRows(TAGGED, suite)])
    }
})
