import { type BuildPackResult, buildPack } from "../check/lists/build/build-pack.ts"
import { formatManifest, type PackManifest, shrinkageMessages } from "../check/lists/manifest.ts"
import { encodeBundle, readSourceBundle, type SourceBundle } from "../check/lists/sources/source-bundle.ts"
import type { SourceFiles } from "../check/lists/sources/source-formats.ts"
import { brandFaults } from "../check/lookalike/brands/brand-faults.ts"
import { CommandError, type Output, printJson } from "./output.ts"

/** A checkout of the project, with the sources and the pack. Paths are relative to its root. */
export type RepoCheckout = SourceFiles & {
  readonly write: (path: string, bytes: Uint8Array | string) => Promise<void>
  readonly exists: (path: string) => boolean
}

const CATALOGUE = "data/catalogue.json"
/** The household brands, which the program holds itself; a build of the lists only looks whether they are right. */
const BRANDS = "data/brands.txt"
const MANIFEST = "data/manifest.json"
const PACK = "data/build/lists.pack"
/** All sources of the pack, for a refresh. */
const SOURCE_BUNDLE = "data/build/sources.stock"
/** A digest of all inputs: the same digest gives the same pack. */
const INPUTS_DIGEST = "data/build/lists.inputs"

type ListsBuildOptions = {
  readonly quiet: boolean
  readonly check: boolean
  readonly shrink: boolean
  readonly json: boolean
}

/**
 * `lists build`: builds the pack from its sources and writes it with its manifest; nothing is read again when no input
 * changed. With `check` the manifest is not written, and a difference fails. A set or source that lost a fifth of its
 * entries is refused unless `shrink` says that it is meant.
 */
export async function listsBuild(output: Output, checkout: RepoCheckout, options: ListsBuildOptions): Promise<void> {
  const inputs = inputsDigest(checkout)
  const before = checkout.exists(MANIFEST) ? checkout.read(MANIFEST) : null
  const isThere = [PACK, SOURCE_BUNDLE, INPUTS_DIGEST].every(checkout.exists)
  const isFresh = !options.check && isThere && checkout.read(INPUTS_DIGEST) === inputs
  if (isFresh && before !== null) {
    if (!options.quiet) printManifest(output, JSON.parse(before), options)
    return
  }
  output.stderrLine("Building the lists. This may take a minute.")
  const { built, bundle } = buildOrFail(checkout, before, options)
  const text = formatManifest(built.manifest)
  if (options.check && text !== before)
    throw new CommandError(`${MANIFEST} differs from its sources. Run \`lists build\` and review the difference.`)
  await checkout.write(PACK, built.bytes)
  await checkout.write(SOURCE_BUNDLE, encodeBundle(bundle))
  await checkout.write(INPUTS_DIGEST, inputs)
  if (text !== before) await checkout.write(MANIFEST, text)
  printManifest(output, built.manifest, options)
}

function buildOrFail(
  checkout: RepoCheckout,
  before: string | null,
  { shrink }: ListsBuildOptions,
): { readonly built: Extract<BuildPackResult, { readonly kind: "built" }>; readonly bundle: SourceBundle } {
  const faults = brandFaults(checkout.read(BRANDS))
  if (faults.length > 0) throw invalidSources(faults)
  const read = readSourceBundle(checkout.read(CATALOGUE), checkout)
  if (read.kind === "refused") throw invalidSources(read.faults)
  const built = buildPack(read.bundle)
  if (built.kind === "refused") throw invalidSources(built.faults)
  const lost = before === null || shrink ? [] : shrinkageMessages(JSON.parse(before), built.manifest)
  if (lost.length > 0)
    throw new CommandError(
      ["a list lost a fifth of its entries. If this is right, use --shrink:", ...lost].join("\n  "),
    )
  return { built, bundle: read.bundle }
}

const invalidSources = (faults: readonly string[]): CommandError =>
  new CommandError(["the sources are faulty:", ...faults].join("\n  "))

function printManifest(output: Output, manifest: PackManifest, options: ListsBuildOptions): void {
  if (options.json) {
    printJson(output, manifest)
    return
  }
  const names = Object.values(manifest.entries).reduce((sum, count) => sum + count, 0)
  output.line(`lists ${manifest.version}: ${names} entries in ${manifest.pack.bytes} bytes`)
}

/** The digest of all inputs. The lock file stands for the packages, our own files are read. */
function inputsDigest(checkout: RepoCheckout): string {
  const folders = ["data/curated", "data/words", "src/check/lists", "src/check/lookalike/brands"]
  const paths = [
    "bun.lock",
    CATALOGUE,
    BRANDS,
    ...folders.flatMap(folder => checkout.list(folder).map(name => `${folder}/${name}`)),
  ]
  const digest = new Bun.CryptoHasher("sha256")
  for (const path of paths.sort()) digest.update(`${path}\0${checkout.read(path)}\0`)
  return digest.digest("hex")
}
