import { expect, test } from "bun:test"
import { formatManifest, type PackManifest, shrinkageMessages } from "../../../src/check/lists/manifest.ts"
import { buildPackFromFiles } from "./build/build-pack-from-files.ts"
import { fakeSourceFiles } from "./sources/fake-source-files.ts"

/** The manifest of a pack with this many disposable names. */
function manifestOf(count: number): PackManifest {
  const names = Array.from({ length: count }, (_, at) => `n${at}.com`)
  const { catalogue, shelf } = fakeSourceFiles({ list: { set: "disposable", trust: "high", names } })
  const built = buildPackFromFiles(catalogue, shelf)
  if (built.kind === "refused") throw new Error(built.faults.join("\n"))
  return built.manifest
}

test("the text of a manifest parses to the manifest and ends with a line feed", () => {
  const manifest = manifestOf(3)
  expect(JSON.parse(formatManifest(manifest))).toEqual(manifest)
  expect(formatManifest(manifest)).toEndWith("}\n")
})

test("a list that loses a fifth of its entries is reported, and one that loses less is not", () => {
  expect(shrinkageMessages(manifestOf(100), manifestOf(81))).toEqual([])
  expect(shrinkageMessages(manifestOf(100), manifestOf(80))).toEqual([
    "The set disposable shrank from 100 to 80 entries.",
    "The source list shrank from 100 to 80 entries.",
  ])
  expect(shrinkageMessages(manifestOf(100), manifestOf(200))).toEqual([])
})
