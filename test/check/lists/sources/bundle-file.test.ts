import { expect, test } from "bun:test"
import fc from "fast-check"
import {
  decodeBundle,
  encodeBundle,
  readSourceBundle,
  type SourceBundle,
} from "../../../../src/check/lists/sources/source-bundle.ts"
import { fakeSourceFiles } from "./fake-source-files.ts"

const readBack = (stock: SourceBundle): SourceBundle => decodeBundle(new Uint8Array(encodeBundle(stock)))

function stockOf(names: readonly string[]): SourceBundle {
  const { catalogue, shelf } = fakeSourceFiles({
    list: { set: "disposable", trust: "high", names },
    none: { set: "disposable", trust: "low", names: [], isDownloaded: true },
    mine: { set: "personal", trust: "curated", names: ["gmail.com"] },
  })
  const read = readSourceBundle(catalogue, shelf)
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  return read.bundle
}

test("a bundle is decoded as it was encoded, including empty sources and sources of one entry", () => {
  const entry = fc.string({ minLength: 1, unit: "grapheme" }).filter(text => !text.includes("\n"))
  fc.assert(
    fc.property(fc.array(entry), names => {
      const stock = stockOf(names)
      expect(readBack(stock)).toEqual(stock)
    }),
  )
})

test("an entry of two lines is an invariant error", () => {
  expect(() => encodeBundle(stockOf(["a.com\nb.com"]))).toThrow("single line")
})
