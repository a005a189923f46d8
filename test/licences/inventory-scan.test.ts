import { describe, expect, test } from "bun:test"
import { scanInventory } from "../../scripts/licences/inventory-scan.ts"
import type { Inventory } from "../../src/licences/inventory.ts"
import { smallCheckout } from "./small-checkout.ts"

function inventory(changes?: Readonly<Record<string, string | null>>): Inventory {
  const taken = scanInventory(smallCheckout(changes))
  if (taken.kind === "refused") throw new Error(taken.faults.join("\n"))
  return taken.inventory
}

const faults = (changes: Readonly<Record<string, string | null>>): readonly string[] => {
  const taken = scanInventory(smallCheckout(changes))
  return taken.kind === "refused" ? taken.faults : []
}

describe("the inventory of a checkout", () => {
  test("has what the program needs, and what that needs, each once, and why it is there", () => {
    expect(inventory().packages.map(({ name, version, use }) => `${name}@${version} ${use}`)).toEqual([
      "a@1.0.0 server",
      "altcha@1.0.0 pages",
      "b@1.0.0 pages",
      "b@2.0.0 server",
      "c@1.0.0 server",
      "lists@1.0.0 lists",
    ])
  })

  test("tells what needs what by the version that it gets, and of lists that they need nothing", () => {
    const needs = Object.fromEntries(inventory().packages.map(({ name, version, needs: all }) => [name + version, all]))
    expect(needs["a1.0.0"]).toEqual(["b@2.0.0", "c@1.0.0"])
    expect(needs["b2.0.0"]).toEqual(["c@1.0.0"])
    expect(needs["lists1.0.0"]).toEqual([])
    expect(inventory().roots).toEqual(["a@1.0.0", "altcha@1.0.0", "lists@1.0.0"])
  })

  test("has each licence and notice that a package brings, each text once, and the standard text where it brings none", () => {
    const { packages, allTexts } = inventory()
    const textsOf = (name: string, version = "1.0.0") =>
      packages.find(each => each.name === name && each.version === version)?.texts.map(at => allTexts[at])
    expect(textsOf("a")).toEqual(["A's licence", "A's notice"])
    expect(textsOf("b")).toEqual(["A's licence"])
    expect(textsOf("lists")).toEqual(["Lists' licence"])
    expect(textsOf("b", "2.0.0")).toEqual(["MIT License\n\nCopyright (c) Ada"])
    expect(textsOf("altcha")).toEqual(["MIT License\n\nCopyright (c) the authors of altcha"])
    expect(allTexts).toEqual([...new Set(allTexts)])
  })

  test("goes by the alternative that is allowed, and says what was declared", () => {
    const found = inventory().packages.find(({ name }) => name === "c")
    expect([found?.licence, found?.chosen]).toEqual(["(GPL-3.0-only OR ISC)", ["ISC"]])
  })

  test("writes out where a package is developed", () => {
    expect(inventory().packages.map(({ origin }) => origin)).toEqual([
      ...["https://github.com/ada/a", "", "", "https://github.com/ada/b", "", ""],
    ])
  })

  test("has the sources of lists with the package that they stand in, extracts with their notice, and the runtime", () => {
    const { sources, runtime, allTexts } = inventory()
    expect(sources.map(({ id, package: stands }) => [id, stands])).toEqual([
      ["common-words.txt", ""],
      ["confusables.txt", ""],
      ["listed", "lists@1.0.0"],
      ["rdap/dns.json", ""],
    ])
    expect(sources.map(({ texts }) => texts.map(at => allTexts[at]).join())).toEqual(["W", "U", "Lists' licence", "R"])
    expect([runtime.name, runtime.version]).toEqual(["bun", "9.9.9"])
  })
})

describe("a checkout is not passed on", () => {
  test("with a licence that the policy does not allow", () => {
    const gpl = JSON.stringify({ version: "1.0.0", license: "GPL-3.0-only" })
    expect(faults({ "node_modules/b/package.json": gpl })).toEqual([
      "b@1.0.0: the licence `GPL-3.0-only` is not allowed (src/licences/inventory.ts).",
    ])
    expect(faults({ "node_modules/b/package.json": '{"version":"1.0.0"}' })[0]).toContain("the licence is not named")
  })

  test("with another version than the locked one, or without one", () => {
    const other = JSON.stringify({ version: "1.0.1", license: "MIT" })
    expect(faults({ "node_modules/b/package.json": other })).toEqual(["b@1.0.0: 1.0.1 is installed."])
    expect(faults({ "node_modules/b/package.json": null })[0]).toBe("b@1.0.0: nothing is installed.")
  })

  test("without a text for a licence that asks for it", () => {
    expect(faults({ "node_modules/c/COPYING": null })).toEqual(["c@1.0.0: it brings no licence text."])
    expect(faults({ "data/NOTICE.md": "" })).toHaveLength(3)
  })

  test("with a source under a licence that the policy does not allow", () => {
    const manifest = JSON.parse(smallCheckout().read("data/manifest.json"))
    manifest.sources.listed.licence = "CC-BY-NC-4.0"
    expect(faults({ "data/manifest.json": JSON.stringify(manifest) })[0]).toContain("`CC-BY-NC-4.0` is not allowed")
  })

  test.each([
    ["a git repository", ["b@github:ada/b", "", {}, "sha512-"]],
    ["another registry", ["b@1.0.0", "https://registry.example/", {}, `sha512-${"A".repeat(86)}==`]],
    ["no digest", ["b@1.0.0", "", {}]],
    ["a weak digest", ["b@1.0.0", "", {}, "sha1-AAAA"]],
  ])("with a package that the lock file has from %s", (_, entry) => {
    const lock = JSON.parse(smallCheckout().read("bun.lock"))
    lock.packages.b = entry
    expect(faults({ "bun.lock": JSON.stringify(lock) }).join()).toContain("bun.lock/packages/b")
  })
})
