import { expect, test } from "bun:test"
import { buildPack } from "../../../src/check/lists/build.ts"
import { type Manifest, manifestText, shrunken } from "../../../src/check/lists/manifest.ts"
import { fakeShelf } from "./fake-shelf.ts"

/** The manifest of a pack with this many disposable names. */
function manifestOf(count: number): Manifest {
  const names = Array.from({ length: count }, (_, at) => `n${at}.com`)
  const { catalogue, shelf } = fakeShelf({ list: { set: "disposable", trust: "high", names } })
  const built = buildPack(catalogue, shelf)
  if (built.kind === "refused") throw new Error(built.faults.join("\n"))
  return built.manifest
}

test("the text of a manifest reads back as the manifest and ends its last line", () => {
  const manifest = manifestOf(3)
  expect(JSON.parse(manifestText(manifest))).toEqual(manifest)
  expect(manifestText(manifest)).toEndWith("}\n")
})

test("a list that loses a fifth is told, one that loses less is not", () => {
  expect(shrunken(manifestOf(100), manifestOf(81))).toEqual([])
  expect(shrunken(manifestOf(100), manifestOf(80))).toEqual([
    "The set disposable shrank from 100 to 80 entries.",
    "The source list shrank from 100 to 80 entries.",
  ])
  expect(shrunken(manifestOf(100), manifestOf(200))).toEqual([])
})
