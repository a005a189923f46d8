import { assert } from "../../base/assert.ts"
import type { SourceRow } from "./catalogue.ts"
import type { Header } from "./entries.ts"
import type { Manifest } from "./manifest.ts"
import { NEVER_LATER, type Stock } from "./stock.ts"

/** The JSON within the file, which is packed by Zstandard (RFC 8878). Entries are parted by line feeds, which none has. */
type Contents = {
  readonly format: 1
  readonly providersFirst: readonly string[]
  readonly packages: Manifest["packages"]
  readonly sources: readonly {
    readonly row: SourceRow
    readonly header: Header | null
    readonly date: string | null
    readonly misshapen: number
    readonly entries: string
  }[]
}

/** The bytes of a stock without copies: what a refresh in the executable builds from. */
export function stockBytes({ providersFirst, packages, sources }: Stock): Uint8Array {
  const contents: Contents = {
    format: 1,
    providersFirst,
    packages,
    sources: sources.map(({ row, header, date, misshapen, entries }) => {
      assert(
        entries.every(entry => !entry.includes("\n")),
        "no reader gives an entry of two lines",
      )
      return { row, header, date, misshapen, entries: entries.join("\n") }
    }),
  }
  return Bun.zstdCompressSync(JSON.stringify(contents), { level: LEVEL })
}

/** A fifth smaller than by default, for a second of building. */
const LEVEL = 15

/** Reads bytes that `stockBytes` wrote; they are ours, and damage to them is our fault. */
export function readStockFile(bytes: Uint8Array<ArrayBuffer>): Stock {
  const contents: Contents = JSON.parse(new TextDecoder().decode(Bun.zstdDecompressSync(bytes))) // written by `stockBytes`
  assert(contents.format === 1, "the stock is of this program's format")
  const { providersFirst, packages } = contents
  const sources = contents.sources.map(({ entries, ...source }) => ({
    ...source,
    entries: entries === "" ? [] : entries.split("\n"),
    since: NEVER_LATER,
  }))
  return { providersFirst, packages, sources }
}
