import { expect, test } from "bun:test"
import type { CatalogueSource } from "../../../src/check/lists/sources/catalogue.ts"
import { readSourceBundle, type SourceBundle } from "../../../src/check/lists/sources/source-bundle.ts"
import { validationContexts } from "../../../src/check/refresh/downloaded-source.ts"
import { repositoryFiles } from "../lists/sources/repository-files.ts"
import { OLD_COUNT, smallBundle } from "./refresh-fixture.ts"

function rulesOf(id: string, stock: SourceBundle = smallBundle()) {
  const row = stock.sources.find(source => source.row.id === id)?.row
  if (row === undefined) throw new Error(`${id} is no source`)
  return validationContexts(stock)(row)
}

test("no list may have the most used providers, and a disposable list no name that is never disposable, popular, or a curated provider", () => {
  const stock = smallBundle({
    fresh: { set: "disposable", trust: "low", names: [], isDownloaded: true },
    registry: { set: "government", trust: "high", names: [], isDownloaded: true },
    known: { set: "never_disposable", trust: "curated", names: ["stripe.com"] },
    visited: { set: "popular", trust: "curated", names: ["news.com"] },
    providers: { set: "personal", trust: "curated", names: ["post.de"] },
    mailers: { set: "personal", trust: "high", names: ["copied.com"] },
    firms: { set: "organisation", trust: "curated", names: ["firm.com"] },
    schools: { set: "education", trust: "high", names: ["school.org"] },
    colleges: { set: "education", trust: "medium", names: ["college.org"] },
    offices: { set: "government", trust: "high", names: ["office.org"] },
    abused: { set: "disposable", trust: "high", names: [], isDownloaded: true, window: { days: 180, names: 1000 } },
  })
  expect([...rulesOf("fresh", stock).neverListed].toSorted()).toEqual([
    "gmail.com",
    "news.com",
    "post.de",
    "stripe.com",
  ])
  expect([...rulesOf("registry", stock).neverListed]).toEqual(["gmail.com"])
  // A window may not have known organisations, offices and schools either; sources that are not trusted do not guard.
  expect([...rulesOf("abused", stock).neverListed].toSorted()).toEqual([
    "firm.com",
    "gmail.com",
    "news.com",
    "office.org",
    "post.de",
    "school.org",
    "stripe.com",
  ])
})

test("the row of a source says how many names it may list that no such list may hold", () => {
  const row = smallBundle().sources.find(source => source.row.id === "fresh")?.row
  if (row === undefined) throw new Error("fresh is no source")
  expect(validationContexts(smallBundle())(row).neverListedMax).toBeUndefined()
  expect(validationContexts(smallBundle())({ ...row, never_listed_max: 7 }).neverListedMax).toBe(7)
})

test("a built-in source is the previous list of the source that renews it, and of no other", () => {
  expect(rulesOf("fresh").builtIn).toEqual({ count: OLD_COUNT, endsWithNewline: false })
  expect(rulesOf("extra").builtIn).toBeNull()
})

test("faults of built-in sources of the same set are known, and those of another set or a download are not", () => {
  const entries = (id: string, more: readonly string[]): SourceBundle => {
    const stock = smallBundle()
    const added = stock.sources.map(one => (one.row.id === id ? { ...one, entries: [...one.entries, ...more] } : one))
    return { ...stock, sources: added }
  }
  expect([...rulesOf("fresh", entries("bundled", ["Stripe.com"])).knownFaults]).toEqual(["stripe.com"])
  expect([...rulesOf("fresh", entries("extra", ["stripe.com"])).knownFaults]).toEqual([])
  expect([...rulesOf("fresh", entries("providers", ["stripe.com"])).knownFaults]).toEqual([])
})

test("names that are never disposable are accepted in lists of offices and schools", () => {
  const read = readSourceBundle(repositoryFiles.read("data/catalogue.json"), repositoryFiles)
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  const { bundle } = read
  const isOfficial = ({ row }: { readonly row: CatalogueSource }): boolean =>
    ["government", "education"].includes(row.set)
  for (const { row } of bundle.sources.filter(isOfficial))
    for (const name of ["nasa.gov", "cdc.gov", "harvard.edu", "ox.ac.uk", "europa.eu"])
      expect([row.id, name, validationContexts(bundle)(row).neverListed.has(name)]).toEqual([row.id, name, false])
})
