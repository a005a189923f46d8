import { LRUCache } from "lru-cache"
import { type Finding, known } from "../../../base/finding.ts"
import type { Clock } from "../../../base/outside-world.ts"
import { type CacheLifetime, isFresh } from "../../../base/time.ts"
import type { CachedDnsAnswer, CachingResolver, DnsAnswer, DnsRecord, Resolver } from "../dns-types.ts"

/** The least and the greatest time that an answer is fresh, whatever its TTL. */
export const TTL_MIN_S = 30
export const TTL_MAX_S = 3_600

/** How long after its freshness a stale answer may replace a failure (RFC 8767 §5 recommends one to three days). */
export const STALE_WINDOW_S = 86_400

/** How long a stale answer is fresh again after a failure. It is short, so that working servers are soon noticed. */
export const STALE_TTL_MS = 5_000

/** How long a failure is cached (RFC 9520 §3.2), so that a burst of questions does not repeat it. */
export const FAILURE_TTL_MS = 1_000

type DnsCacheBounds = {
  readonly entriesMax: number
  readonly bytesMax: number
  /** A larger answer is not cached. */
  readonly answerBytesMax: number
}

/** The bounds in use. The least recently used entry is evicted first. */
export const DNS_CACHE_BOUNDS: DnsCacheBounds = {
  entriesMax: 100_000,
  bytesMax: 64 * 1_048_576,
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

/** A caching resolver with its counters. `bytes` is an estimate. */
type DnsCache = { readonly resolver: CachingResolver; readonly stats: () => DnsCacheStats & { readonly bytes: number } }

type DnsCacheEntry = CacheLifetime & {
  readonly finding: Finding<DnsAnswer>
  /** The finding for every hit until `freshUntilMs`, always the same object; null: there was no hit yet. */
  hit: Finding<CachedDnsAnswer> | null
  /** Until when an answer may replace a failure. */
  readonly staleUntilMs: number
}

/**
 * Caches answers for their TTL, and serves stale ones while the resolver fails (RFC 8767). The LRU cache does not expire
 * entries, because a stale entry is still useful. Equal questions that are in flight at the same time are sent once, and all of
 * them get the same finding.
 */
export function createDnsCache(resolver: Resolver, clock: Clock, bounds: DnsCacheBounds = DNS_CACHE_BOUNDS): DnsCache {
  const cache = new LRUCache<string, DnsCacheEntry>({
    maxSize: bounds.bytesMax,
    maxEntrySize: bounds.answerBytesMax,
    sizeCalculation: ({ finding }, key) => estimateEntryBytes(key, finding.known ? finding.value.records : []),
  })

  const inFlight = new Map<string, Promise<Finding<CachedDnsAnswer>>>()
  let hits = 0
  let misses = 0
  const cacheFinding = (key: string, finding: Finding<DnsAnswer>): Finding<CachedDnsAnswer> => {
    const now = clock()
    if (finding.known) {
      const entry = answerEntry(finding.value, now)
      keep(cache, bounds, key, entry)
      return known(cachedAnswer(finding.value, false, entry.freshUntilMs))
    }
    const entry = failureEntry(cache.peek(key), finding, now)
    keep(cache, bounds, key, entry)
    return hitOf(entry)
  }

  return {
    resolver: question => {
      const key = `${question.type} ${question.name}`
      const entry = cache.get(key)
      if (entry !== undefined && isFresh(entry, clock())) {
        hits++
        return Promise.resolve(hitOf(entry))
      }
      misses++
      const running = inFlight.get(key)
      if (running !== undefined) return running
      const flight = resolver(question).then(
        finding => {
          inFlight.delete(key)
          return cacheFinding(key, finding)
        },
        error => {
          inFlight.delete(key)
          throw error
        },
      )
      inFlight.set(key, flight)
      return flight
    },
    stats: () => ({ entries: cache.size, hits, misses, bytes: cache.calculatedSize }),
  }
}

/** The library's own bound by count would allocate the room of all entries at the start. */
function keep(
  cache: LRUCache<string, DnsCacheEntry>,
  { entriesMax }: DnsCacheBounds,
  key: string,
  entry: DnsCacheEntry,
): void {
  cache.set(key, entry)
  if (cache.size > entriesMax) cache.pop()
}

function answerEntry(answer: DnsAnswer, now: number): DnsCacheEntry {
  const untilMs = now + Math.min(Math.max(answer.ttlS, TTL_MIN_S), TTL_MAX_S) * 1000
  return {
    finding: known(answer),
    hit: null,
    cachedAtMs: now,
    freshUntilMs: untilMs,
    staleUntilMs: untilMs + STALE_WINDOW_S * 1000,
  }
}

/** Most answers are asked for once: what a hit returns is made by the first one. */
function hitOf(entry: DnsCacheEntry): Finding<CachedDnsAnswer> {
  const { finding } = entry
  entry.hit ??= finding.known ? known(cachedAnswer(finding.value, true, entry.freshUntilMs)) : finding
  return entry.hit
}

/** The members are listed because a spread of the answer costs a microsecond, twice for each question. */
const cachedAnswer = (
  { outcome, records, ttlS }: DnsAnswer,
  isCached: boolean,
  freshUntilMs: number,
): CachedDnsAnswer => ({
  outcome,
  records,
  ttlS,
  isCached,
  freshUntilMs,
})

/** The entry after a failure: the previous answer if it may replace the failure, else the failure. */
function failureEntry(previous: DnsCacheEntry | undefined, failure: Finding<never>, now: number): DnsCacheEntry {
  if (previous?.finding.known && now < previous.staleUntilMs) {
    const untilMs = Math.min(now + STALE_TTL_MS, previous.staleUntilMs)
    return { ...previous, hit: null, cachedAtMs: now, freshUntilMs: untilMs }
  }
  return { finding: failure, hit: failure, cachedAtMs: now, freshUntilMs: now + FAILURE_TTL_MS, staleUntilMs: now }
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
