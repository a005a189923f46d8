import { packOf } from "../src/check/lists/build.ts"
import type { Shelf } from "../src/check/lists/entries.ts"
import { readStock, type Stock } from "../src/check/lists/stock.ts"
import { type Lists, openLists } from "../src/check/lists.ts"

/** The sources of the lists as they stand on the shelf now: what was edited counts, whether it is built or not. */
export function stockOn(shelf: Shelf): Stock {
  const read = readStock(shelf.read("data/catalogue.json"), shelf)
  if (read.kind === "refused") throw new Error(["the sources are faulty:", ...read.faults].join("\n"))
  return read.stock
}

/** The lists that a stock gives, built in memory. */
export function listsOf(stock: Stock): Lists {
  const built = packOf(stock)
  if (built.kind === "refused") throw new Error(["the sources are faulty:", ...built.faults].join("\n"))
  const opened = openLists(built.bytes, true)
  if (opened.kind === "refused") throw new Error(opened.says)
  return opened.lists
}
