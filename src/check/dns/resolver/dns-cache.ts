import { LRUCache } from "lru-cache"
import { type Finding, known } from "../../../base/finding.ts"
import type { Clock } from "../../../base/outside-world.ts"
import type { CachedDnsAnswer, CachingResolver, DnsAnswer, DnsQuestion, DnsRecord, Resolver } from "../dns-types.ts"

/** The least and the most time that an answer is held as fresh, whatever its TTL says. */
export const TTL_MIN_S = 30
export const TTL_MAX_S = 3_600

/** How long past its freshness an answer may stand in for one that cannot be had (RFC 8767 §5 allows one to three days). */
export const STALE_WINDOW_S = 86_400

/** How long a stale answer is given without asking again, so that the return of the servers is soon seen. */
export const STALE_TTL_MS = 5_000

/** How long a failure is held (RFC 9520 §3.2), so that a burst does not repeat it. */
export const FAILURE_TTL_MS = 1_000

type DnsCacheBounds = {
  readonly entriesMax: number
  readonly bytesMax: number
  /** An answer that takes more is not held. */
  readonly answerBytesMax: number
}

/** How much a cache holds at most; what was asked for least recently goes first. */
export const DNS_CACHE_BOUNDS: DnsCacheBounds = {
  entriesMax: 100_000,
  bytesMax: 64 * 1_048_576,
  answerBytesMax: 128 * 1_024,
}

/** What a cache holds, and how often it could answer and could not. */
export type DnsCacheStats = { readonly entries: number; readonly hits: number; readonly misses: number }

/** An Ask that remembers, and how much it holds; its bytes are an estimate. */
type DnsCache = { readonly resolver: CachingResolver; readonly stats: () => DnsCacheStats & { readonly bytes: number } }

/** What is held for a question. */
type DnsCacheEntry = {
  /** As it is given to whoever asks before `untilMs`; a held answer is the same object for all of them. */
  readonly finding: Finding<CachedDnsAnswer>
  readonly freshUntilMs: number
  /** Until when it may stand in for an answer that cannot be had; a failure never does. */
  readonly staleUntilMs: number
}

/**
 * Holds answers as long as they say, and gives stale ones while the resolver fails (RFC 8767). Time is our own clock's:
 * the LRU cache knows nothing of it, since what is no longer fresh still has its use.
 */
export function createDnsCache(resolver: Resolver, clock: Clock, bounds: DnsCacheBounds = DNS_CACHE_BOUNDS): DnsCache {
  const held = new LRUCache<string, DnsCacheEntry>({
    max: bounds.entriesMax,
    maxSize: bounds.bytesMax,
    maxEntrySize: bounds.answerBytesMax,
    sizeCalculation: ({ finding }, key) => estimateEntryBytes(key, finding.known ? finding.value.records : []),
  })

  let hits = 0
  let misses = 0
  const fresh = async (key: string, question: DnsQuestion): Promise<Finding<CachedDnsAnswer>> => {
    const finding = await resolver(question)
    const now = clock()
    if (finding.known) {
      const entry = answerEntry(finding.value, now)
      held.set(key, entry)
      return known(cachedAnswer(finding.value, false, entry.freshUntilMs))
    }
    const entry = failureEntry(held.peek(key), finding, now)
    held.set(key, entry)
    return entry.finding
  }

  return {
    resolver: question => {
      const key = `${question.type} ${question.name}`
      const entry = held.get(key)
      if (entry !== undefined && isFresh(entry, clock())) {
        hits++
        return Promise.resolve(entry.finding)
      }
      misses++
      return fresh(key, question)
    },
    stats: () => ({ entries: held.size, hits, misses, bytes: held.calculatedSize }),
  }
}

/** Nothing is fresh for longer than the longest TTL, unless the clock was set back: then it is asked for again. */
const isFresh = ({ freshUntilMs: untilMs }: DnsCacheEntry, now: number): boolean =>
  now < untilMs && untilMs - now <= TTL_MAX_S * 1000

function answerEntry(answer: DnsAnswer, now: number): DnsCacheEntry {
  const untilMs = now + Math.min(Math.max(answer.ttlS, TTL_MIN_S), TTL_MAX_S) * 1000
  return {
    finding: known(cachedAnswer(answer, true, untilMs)),
    freshUntilMs: untilMs,
    staleUntilMs: untilMs + STALE_WINDOW_S * 1000,
  }
}

/** Written out: a spread of the answer costs a microsecond, twice a question. */
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

/** What is held after a failure: what was held before, if it may stand in, else the failure. */
function failureEntry(before: DnsCacheEntry | undefined, failure: Finding<never>, now: number): DnsCacheEntry {
  if (before?.finding.known && now < before.staleUntilMs) {
    const untilMs = Math.min(now + STALE_TTL_MS, before.staleUntilMs)
    return { ...before, finding: known({ ...before.finding.value, freshUntilMs: untilMs }), freshUntilMs: untilMs }
  }
  return { finding: failure, freshUntilMs: now + FAILURE_TTL_MS, staleUntilMs: now }
}

/** Measured on Bun 1.4.5 with 50 000 entries: 400 bytes for one without records, 60 to 90 for each short record. */
const ENTRY_BYTES = 400
const RECORD_BYTES = 80

/** Strings take one byte a character unless one of theirs is beyond Latin-1. */
const WIDE_CHARACTER = /[\u0100-\uffff]/

/** About how many bytes of memory a cache needs to hold the records under the key. */
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
      return record.exchange
    case "TXT":
      return record.text
    default:
      return record.target
  }
}
