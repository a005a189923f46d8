import { expect, test } from "bun:test"
import { listingStrength } from "../../../../src/check/lists/build/listing-strength.ts"
import { openedPack } from "../pack/small-pack.ts"
import { type FakeSource, fakeSourceFiles } from "../sources/fake-source-files.ts"
import { buildPackFromFiles } from "./build-pack-from-files.ts"

const SOURCES = {
  checked: { trust: "highest", witness: "sufficient" },
  one: { trust: "high" },
  another: { trust: "medium" },
  copy: { trust: "high", witness: "aggregator" },
  "copy-of-copy": { trust: "low", witness: "aggregator" },
} as const satisfies Record<string, Omit<FakeSource, "set" | "names">>
type SourceId = keyof typeof SOURCES
const IDS = Object.keys(SOURCES) as readonly SourceId[]

const LISTINGS = {
  "a.com": { by: ["checked"], strength: "strong" },
  "b.com": { by: ["one", "another"], strength: "strong" },
  "c.com": { by: ["one"], strength: "single" },
  "d.com": { by: ["one", "copy", "copy-of-copy"], strength: "single" },
  "e.com": { by: ["another", "copy"], strength: "single" },
  "f.com": { by: ["copy"], strength: "weak" },
  "g.com": { by: ["copy", "copy-of-copy"], strength: "weak" },
} as const satisfies Record<string, { by: readonly SourceId[]; strength: string }>

test("a listing is as strong as its independent witnesses are many, and aggregators are none", () => {
  const listedBy = (id: SourceId) =>
    Object.entries(LISTINGS).flatMap(([name, { by }]) => (by.some(source => source === id) ? [name] : []))
  const { catalogue, shelf } = fakeSourceFiles(
    Object.fromEntries(IDS.map(id => [id, { set: "disposable", names: listedBy(id), ...SOURCES[id] }])),
  )
  const built = buildPackFromFiles(catalogue, shelf)
  if (built.kind === "refused") throw new Error(built.faults.join("\n"))
  const pack = openedPack(built.bytes)
  expect(Object.keys(LISTINGS).map(name => [name, pack.match(name, name).strength])).toEqual(
    Object.entries(LISTINGS).map(([name, { strength }]) => [name, strength]),
  )
  expect(pack.match("other.com", "other.com").strength).toBeNull()
})

test("a weak listing below a strong one changes nothing, and a strong one below a weak one stays", () => {
  const { catalogue, shelf } = fakeSourceFiles({
    checked: { set: "disposable", names: ["strong.com", "x.weak.com"], ...SOURCES.checked },
    copy: { set: "disposable", names: ["weak.com", "x.strong.com"], ...SOURCES.copy },
  })
  const built = buildPackFromFiles(catalogue, shelf)
  if (built.kind === "refused") throw new Error(built.faults.join("\n"))
  const pack = openedPack(built.bytes)
  const strength = (name: string, registrable: string) => pack.match(name, registrable).strength
  expect([strength("x.strong.com", "strong.com"), strength("x.weak.com", "weak.com")]).toEqual(["strong", "strong"])
  expect(strength("y.weak.com", "weak.com")).toBe("weak")
})

test("a window source needs no second one, since its entries end by themselves", () => {
  const window = { days: 180, names: 1000 }
  const from = { url: "https://lists.example/a.conf", file: "a.conf", format: "lines" } as const
  const row = { id: "a", set: "disposable", trust: "high", from } as const
  expect([listingStrength([row]), listingStrength([{ ...row, window }])]).toEqual(["single", "strong"])
})
