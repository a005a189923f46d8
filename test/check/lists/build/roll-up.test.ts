import { describe, expect, test } from "bun:test"
import type { Pack } from "../../../../src/check/lists/pack/pack.ts"
import { openedPack } from "../pack/small-pack.ts"
import { type FakeSource, fakeSourceFiles } from "../sources/fake-source-files.ts"
import { buildPackFromFiles } from "./build-pack-from-files.ts"

function built(sources: Readonly<Record<string, FakeSource>>): Pack {
  const { catalogue, shelf } = fakeSourceFiles(sources)
  const result = buildPackFromFiles(catalogue, shelf)
  if (result.kind === "refused") throw new Error(result.faults.join("\n"))
  return openedPack(result.bytes)
}

const disposable = (trust: FakeSource["trust"], ...names: string[]): FakeSource => ({ set: "disposable", trust, names })
const below = (count: number, parent: string): string[] => Array.from({ length: count }, (_, at) => `x${at}.${parent}`)
const rolledUp = (pack: Pack, name: string) =>
  pack.listingsOf(name).find(({ source }) => source.startsWith("roll-up"))?.source ?? null

describe("a registrable domain is listed as disposable", () => {
  test("from three names below it on", () => {
    const pack = built({ a: disposable("high", ...below(2, "two.com"), ...below(3, "three.com")) })
    expect(pack.match("two.com", "two.com").sets).toEqual([])
    expect(pack.match("any.other.three.com", "three.com").sets).toEqual(["disposable"])
    expect(rolledUp(pack, "two.com")).toBeNull()
  })

  test("with the strength of the second best of them", () => {
    const pack = built({
      a: { ...disposable("highest", "a.one.com", "a.two.com", "b.two.com"), witness: "sufficient" },
      b: disposable("high", "b.one.com", "c.two.com"),
      c: { ...disposable("high", "c.one.com", "d.two.com", ...below(3, "three.com")), witness: "aggregator" },
    })
    expect(rolledUp(pack, "one.com")).toBe("roll-up-single")
    expect(rolledUp(pack, "two.com")).toBe("roll-up-strong")
    expect(rolledUp(pack, "three.com")).toBe("roll-up-weak")
    expect(["one.com", "two.com", "three.com"].map(name => pack.match(name, name).strength)).toEqual([
      "single",
      "strong",
      "weak",
    ])
  })

  test("only where its own listings are weaker, since names below it have the same witnesses", () => {
    const pack = built({
      a: disposable("high", "one.com", ...below(3, "one.com"), ...below(3, "two.com")),
      b: { ...disposable("high", "two.com"), witness: "aggregator" },
    })
    expect([rolledUp(pack, "one.com"), pack.match("one.com", "one.com").strength]).toEqual([null, "single"])
    expect([rolledUp(pack, "two.com"), pack.match("two.com", "two.com").strength]).toEqual(["roll-up-single", "single"])
  })

  test("and its source tells by how many names, with a manifest that counts them", () => {
    const { catalogue, shelf } = fakeSourceFiles({
      a: disposable("high", ...below(3, "one.com"), ...below(4, "two.com")),
    })
    const result = buildPackFromFiles(catalogue, shelf)
    if (result.kind === "refused") throw new Error(result.faults.join("\n"))
    expect(result.manifest.sources["roll-up-single"]).toMatchObject({
      set: "disposable",
      trust: "high",
      read: 2,
      kept: 2,
    })
    expect(result.manifest.sources["roll-up-single"]?.origin).toBe("3 or more names below it are listed")
  })
})

describe("a domain is not rolled up", () => {
  const names = below(5, "acme.com")
  for (const set of ["personal", "education", "government", "organisation", "relay", "agent_mailbox"])
    test(`if it is in the set ${set}`, () => {
      const pack = built({ a: disposable("high", ...names), b: { set, trust: "curated", names: ["acme.com"] } })
      expect(rolledUp(pack, "acme.com")).toBeNull()
    })
  for (const set of ["never_disposable", "popular", "not_personal", "removed_disposable"])
    test(`if the guard ${set} names it`, () => {
      const pack = built({ a: disposable("low", ...names), b: { set, trust: "curated", names: ["acme.com"] } })
      expect(rolledUp(pack, "acme.com")).toBeNull()
    })
  for (const suffix of ["edu.pl", "github.io", "co.uk"])
    test(`if it is a public suffix: ${suffix}`, () => {
      const pack = built({ a: disposable("high", ...below(5, suffix), ...below(3, `own.${suffix}`)) })
      expect(rolledUp(pack, suffix)).toBeNull()
      expect(rolledUp(pack, `own.${suffix}`)).toBe("roll-up-single")
    })
  test("by names that a rule keeps out of the set", () => {
    const pack = built({
      a: disposable("high", ...below(3, "acme.com")),
      b: { set: "never_disposable", trust: "curated", names: ["x0.acme.com"] },
    })
    expect(rolledUp(pack, "acme.com")).toBeNull()
  })
  test("under a suffix kept for education or government", () => {
    const pack = built({
      a: disposable("high", ...below(5, "acme.com")),
      b: { set: "education_suffix", trust: "curated", names: ["acme.com"] },
    })
    expect(rolledUp(pack, "acme.com")).toBeNull()
  })
})
