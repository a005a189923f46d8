import { expect, test } from "bun:test"
import type { SourceRow } from "../../../src/check/lists/catalogue.ts"
import { readStock, type Stock } from "../../../src/check/lists/stock.ts"
import { guardRules } from "../../../src/check/refresh/guard-rules.ts"
import { diskShelf } from "../lists/disk-shelf.ts"
import { OLD_COUNT, oldNames, smallStock } from "./small-house.ts"

function rulesOf(id: string, stock: Stock = smallStock()) {
  const row = stock.sources.find(source => source.row.id === id)?.row
  if (row === undefined) throw new Error(`${id} is no source`)
  return guardRules(stock, row)
}

test("no list may hold the foremost providers, and a list of disposable domains none that never is", () => {
  expect([...rulesOf("fresh").neverListed].toSorted()).toEqual(["gmail.com", "nasa.gov", "stripe.com"])
  expect([...rulesOf("offices").neverListed]).toEqual(["gmail.com"])
})

test("what comes along is the copy before the first of the source that renews it, and of no other", () => {
  expect(rulesOf("fresh").builtIn).toEqual({
    count: OLD_COUNT,
    names: new Set(oldNames(OLD_COUNT)),
    endsCleanly: false,
  })
  expect(rulesOf("extra").builtIn).toBeNull()
})

test("faults that come along with a source of the set are known; those in another set or a download are not", () => {
  const entries = (id: string, more: readonly string[]): Stock => {
    const stock = smallStock()
    const added = stock.sources.map(one => (one.row.id === id ? { ...one, entries: [...one.entries, ...more] } : one))
    return { ...stock, sources: added }
  }
  expect([...rulesOf("fresh", entries("bundled", ["Stripe.com"])).knownFaults]).toEqual(["stripe.com"])
  expect([...rulesOf("fresh", entries("extra", ["stripe.com"])).knownFaults]).toEqual([])
  expect([...rulesOf("fresh", entries("providers", ["stripe.com"])).knownFaults]).toEqual([])
})

test("names that are never disposable keep no list of offices and schools out", () => {
  const read = readStock(diskShelf.read("data/catalogue.json"), diskShelf)
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  const { stock } = read
  const isOfficial = ({ row }: { readonly row: SourceRow }): boolean => ["government", "education"].includes(row.set)
  for (const { row } of stock.sources.filter(isOfficial))
    for (const name of ["nasa.gov", "cdc.gov", "harvard.edu", "ox.ac.uk", "europa.eu"])
      expect([row.id, name, guardRules(stock, row).neverListed.has(name)]).toEqual([row.id, name, false])
})
