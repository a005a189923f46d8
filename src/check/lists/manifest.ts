import { SET_NAMES, SETS, type SetName } from "./sets.ts"

/** What became of one source's entries: `read` = repeated + kept + all that were dropped. */
export type ManifestSource = {
  readonly set: string
  readonly trust: string
  readonly origin: string
  readonly licence: string
  /** The day that the entries are of; empty: it was never downloaded. */
  readonly date: string
  readonly read: number
  readonly repeated: number
  readonly kept: number
  readonly dropped: Readonly<Record<string, number>>
}

/** What a pack was built from, and what came out: data/manifest.json, kept beside the sources for review. */
export type PackManifest = {
  readonly format: 1
  readonly version: string
  readonly built_at: string
  readonly pack: { readonly bytes: number; readonly sha256: string }
  readonly entries: Readonly<Record<SetName, number>>
  readonly words: Readonly<Record<string, number>>
  readonly targets: Readonly<Record<"provider" | "organisation", number>>
  readonly packages: Readonly<Record<string, { readonly version: string; readonly licence: string }>>
  readonly sources: Readonly<Record<string, ManifestSource>>
}

/** The text of a manifest: the same manifest gives the same text, and a changed number is one changed line. */
export const formatManifest = (manifest: PackManifest): string => `${JSON.stringify(manifest, null, 2)}\n`

/** A set that loses a fifth of its entries lost a source, not its subject. */
const SHRINK_SHARE_MAX = 0.2

/** The sets and sources that lost a fifth of their entries or more between two manifests, a sentence each. */
export function shrinkageMessages(before: PackManifest, after: PackManifest): readonly string[] {
  const sets = SET_NAMES.map(set => ({ what: `The set ${set}`, was: before.entries[set], is: after.entries[set] }))
  const sources = Object.entries(before.sources)
    .filter(([, { set }]) => Object.hasOwn(SETS, set))
    .map(([id, { read }]) => ({ what: `The source ${id}`, was: read, is: after.sources[id]?.read ?? 0 }))
  return [...sets, ...sources]
    .filter(({ was, is }) => was > 0 && is <= was * (1 - SHRINK_SHARE_MAX))
    .map(({ what, was, is }) => `${what} shrank from ${was} to ${is} entries.`)
}
