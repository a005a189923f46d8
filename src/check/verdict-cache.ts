import type { CachedVerdict, DomainLookup } from "./domain-lookup.ts"
import type { Evidence } from "./verdict/evidence.ts"

/*
 * Verdicts are cached on the cached lookup of their domain: new lists bring new lookups and so drop all verdicts, and a cache
 * hit needs no second search by name.
 */

/** How many kinds of request are cached for one domain. Few occur, and each takes about 3 kB. */
const VERDICTS_PER_DOMAIN_MAX = 4

/** Makes a function that returns the current generation: another object after each change of the corrections, which drops all verdicts. */
export function createGeneration(corrections: { readonly version: number }): () => object {
  let generation = {}
  let { version } = corrections
  return () => {
    if (corrections.version !== version) {
      version = corrections.version
      generation = {}
    }
    return generation
  }
}

/** The verdicts of this generation that are cached for a domain, by kind of request; undefined: there are none. */
export const cachedVerdicts = (
  { cachedVerdicts: cached }: DomainLookup,
  generation: object,
): Map<number, CachedVerdict> | undefined => (cached?.generation === generation ? cached.byRequestKind : undefined)

/** Caches a verdict of a domain for one kind of request, unless the domain has `VERDICTS_PER_DOMAIN_MAX` of other kinds. */
export function cacheVerdict(
  domainLookup: DomainLookup,
  generation: object,
  cacheKey: number,
  verdict: CachedVerdict,
): void {
  const byRequestKind = cachedVerdicts(domainLookup, generation)
  if (byRequestKind === undefined)
    domainLookup.cachedVerdicts = { generation, byRequestKind: new Map([[cacheKey, verdict]]) }
  else if (byRequestKind.size < VERDICTS_PER_DOMAIN_MAX || byRequestKind.has(cacheKey))
    byRequestKind.set(cacheKey, verdict)
}

/** Drops the verdicts that were judged without the domain's age or with the age of another day. */
export function dropVerdictsOfOtherAge(
  verdicts: Map<number, CachedVerdict> | undefined,
  ageDays: Evidence["ageDays"],
): void {
  if (verdicts === undefined || !ageDays.known) return
  for (const [cacheKey, { judged }] of verdicts) {
    const judgedAge = judged.evidence.ageDays
    if ((judgedAge.known ? judgedAge.value : null) !== ageDays.value) verdicts.delete(cacheKey)
  }
}
