import { expect, test } from "bun:test"
import type { CatalogueSource } from "../../../src/check/lists/sources/catalogue.ts"
import { readDownloadedSource } from "../../../src/check/refresh/downloaded-source.ts"

const NO_RULES = { neverListed: new Set<string>(), knownFaults: new Set<string>(), builtIn: null }

const rowOf = (format: CatalogueSource["from"]["format"], at: string): CatalogueSource => ({
  id: "offices",
  set: "government",
  trust: "high",
  from: { url: "https://lists.example/offices", file: "offices", format, at },
})

test.each<[string, CatalogueSource, string, string]>([
  ["a table without its column", rowOf("csv", "Domain name"), "Host\nnasa.gov\n", "no column Domain name"],
  ["a text that is no JSON", rowOf("json", "*"), "[jane@secret.example]", "not JSON"],
])("%s is refused with a message that repeats nothing of it", (_, row, text, why) => {
  expect(readDownloadedSource(row, text, null, NO_RULES)).toEqual({
    kind: "refused",
    message: `It cannot be read: ${why}.`,
  })
})

test("entries that are no names by the row of their source are left out, and are no mistakes of it", () => {
  const row = rowOf("csv", "Kind!=Charity.Name")
  const government = { ...row, from: { ...row.from, without: "/" } }
  const pages = Array.from({ length: 5 }, (_, at) => `host${at}.com/town,Town\n`).join("")
  const text = `Name,Kind\ntown.us,Town\n${pages}help.org,Charity\n`
  expect(readDownloadedSource(government, text, null, NO_RULES)).toMatchObject({
    kind: "valid",
    entries: ["town.us"],
    malformedCount: 0,
  })
  expect(readDownloadedSource(row, text, null, NO_RULES)).toMatchObject({ kind: "refused" })
})

test("names are stored in the normal form of their set, without duplicates", () => {
  const entriesOf = (set: CatalogueSource["set"], text: string) => {
    const read = readDownloadedSource({ ...rowOf("lines", ""), set }, text, null, NO_RULES)
    return read.kind === "valid" ? read.entries : read.message
  }
  expect(entriesOf("government", "NASA.gov.\nnasa.gov\n")).toEqual(["nasa.gov"])
  expect(entriesOf("government_suffix", "*.GOV.uk\ngov.pl\n")).toEqual(["*.gov.uk", "gov.pl"])
  expect(entriesOf("role", "Sales\nsales\n")).toEqual(["sales"])
})

test("lines of an own list that are no names are counted and placed, and too many of them refuse it", () => {
  const names = Array.from({ length: 300 }, (_, n) => `||own${n}.com^`)
  const read = (more: readonly string[]) =>
    readDownloadedSource(rowOf("names", ""), `${[...names, ...more].join("\n")}\n`, null, NO_RULES)
  expect(read([])).toMatchObject({ kind: "valid", unreadable: null })
  expect(read(["! x", "no name", "@@||a.com^"])).toMatchObject({
    ...{ kind: "valid", malformedCount: 2, unreadable: { count: 2, first_line: 302 } },
  })
  expect(read(Array(5).fill("no name"))).toEqual({
    kind: "refused",
    message: "5 of its 305 entries are not names, the first on line 301.",
  })
})
