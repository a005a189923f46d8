import { expect, test } from "bun:test"
import { buildPack } from "../../../../src/check/lists/build/build-pack.ts"
import {
  type DownloadedSource,
  readSourceBundle,
  type SourceBundle,
  withDownloads,
} from "../../../../src/check/lists/sources/source-bundle.ts"
import { openedPack } from "../pack/small-pack.ts"
import { type FakeSource, fakeSourceFiles } from "./fake-source-files.ts"

const SOURCES: Readonly<Record<string, FakeSource>> = {
  bundled: { set: "disposable", trust: "high", names: ["old.com", "both.com"] },
  fresh: { set: "disposable", trust: "highest", names: [], isDownloaded: true, renews: "bundled" },
  extra: { set: "disposable", trust: "low", names: [], isDownloaded: true },
  providers: { set: "personal", trust: "curated", names: ["gmail.com"] },
}

function stockOf(sources: Readonly<Record<string, FakeSource>>): SourceBundle {
  const { catalogue, shelf } = fakeSourceFiles(sources)
  const read = readSourceBundle(catalogue, shelf)
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  return read.bundle
}

const copy = (entries: readonly string[], addedOn: Readonly<Record<string, string>> = {}): DownloadedSource => ({
  entries,
  malformedCount: 0,
  date: "2027-02-03",
  addedOn: new Map(Object.entries(addedOn)),
})

function packed(stock: SourceBundle) {
  const built = buildPack(stock)
  if (built.kind === "refused") throw new Error(built.faults.join("\n"))
  return { pack: openedPack(built.bytes), manifest: built.manifest }
}

const sourcesOf = (stock: SourceBundle, name: string) =>
  packed(stock)
    .pack.listingsOf(name)
    .map(({ source, since }) => [source, since])

test("a download is empty before the first refresh", () => {
  const stock = stockOf(SOURCES)
  expect(stock.sources.find(({ row }) => row.id === "fresh")).toMatchObject({ entries: [], date: null })
  expect(packed(stock).manifest.sources["fresh"]).toMatchObject({ read: 0, kept: 0, date: "" })
  expect(sourcesOf(stock, "old.com")).toEqual([["bundled", null]])
})

test("a download fills its own source and replaces the one that it renews", () => {
  const stock = withDownloads(stockOf(SOURCES), new Map([["fresh", copy(["both.com", "new.com"])]]))
  expect(sourcesOf(stock, "old.com")).toEqual([])
  expect(sourcesOf(stock, "both.com")).toEqual([["fresh", null]])
  const { manifest } = packed(stock)
  expect(manifest.sources["fresh"]).toMatchObject({ read: 2, kept: 2, date: "2027-02-03" })
  expect(manifest.sources["bundled"]).toMatchObject({ read: 0, kept: 0 })
  expect(manifest.built_at).toBe("2027-02-03T00:00:00.000Z")
})

test("a download that renews nothing adds to the other sources", () => {
  const stock = withDownloads(stockOf(SOURCES), new Map([["extra", copy(["old.com", "more.com"])]]))
  expect(sourcesOf(stock, "old.com").toSorted()).toEqual([
    ["bundled", null],
    ["extra", null],
  ])
  expect(sourcesOf(stock, "more.com")).toEqual([["extra", null]])
})

test("the day on which a name was added is in its listing of the pack and in no other", () => {
  const copies = new Map([
    ["fresh", copy(["both.com", "new.com"], { "new.com": "2027-02-03" })],
    ["extra", copy(["new.com", "both.com"], { "both.com": "2027-01-31" })],
  ])
  const stock = withDownloads(stockOf(SOURCES), copies)
  expect(sourcesOf(stock, "new.com").toSorted()).toEqual([
    ["extra", null],
    ["fresh", "2027-02-03"],
  ])
  expect(sourcesOf(stock, "both.com").toSorted()).toEqual([
    ["extra", "2027-01-31"],
    ["fresh", null],
  ])
})

test("a download changes no built-in source, and one of an unknown source changes nothing", () => {
  const stock = stockOf(SOURCES)
  const copies = new Map([
    ["bundled", copy(["evil.com"])],
    ["providers", copy(["evil.com"])],
    ["nobody", copy(["evil.com"])],
  ])
  expect(packed(withDownloads(stock, copies)).manifest).toEqual(packed(stock).manifest)
})

test("an operator's own list is a source like any other", () => {
  const stock = stockOf(SOURCES)
  const [own] = stockOf({ mine: { set: "disposable", trust: "high", names: [], isDownloaded: true } }).sources
  if (own === undefined) throw new Error("the stock has its source")
  const whole = withDownloads(
    { ...stock, sources: [...stock.sources, own] },
    new Map([["mine", copy(["blocked.com"])]]),
  )
  expect(sourcesOf(whole, "blocked.com")).toEqual([["mine", null]])
  expect(packed(whole).pack.match("blocked.com", "blocked.com").sets).toEqual(["disposable"])
})
