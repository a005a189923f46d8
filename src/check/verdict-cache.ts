import { isFresh } from "../base/time.ts"
import type { DeepProbe } from "./deep-evidence.ts"
import type { CachedVerdict, DomainLookup } from "./domain-lookup.ts"

/*
 * Verdicts are cached on the cached lookup of their domain: new lists bring new lookups and so drop all verdicts, and a cache
 * hit needs no second search by name.
 */

/** How many kinds of request are cached for one domain. Few occur. */
const VERDICTS_PER_DOMAIN_MAX = 6

/** How many verdicts are cached where nobody bounds their memory. */
const VERDICTS_MAX = 8192

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

type Slot = { readonly byRequestKind: Map<number, CachedVerdict>; readonly cacheKey: number }

/** Caches verdicts, and drops the one that was cached first when all domains have more than `verdictsMax`. */
export class VerdictCache {
  readonly #verdictsMax: number
  /** Where each verdict is, also of domains whose lookup is cached no more. */
  readonly #slots: Slot[] = []
  #nextSlot = 0

  constructor(verdictsMax = VERDICTS_MAX) {
    this.#verdictsMax = verdictsMax
  }

  /**
   * Caches a verdict of a domain for one kind of request, unless the domain has `VERDICTS_PER_DOMAIN_MAX` of other kinds that are
   * fresh.
   */
  set(domainLookup: DomainLookup, generation: object, cacheKey: number, verdict: CachedVerdict): void {
    if (domainLookup.cachedVerdicts?.generation !== generation)
      domainLookup.cachedVerdicts = { generation, byRequestKind: new Map() }
    const { byRequestKind } = domainLookup.cachedVerdicts
    if (!byRequestKind.has(cacheKey)) {
      if (byRequestKind.size >= VERDICTS_PER_DOMAIN_MAX) dropStale(byRequestKind, verdict.cachedAtMs)
      if (byRequestKind.size >= VERDICTS_PER_DOMAIN_MAX) return
      this.#takeSlot({ byRequestKind, cacheKey })
    }
    byRequestKind.set(cacheKey, verdict)
  }

  #takeSlot(slot: Slot): void {
    const first = this.#slots[this.#nextSlot]
    first?.byRequestKind.delete(first.cacheKey)
    this.#slots[this.#nextSlot] = slot
    this.#nextSlot = (this.#nextSlot + 1) % this.#verdictsMax
  }
}

function dropStale(byRequestKind: Map<number, CachedVerdict>, nowMs: number): void {
  for (const [cacheKey, verdict] of byRequestKind) if (!isFresh(verdict, nowMs)) byRequestKind.delete(cacheKey)
}

/**
 * Whether a verdict was judged with the age of its domain that is known now. An age may arrive at any time, by a deep check of
 * another name of the domain or after the deadline of one.
 */
export function isOfCurrentAge(
  verdict: CachedVerdict,
  organisationalDomain: string,
  { ageVersion, cachedAgeDays }: DeepProbe,
): boolean {
  const version = ageVersion()
  if (verdict.ageVersion === version) return true
  const { ageDays } = verdict.judged.evidence
  if ((ageDays.known ? ageDays.value : null) !== cachedAgeDays(organisationalDomain)) return false
  verdict.ageVersion = version
  return true
}
