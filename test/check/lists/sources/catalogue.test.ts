import { expect, test } from "bun:test"
import { isDownloaded, parseCatalogue } from "../../../../src/check/lists/sources/catalogue.ts"
import { repositoryFiles } from "./repository-files.ts"

const row = {
  id: "a-list",
  set: "disposable",
  trust: "high",
  from: { package: "a", file: "list.json", format: "json", at: "*" },
  licence: "MIT",
  origin: "https://example.com",
  date: "2026-11-20",
}

const faults = (...sources: readonly object[]): readonly string[] => {
  const found = parseCatalogue(JSON.stringify({ format: 1, providers_first: [], sources }))
  return found.kind === "refused" ? found.faults : []
}

test("the catalogue of this repository has no fault, and each of its packages is pinned to one version", () => {
  const found = parseCatalogue(repositoryFiles.read("data/catalogue.json"))
  const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(
    repositoryFiles.read("package.json"),
  )
  expect(found.kind).toBe("catalogue")
  const packages = found.kind === "catalogue" ? found.sources.flatMap(({ from }) => from.package ?? []) : []
  for (const name of packages) expect(devDependencies[name]).toMatch(/^\d+\.\d+\.\d+$/)
  const never = [
    "disposable-email-detector",
    "fakemail-guard",
    "@dahoom/disposable-email",
    "temporary-email-validator",
    "dohjs",
  ]
  expect(packages.filter(name => never.includes(name))).toEqual([])
})

test("no list that names great providers is downloaded, and a mirror of a download that is not large is recognised by the end of its URL", () => {
  const found = parseCatalogue(repositoryFiles.read("data/catalogue.json"))
  const downloads = found.kind === "catalogue" ? found.sources.filter(isDownloaded) : []
  expect(downloads.length).toBeGreaterThan(0)
  for (const { id, from } of downloads) {
    const isRecognised = decodeURIComponent(from.url ?? "").endsWith(`/${from.file}`)
    expect([id, isRecognised || from.large !== undefined]).toEqual([id, true])
    expect(from.url).not.toMatch(/doodad-labs|amieiro/)
  }
})

test("a valid row has no fault", () => {
  expect(faults(row)).toEqual([])
})

test("every fault is reported with its row", () => {
  expect(faults({ ...row, set: "spam", trust: "some", extra: 1 }).length).toBeGreaterThanOrEqual(3)
  expect(faults({ ...row, set: "spam" })[0]).toContain("/sources/0/set")
  expect(faults(row, row)).toEqual(["catalogue/sources/1 (a-list): the id is taken"])
  expect(faults({ ...row, licence: undefined })).toEqual([
    "catalogue/sources/0 (a-list): licence, origin and date are needed",
  ])
  const window = { days: 180, names: 1000 }
  const download = { ...row, from: { url: "https://a.example/a", file: "a", format: "lines" }, date: undefined, window }
  expect(faults(download)).toEqual([])
  for (const wrong of [
    { ...row, window },
    { ...download, set: "popular" },
  ])
    expect(faults(wrong)).toEqual(["catalogue/sources/0 (a-list): a window is a download of names that renews nothing"])
  expect(faults({ ...row, witness: "independent" })[0]).toStartWith("catalogue/sources/0/witness")
  expect(faults({ ...row, from: { ...row.from, file: "../x" } })[0]).toContain("outside")
  expect(faults({ ...row, from: { file: "x.txt", format: "lines", at: "*" } })[0]).toContain('"at" does not suit lines')
  expect(faults({ ...row, from: { file: "x.txt", format: "curated" } })[0]).toContain("stand in the curated file")
})

test("a text that is not JSON or not a catalogue is refused", () => {
  for (const text of ["", "{", "[]", "null", '{"format":2,"providers_first":[],"sources":[]}'])
    expect(parseCatalogue(text).kind).toBe("refused")
})
