import { isCurated } from "./catalogue.ts"
import type { Gathered } from "./gather.ts"
import type { Outcome } from "./listing-rules.ts"
import type { Target } from "./pack-contents.ts"

/**
 * The domains that others imitate or mistype: the curated providers, first those of `heads` in their order, then the
 * rest by name; after them the known organisations by name.
 */
export function targetsOf(
  gathered: Gathered,
  settled: ReadonlyMap<string, readonly Outcome[]>,
  heads: readonly string[],
): readonly Target[] {
  const kept = (set: "personal" | "organisation") =>
    [...gathered.names]
      .filter(([name, indexes]) =>
        indexes.some((index, at) => {
          const source = gathered.sources[index]
          return source?.set === set && isCurated(source) && settled.get(name)?.[at] === "kept"
        }),
      )
      .map(([name]) => name)
      .sort()
  const providers = kept("personal")
  const known = new Set(providers)
  const ordered = new Set([...heads.filter(name => known.has(name)), ...providers])
  return [
    ...[...ordered].map((name): Target => ({ name, kind: "provider" })),
    ...kept("organisation").map((name): Target => ({ name, kind: "organisation" })),
  ]
}
