import { FactCache } from "../../../base/fact-cache.ts"
import { type Finding, known } from "../../../base/finding.ts"
import type { Clock } from "../../../base/outside-world.ts"
import type { CachedDnsAnswer, DnsAnswer, DnsQuestion, DnsRecord } from "../dns-types.ts"

/** The least and the greatest time that an answer is fresh, whatever its TTL. */
export const TTL_MIN_S = 30
export const TTL_MAX_S = 3_600

/** How long after its freshness a stale answer may replace a failure (RFC 8767 §5 recommends one to three days). */
export const STALE_WINDOW_S = 86_400

/** How long a stale answer is fresh again after a failure. It is short, so that working servers are soon noticed. */
export const STALE_TTL_MS = 5_000

/** How long a failure is cached (RFC 9520 §3.2), so that a burst of questions does not repeat it. */
export const FAILURE_TTL_MS = 1_000

/** An answer that took so long is cached in any case: the check may have given up by then, and the next check of the domain should not wait again. */
export const LATE_MS = 1_000

type DnsCacheBounds = {
  readonly entriesMax: number
  readonly bytesMax: number
  /** A larger answer is not cached. */
  readonly answerBytesMax: number
}

/** The bounds in use. The least recently used entry is evicted first. */
export const DNS_CACHE_BOUNDS: DnsCacheBounds = {
  entriesMax: 20_000,
  bytesMax: 12 * 1_048_576,
  answerBytesMax: 128 * 1_024,
}

/** The usual bounds with another one of bytes. An answer takes no more than the whole cache. */
export const cacheBounds = (bytesMax = DNS_CACHE_BOUNDS.bytesMax): DnsCacheBounds => ({
  ...DNS_CACHE_BOUNDS,
  bytesMax,
  answerBytesMax: Math.min(bytesMax, DNS_CACHE_BOUNDS.answerBytesMax),
})

/** How many entries the cache has, and how many questions it answered and did not answer. */
export type DnsCacheStats = { readonly entries: number; readonly hits: number; readonly misses: number }

type CachedFinding = Finding<CachedDnsAnswer>

type OnFinding = (finding: CachedFinding) => void

/**
 * Caches answers for their TTL, and replaces failures by stale ones (RFC 8767). Equal questions that are in flight at the same
 * time are sent once, and all of them get the same finding.
 */
export class DnsCache {
  readonly #cache: FactCache<DnsAnswer, CachedFinding>
  readonly #clock: Clock
  /** Who waits for the finding of each question that is in flight. */
  readonly #pending = new Map<string, OnFinding[]>()
  #hits = 0
  #misses = 0

  constructor(clock: Clock, { entriesMax, bytesMax, answerBytesMax }: DnsCacheBounds = DNS_CACHE_BOUNDS) {
    const kind = {
      entriesMax,
      failureTtlMs: FAILURE_TTL_MS,
      staleMs: STALE_WINDOW_S * 1000,
      staleTtlMs: STALE_TTL_MS,
    }
    this.#clock = clock
    this.#cache = new FactCache<DnsAnswer, CachedFinding>(kind, clock, cachedFinding, {
      bytesMax,
      entryBytesMax: answerBytesMax,
      bytesOf: (key, finding) => estimateEntryBytes(key, finding.known ? finding.value.records : []),
    })
  }

  /**
   * Calls `onFinding` with the fresh or pending finding of a question, else with that with which `send` calls its argument, once. A stale answer
   * replaces a failure. `isOnce`: an answer that is not cached yet is not cached, because what becomes of it is, unless it is late.
   */
  ask(
    question: DnsQuestion,
    send: (onEnd: (finding: Finding<DnsAnswer>) => void) => void,
    onFinding: OnFinding,
    isOnce = false,
  ): void {
    const key = `${question.type} ${question.name}`
    const hit = this.#cache.fresh(key)
    if (hit !== undefined) {
      this.#hits++
      onFinding(hit)
      return
    }
    this.#misses++
    const pending = this.#pending.get(key)
    if (pending !== undefined) {
      pending.push(onFinding)
      return
    }
    const waiting = [onFinding]
    this.#pending.set(key, waiting)
    const askedAtMs = this.#clock()
    try {
      send(finding => {
        this.#pending.delete(key)
        const found = this.#cached(key, finding, isOnce && this.#clock() - askedAtMs < LATE_MS)
        for (const receive of waiting) receive(found)
      })
    } catch (error) {
      this.#pending.delete(key)
      throw error
    }
  }

  #cached(key: string, finding: Finding<DnsAnswer>, isForOne: boolean): CachedFinding {
    if (!finding.known) return this.#cache.setFailure(key, finding)
    const ttlMs = lifetimeMs(finding.value)
    return isForOne ? cachedFinding(finding, false, this.#clock() + ttlMs) : this.#cache.setAnswer(key, finding, ttlMs)
  }

  /** The counters. `bytes` is an estimate. */
  stats(): DnsCacheStats & { readonly bytes: number } {
    return { entries: this.#cache.size, hits: this.#hits, misses: this.#misses, bytes: this.#cache.bytes }
  }
}

const lifetimeMs = ({ ttlS }: DnsAnswer): number => Math.min(Math.max(ttlS, TTL_MIN_S), TTL_MAX_S) * 1000

/** The members are listed because a spread of the answer costs a microsecond, twice for each question. */
function cachedFinding(finding: Finding<DnsAnswer>, isCached: boolean, freshUntilMs: number): Finding<CachedDnsAnswer> {
  if (!finding.known) return finding
  const { outcome, records, ttlS } = finding.value
  return known({ outcome, records, ttlS, isCached, freshUntilMs })
}

/** Measured on Bun 1.4.5 with 50 000 entries: 400 bytes for an entry without records, 60 to 90 for each short record. */
const ENTRY_BYTES = 400
const RECORD_BYTES = 80

/** A string takes one byte for each character, or two if it has a character beyond Latin-1. */
const WIDE_CHARACTER = /[\u0100-\uffff]/

/** About how many bytes of memory an entry with this key and these records takes. */
export function estimateEntryBytes(key: string, records: readonly DnsRecord[]): number {
  let bytes = ENTRY_BYTES + key.length
  for (const record of records) bytes += RECORD_BYTES + textBytes(recordText(record))
  return bytes
}

const textBytes = (text: string): number => (WIDE_CHARACTER.test(text) ? 2 * text.length : text.length)

function recordText(record: DnsRecord): string {
  switch (record.type) {
    case "A":
    case "AAAA":
      return record.address
    case "MX":
      return record.exchange ?? ""
    case "TXT":
      return record.text
    default:
      return record.target
  }
}
