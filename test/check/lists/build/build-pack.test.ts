import { expect, test } from "bun:test"
import { openedPack } from "../pack/small-pack.ts"
import { type FakeSource, fakeSourceFiles } from "../sources/fake-source-files.ts"
import { buildPackFromFiles } from "./build-pack-from-files.ts"

const SOURCES: Readonly<Record<string, FakeSource>> = {
  throwaway: { set: "disposable", trust: "high", names: ["a.com", "b.com", "A.com", "no name", "b.ry", "edu.pl"] },
  providers: { set: "personal", trust: "curated", names: ["gmail.com", "aol.com"] },
  known: { set: "organisation", trust: "curated", names: ["stripe.com"] },
  roles: { set: "role", trust: "curated", names: ["postmaster"] },
}

function built(sources: Readonly<Record<string, FakeSource>>) {
  const { catalogue, shelf } = fakeSourceFiles(sources)
  const found = buildPackFromFiles(catalogue, shelf)
  if (found.kind === "refused") throw new Error(found.faults.join("\n"))
  return found
}

const faults = (sources: Readonly<Record<string, FakeSource>>, change: (path: string, text: string) => string) => {
  const { catalogue, shelf } = fakeSourceFiles(sources)
  const found = buildPackFromFiles(catalogue, { ...shelf, read: path => change(path, shelf.read(path)) })
  return found.kind === "refused" ? found.faults : []
}

test("the manifest accounts for every entry of every source", () => {
  const { manifest, report } = built(SOURCES)
  expect(manifest.sources["throwaway"]).toMatchObject({
    read: 6,
    repeated: 1,
    kept: 2,
    dropped: { malformed: 1, public_suffix: 1, unknown_tld: 1 },
  })
  for (const { read, repeated, kept, dropped } of Object.values(manifest.sources))
    expect(read).toBe(repeated + kept + Object.values(dropped).reduce((sum, count) => sum + count, 0))
  expect(manifest.entries).toMatchObject({ disposable: 2, personal: 2, organisation: 1 })
  expect(manifest.packages).toEqual({ throwaway: { version: "1.0.0", licence: "MIT" } })
  expect(manifest.built_at).toBe("2026-11-20T00:00:00.000Z")
  expect(report.malformed).toEqual({ throwaway: ["b.ry", "no name"] })
})

test("the targets are the providers, most used first, and then the organisations", () => {
  expect(openedPack(built(SOURCES).bytes).targets.map(({ name }) => name)).toEqual([
    "gmail.com",
    "aol.com",
    "stripe.com",
  ])
})

test("the same sources give the same bytes, whatever the order of their entries and rows", () => {
  const turned = Object.fromEntries(
    Object.entries(SOURCES)
      .reverse()
      .map(([id, source]) => [id, { ...source, names: source.names.toReversed() }]),
  )
  expect(built(turned).bytes).toEqual(built(SOURCES).bytes)
  expect(built(turned).manifest).toEqual(built(SOURCES).manifest)
})

test("one changed entry changes the version", () => {
  const changed = { ...SOURCES, known: { set: "organisation", trust: "curated", names: ["square.com"] } } as const
  expect(built(changed).manifest.version).not.toBe(built(SOURCES).manifest.version)
})

test("a curated entry that a rule drops is reported", () => {
  const { report } = built({ mine: { set: "personal", trust: "curated", names: ["github.io", "gmail.com"] } })
  expect(report.curatedDropped).toEqual([{ name: "github.io", source: "mine", rule: "public_suffix" }])
})

test("a missing file, a wrong set and a changed licence are all reported and refuse the build", () => {
  const found = faults(SOURCES, (path, text) => {
    if (path === "data/known.txt") throw new Error("gone")
    if (path.endsWith("package.json")) return text.replace("MIT", "GPL-3.0")
    return path === "data/roles.txt" ? text.replace("set: role", "set: group") : text
  })
  expect(found).toHaveLength(3)
  expect(found.join("\n")).toMatch(/GPL-3\.0/)
  expect(found.join("\n")).toMatch(/known: cannot be read: .*gone/)
  expect(found.join("\n")).toMatch(/roles: the file says it is group, the catalogue role/)
})

test("a word that is both a group word and a shared-inbox word refuses the build", () => {
  const words = (set: string): FakeSource => ({ set, trust: "curated", names: ["team"] })
  expect(faults({ a: words("group"), b: words("shared_inbox") }, (_, text) => text)).toEqual([
    '"team" is a group word and a shared-inbox word',
  ])
})
