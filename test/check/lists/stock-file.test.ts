import { expect, test } from "bun:test"
import fc from "fast-check"
import { packOf } from "../../../src/check/lists/build.ts"
import { readStock, type Stock } from "../../../src/check/lists/stock.ts"
import { readStockFile, stockBytes } from "../../../src/check/lists/stock-file.ts"
import { diskShelf } from "./disk-shelf.ts"
import { fakeShelf } from "./fake-shelf.ts"
import { realBuild } from "./real-build.ts"

/** Two packs of all names are built. */
const LIMIT_MS = 60_000

const readBack = (stock: Stock): Stock => readStockFile(new Uint8Array(stockBytes(stock)))

function stockOf(names: readonly string[]): Stock {
  const { catalogue, shelf } = fakeShelf({
    list: { set: "disposable", trust: "high", names },
    none: { set: "disposable", trust: "low", names: [], isDownloaded: true },
    mine: { set: "personal", trust: "curated", names: ["gmail.com"] },
  })
  const read = readStock(catalogue, shelf)
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  return read.stock
}

test("a stock reads back as it was written, with sources that are empty and those of one entry", () => {
  const entry = fc.string({ minLength: 1, unit: "grapheme" }).filter(text => !text.includes("\n"))
  fc.assert(
    fc.property(fc.array(entry), names => {
      const stock = stockOf(names)
      expect(readBack(stock)).toEqual(stock)
    }),
  )
})

test("an entry of two lines, which no reader gives, is not written", () => {
  expect(() => stockBytes(stockOf(["a.com\nb.com"]))).toThrow("two lines")
})

test(
  "the stock of this checkout gives, read back, the very pack that its sources give",
  () => {
    const read = readStock(diskShelf.read("data/catalogue.json"), diskShelf)
    if (read.kind === "refused") throw new Error(read.faults.join("\n"))
    const built = packOf(readBack(read.stock))
    if (built.kind === "refused") throw new Error(built.faults.join("\n"))
    expect(built.manifest).toEqual(realBuild().manifest)
    expect(Buffer.compare(built.bytes, realBuild().bytes)).toBe(0)
  },
  LIMIT_MS,
)
