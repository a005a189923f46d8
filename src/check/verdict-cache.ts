import type { CachedVerdict, DomainLookup } from "./domain-lookup.ts"
import type { Evidence } from "./verdict/evidence.ts"

/** How many kinds of question are kept settled for one domain: few are ever asked, and each takes about 3 kB. */
const VERDICTS_PER_DOMAIN_MAX = 4

/** Whose is what is kept: another object after each change of corrections, so that all is settled anew. */
export function createGeneration(corrections: { readonly version: number }): () => object {
  let keeper = {}
  let { version } = corrections
  return () => {
    if (corrections.version !== version) {
      version = corrections.version
      keeper = {}
    }
    return keeper
  }
}

/** What is kept settled of a domain, by kind of question; undefined: nothing. It is dropped with the repute: new lists settle everything anew. */
export const cachedVerdicts = (
  { cachedVerdicts }: DomainLookup,
  keeper: object,
): Map<number, CachedVerdict> | undefined =>
  cachedVerdicts?.generation === keeper ? cachedVerdicts.byRequestKind : undefined

/** Keeps what was settled of a domain for one kind of question, unless enough are kept. */
export function cacheVerdict(repute: DomainLookup, keeper: object, key: number, kept: CachedVerdict): void {
  const byKind = cachedVerdicts(repute, keeper)
  if (byKind === undefined) repute.cachedVerdicts = { generation: keeper, byRequestKind: new Map([[key, kept]]) }
  else if (byKind.size < VERDICTS_PER_DOMAIN_MAX || byKind.has(key)) byKind.set(key, kept)
}

/** What was settled of a domain before its age was known, or on another day, is settled anew, whoever asks. */
export function dropVerdictsOfOtherAge(
  kept: Map<number, CachedVerdict> | undefined,
  ageDays: Evidence["ageDays"],
): void {
  if (kept === undefined || !ageDays.known) return
  for (const [key, { judged }] of kept) {
    const before = judged.evidence.ageDays
    if ((before.known ? before.value : null) !== ageDays.value) kept.delete(key)
  }
}
