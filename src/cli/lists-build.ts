import { type Built, packOf } from "../check/lists/build.ts"
import type { Shelf } from "../check/lists/entries.ts"
import { type Manifest, manifestText, shrunken } from "../check/lists/manifest.ts"
import { readStock, type Stock } from "../check/lists/stock.ts"
import { stockBytes } from "../check/lists/stock-file.ts"
import { CommandFailure, json, type Output } from "./output.ts"

/** A checkout of the project: sources to read, and where the pack goes. Paths are from its root. */
export type Checkout = Shelf & {
  readonly write: (path: string, bytes: Uint8Array | string) => Promise<void>
  readonly exists: (path: string) => boolean
}

const CATALOGUE = "data/catalogue.json"
const MANIFEST = "data/manifest.json"
const PACK = "data/build/lists.pack"
/** All that the pack was built from, for a refresh. */
const STOCK = "data/build/sources.stock"
/** What the pack was built from, as one digest: the same digest, the same pack. */
const INPUTS = "data/build/lists.inputs"

type Options = { readonly quiet: boolean; readonly check: boolean; readonly shrink: boolean; readonly json: boolean }

/**
 * `lists build`: builds the pack from its sources and writes it with its manifest; nothing is read again when no input
 * changed. With `check` the manifest is not written, and a difference fails. A set or source that lost a fifth of its
 * entries is refused unless `shrink` says that it is meant.
 */
export async function listsBuild(output: Output, checkout: Checkout | null, options: Options): Promise<void> {
  if (checkout === null)
    throw new CommandFailure("Lists are built in a checkout of the project; the executable carries the result.")
  const inputs = inputsOf(checkout)
  const before = checkout.exists(MANIFEST) ? checkout.read(MANIFEST) : null
  const isThere = [PACK, STOCK, INPUTS].every(checkout.exists)
  const isFresh = !options.check && isThere && checkout.read(INPUTS) === inputs
  if (isFresh && before !== null) {
    if (!options.quiet) tell(output, JSON.parse(before), options)
    return
  }
  const { built, stock } = builtFrom(checkout, before, options)
  const text = manifestText(built.manifest)
  if (options.check && text !== before)
    throw new CommandFailure(
      `${MANIFEST} differs from what its sources give; run \`lists build\` and review the difference.`,
    )
  await checkout.write(PACK, built.bytes)
  await checkout.write(STOCK, stockBytes(stock))
  await checkout.write(INPUTS, inputs)
  if (text !== before) await checkout.write(MANIFEST, text)
  tell(output, built.manifest, options)
}

function builtFrom(
  checkout: Checkout,
  before: string | null,
  { shrink }: Options,
): { readonly built: Extract<Built, { readonly kind: "built" }>; readonly stock: Stock } {
  const read = readStock(checkout.read(CATALOGUE), checkout)
  if (read.kind === "refused") throw faulty(read.faults)
  const built = packOf(read.stock)
  if (built.kind === "refused") throw faulty(built.faults)
  const lost = before === null || shrink ? [] : shrunken(JSON.parse(before), built.manifest)
  if (lost.length > 0)
    throw new CommandFailure(
      ["a list lost a fifth of its entries; --shrink says that it is meant:", ...lost].join("\n  "),
    )
  return { built, stock: read.stock }
}

const faulty = (faults: readonly string[]): CommandFailure =>
  new CommandFailure(["the sources are faulty:", ...faults].join("\n  "))

function tell(output: Output, manifest: Manifest, options: Options): void {
  if (options.json) {
    json(output, manifest)
    return
  }
  const names = Object.values(manifest.entries).reduce((sum, count) => sum + count, 0)
  output.line(`lists ${manifest.version}: ${names} entries in ${manifest.pack.bytes} bytes`)
}

/** The lock file pins the packages; what is ours is read. */
function inputsOf(checkout: Checkout): string {
  const folders = ["data/curated", "data/words", "src/check/lists"]
  const paths = [
    "bun.lock",
    CATALOGUE,
    ...folders.flatMap(folder => checkout.list(folder).map(name => `${folder}/${name}`)),
  ]
  const digest = new Bun.CryptoHasher("sha256")
  for (const path of paths.sort()) digest.update(`${path}\0${checkout.read(path)}\0`)
  return digest.digest("hex")
}
