import { describe, expect, test } from "bun:test"
import { readSourceBundle } from "../../../src/check/lists/sources/source-bundle.ts"
import { INITIAL_REFRESH_STATE, type RefreshState, type SourceState } from "../../../src/check/refresh/refresh-state.ts"
import { requestedSources, resolveSource, retainedSources } from "../../../src/check/refresh/requested-sources.ts"
import { repositoryFiles } from "../lists/sources/repository-files.ts"
import { smallBundle } from "./refresh-fixture.ts"

const stock = smallBundle()
const NO_URLS: ReadonlyMap<string, string> = new Map()
const OWN_URL = "https://intranet.example/blocked.txt"

const request = (url: string): SourceState => ({ url, outcome: "taken", says: "", checked_at_ms: 1, changed_at_ms: 1 })
const after = (sources: RefreshState["sources"]): RefreshState => ({ ...INITIAL_REFRESH_STATE, sources })

const wanted = (urls = NO_URLS, before = INITIAL_REFRESH_STATE) => requestedSources(stock, urls, before)
const urlsOf = (...args: Parameters<typeof wanted>) =>
  Object.fromEntries([...wanted(...args)].map(([id, { url }]) => [id, url]))

const THEIR_OWN = {
  fresh: "https://lists.example/fresh.conf",
  extra: "https://lists.example/extra.conf",
  offices: "https://lists.example/offices.conf",
}

describe("a refresh downloads", () => {
  test("the downloaded sources of the catalogue, and no built-in ones", () => {
    expect(urlsOf()).toEqual(THEIR_OWN)
  })

  test("a source from the operator's URL, and the operator's own lists", () => {
    const urls = new Map([
      ["fresh", "https://mirror.example/f"],
      ["mine", OWN_URL],
    ])
    expect(urlsOf(urls)).toEqual({ ...THEIR_OWN, fresh: "https://mirror.example/f", mine: OWN_URL })
    expect(wanted(urls).get("mine")?.source).toMatchObject({
      row: { id: "mine", set: "disposable", trust: "high", from: { format: "names" } },
      entries: [],
      date: null,
    })
  })

  test("nothing in place of a built-in source", () => {
    expect(urlsOf(new Map([["bundled", OWN_URL]]))).toEqual(THEIR_OWN)
  })

  test("an own list that was given to an earlier refresh, and no other source of its state", () => {
    const before = after({
      "own-12345678": request(OWN_URL),
      mine: request(OWN_URL),
      fresh: request("https://once.example/"),
    })
    expect(urlsOf(NO_URLS, before)).toEqual({ ...THEIR_OWN, "own-12345678": OWN_URL })
    expect(urlsOf(new Map([["own-12345678", "https://moved.example/"]]), before)).toMatchObject({
      "own-12345678": "https://moved.example/",
    })
  })
})

describe("a source given", () => {
  const urls = new Map([["mine", OWN_URL]])
  const named = (text: string) => resolveSource(wanted(urls), text)

  test.each([
    ["by an id is that source", "extra", { id: "extra", url: "https://lists.example/extra.conf" }],
    ["by its URL is that source", OWN_URL, { id: "mine", url: OWN_URL }],
    [
      "by its URL in another spelling is that source",
      "HTTPS://intranet.example:443/blocked.txt",
      { id: "mine", url: OWN_URL },
    ],
    [
      "by a URL that ends with the file name of a source is its mirror",
      "https://mirror.example/a/extra.conf?raw=1",
      { id: "extra", url: "https://mirror.example/a/extra.conf?raw=1" },
    ],
  ])("%s", (_, text, found) => {
    expect(named(text)).toEqual(found)
  })

  test("by a URL with the folders of a source's file is its mirror if it has the download alone, and by the last part alone an own list", () => {
    const read = readSourceBundle(repositoryFiles.read("data/catalogue.json"), repositoryFiles)
    if (read.kind === "refused") throw new Error(read.faults.join("\n"))
    const requested = requestedSources(read.bundle, NO_URLS, INITIAL_REFRESH_STATE)
    for (const [id, { source }] of requested)
      expect([id, resolveSource(requested, `https://mirror.example/x/${source.row.from.file}`)?.id]).toEqual([
        id,
        source.row.from.large === undefined ? id : expect.stringMatching(/^own-/),
      ])
    for (const file of ["disposable-email-domains.txt", "index.json"])
      expect(resolveSource(requested, `https://mirror.example/${file}`)?.id).toMatch(/^own-/)
  })

  test("by another URL is an own list with a stable id", () => {
    const found = named("https://other.example/names.txt")
    expect(found).toEqual({ id: expect.stringMatching(/^own-[0-9a-f]{8}$/), url: "https://other.example/names.txt" })
    expect(named("https://OTHER.example/names.txt")).toEqual(found)
    expect(named("https://other.example/names2.txt")?.id).not.toBe(found?.id ?? "")
  })

  test.each(["https://other.example/", "https://other.example", "https://other.example/%zz", "https://a.example/%"])(
    "as %s is an own list, and no mirror",
    text => {
      expect(named(text)?.id).toMatch(/^own-/)
    },
  )

  test.each(["", "nobody", "bundled", "/etc/passwd", "constructor"])("as %j is nothing", text => {
    expect(named(text)).toBeNull()
  })

  test("by a URL with the percent-encoded file name of a source is its mirror", () => {
    const fake = { set: "disposable", trust: "high", names: [], isDownloaded: true } as const
    const plus = requestedSources(smallBundle({ "a-b": fake }), NO_URLS, INITIAL_REFRESH_STATE)
    const source = plus.get("a-b")
    if (source === undefined) throw new Error("a download is wanted")
    const row = { ...source.source.row, from: { ...source.source.row.from, file: "central+.csv" } }
    const renamed = new Map([["a-b", { ...source, source: { ...source.source, row } }]])
    for (const file of ["central+.csv", "central%2B.csv"])
      expect(resolveSource(renamed, `https://mirror.example/${file}`)?.id).toBe("a-b")
  })
})

test("a state keeps sources that are downloaded again, and drops an own list given once without a valid download", () => {
  const before = after({
    gone: request("https://gone.example/"),
    "own-00000001": request(OWN_URL),
    fresh: request(OWN_URL),
  })
  const urls = new Map([
    ["own-00000002", "https://two.example/"],
    ["own-00000003", "https://three.example/"],
    ["mine", OWN_URL],
  ])
  const now = Object.fromEntries([...urls].map(([id, url]) => [id, request(url)]))
  const kept = retainedSources(wanted(urls, before), before, now, id => id === "own-00000003")
  expect(Object.keys(kept).toSorted()).toEqual(["fresh", "mine", "own-00000001", "own-00000003"])
})
