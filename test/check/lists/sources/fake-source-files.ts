import type { SourceFiles } from "../../../../src/check/lists/sources/source-formats.ts"

type FakeTrust = "highest" | "high" | "medium" | "low"

/** A source for a test: a curated file, a package with a JSON array of names, or a download, which is still empty. */
export type FakeSource = {
  readonly set: string
  readonly trust: FakeTrust | "curated"
  readonly names: readonly string[]
  readonly witness?: "sufficient" | "aggregator"
  readonly needsSecondSource?: boolean
  /** A download from `https://lists.example/ID.conf`. */
  readonly isDownloaded?: boolean
  readonly renews?: string
  readonly tracksRemovals?: boolean
  readonly window?: {
    readonly days: number
    readonly names: number
    readonly past?: { readonly commits: string; readonly file: string }
  }
}

/** The text of a catalogue and the files of its sources, whose ids are the keys. */
export function fakeSourceFiles(sources: Readonly<Record<string, FakeSource>>): {
  readonly catalogue: string
  readonly shelf: SourceFiles
} {
  const files = new Map<string, string>()
  const rows = Object.entries(sources).map(
    ([id, { set, trust, names, witness, needsSecondSource, isDownloaded = false, renews, tracksRemovals, window }]) => {
      if (isDownloaded) {
        const from = { url: `https://lists.example/${id}.conf`, file: `${id}.conf`, format: "lines" }
        const row = { id, set, trust, from, licence: "CC0-1.0", origin: "a site" }
        // The text of the catalogue has no members that are undefined.
        return { ...row, witness, renews, tracks_removals: tracksRemovals || undefined, window }
      }
      if (trust === "curated") {
        const header = `# set: ${set}\n# says: A list.\n# origin: by hand\n# licence: MIT\n# date: 2026-11-20\n`
        files.set(`data/${id}.txt`, `${header}${[...names].sort().join("\n")}\n`)
        return { id, set, trust: "highest", from: { file: `data/${id}.txt`, format: "curated" } }
      }
      files.set(`node_modules/${id}/list.json`, JSON.stringify(names))
      files.set(`node_modules/${id}/package.json`, JSON.stringify({ version: "1.0.0", license: "MIT" }))
      const described = { licence: "MIT", origin: "a package", date: "2026-01-01" }
      const from = { package: id, file: "list.json", format: "json", at: "*" }
      return {
        id,
        set,
        trust,
        from,
        ...described,
        ...(witness === undefined ? {} : { witness }),
        ...(needsSecondSource ? { needs_second_source: true } : {}),
      }
    },
  )
  const read = (path: string): string => {
    const text = files.get(path)
    if (text === undefined) throw new Error(`${path} is not there`)
    return text
  }
  const catalogue = JSON.stringify({ format: 1, providers_first: ["gmail.com"], sources: rows })
  return { catalogue, shelf: { read, list: () => [] } }
}
