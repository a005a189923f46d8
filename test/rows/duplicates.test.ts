import { expect, test } from "bun:test"
import { parseSubject } from "../../src/check/address/parse-subject.ts"
import { canonicalInput, DuplicateTable } from "../../src/rows/duplicates.ts"

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

test("rows with the same mailbox or the same domain have one canonical input, and those without a valid one none", () => {
  const canonical = (kind: "email" | "domain" | "url", text: string) =>
    canonicalInput(parseSubject(kind, text, "t.test"))
  expect(canonical("email", "Jane+News@ACME.com")).toBe("jane@acme.com")
  expect(canonical("url", "https://www.acme.com/a")).toBe("acme.com")
  expect(canonical("domain", "ACME.com.")).toBe("acme.com")
  expect(canonical("email", "a@b@c")).toBeNull()
  expect(new DuplicateTable().firstOf(null, 1)).toBeNull()
})
