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

test("a download is not there before it came", () => {
  const stock = stockOf(SOURCES)
  expect(stock.sources.find(({ row }) => row.id === "fresh")).toMatchObject({ entries: [], date: null })
  expect(packed(stock).manifest.sources["fresh"]).toMatchObject({ read: 0, kept: 0, date: "" })
  expect(sourcesOf(stock, "old.com")).toEqual([["bundled", null]])
})

test("a copy fills its own source and takes the place of the one that it renews", () => {
  const stock = withDownloads(stockOf(SOURCES), new Map([["fresh", copy(["both.com", "new.com"])]]))
  expect(sourcesOf(stock, "old.com")).toEqual([])
  expect(sourcesOf(stock, "both.com")).toEqual([["fresh", null]])
  const { manifest } = packed(stock)
  expect(manifest.sources["fresh"]).toMatchObject({ read: 2, kept: 2, date: "2027-02-03" })
  expect(manifest.sources["bundled"]).toMatchObject({ read: 0, kept: 0 })
  expect(manifest.built_at).toBe("2027-02-03T00:00:00.000Z")
})

test("a copy that renews nothing stands beside the others", () => {
  const stock = withDownloads(stockOf(SOURCES), new Map([["extra", copy(["old.com", "more.com"])]]))
  expect(sourcesOf(stock, "old.com").toSorted()).toEqual([
    ["bundled", null],
    ["extra", null],
  ])
  expect(sourcesOf(stock, "more.com")).toEqual([["extra", null]])
})

test("the day on which a name came in reaches its listing in the pack, and no other", () => {
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

test("a copy changes no source that is not downloaded, and one of nobody changes nothing", () => {
  const stock = stockOf(SOURCES)
  const copies = new Map([
    ["bundled", copy(["evil.com"])],
    ["providers", copy(["evil.com"])],
    ["nobody", copy(["evil.com"])],
  ])
  expect(packed(withDownloads(stock, copies)).manifest).toEqual(packed(stock).manifest)
})

test("an operator's own list is a source like the others", () => {
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
