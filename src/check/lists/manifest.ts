import { SET_NAMES, SETS, type SetName } from "./sets.ts"

/** The counts of one source's entries: `read` = `repeated` + `kept` + the sum of `dropped`. */
export type ManifestSource = {
  readonly set: string
  readonly trust: string
  readonly origin: string
  readonly licence: string
  /** The date of the entries; empty: the source was never downloaded. */
  readonly date: string
  /** For a window source, the number of days that a name counts after it was last seen. */
  readonly window_days?: number
  readonly read: number
  readonly repeated: number
  readonly kept: number
  readonly dropped: Readonly<Record<string, number>>
}

/** What a pack was built from and subject it contains: data/manifest.json, which is committed for review. */
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

/** The text of a manifest: equal manifests give equal texts, and a changed number changes one line. */
export const formatManifest = (manifest: PackManifest): string => `${JSON.stringify(manifest, null, 2)}\n`

/** A set that loses a fifth of its entries has probably lost a source. */
const SHRINK_SHARE_MAX = 0.2

/** One sentence for each set and source that has lost a fifth of its entries or more between two manifests. */
export function shrinkageMessages(before: PackManifest, after: PackManifest): readonly string[] {
  const sets = SET_NAMES.map(set => ({ subject: `The set ${set}`, was: before.entries[set], is: after.entries[set] }))
  const sources = Object.entries(before.sources)
    .filter(([, { set }]) => Object.hasOwn(SETS, set))
    .map(([id, { read }]) => ({ subject: `The source ${id}`, was: read, is: after.sources[id]?.read ?? 0 }))
  return [...sets, ...sources]
    .filter(({ was, is }) => was > 0 && is <= was * (1 - SHRINK_SHARE_MAX))
    .map(({ subject, was, is }) => `${subject} shrank from ${was} to ${is} entries.`)
}
