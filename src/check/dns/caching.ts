import { LRUCache } from "lru-cache"
import type { Clock } from "../../base/clock.ts"
import { type Finding, known } from "../../base/finding.ts"
import { heldBytes } from "./held-bytes.ts"
import type { Answer, Ask, HeldAnswer, Question, Resolver } from "./question.ts"

/** The least and the most time that an answer is held as fresh, whatever its TTL says. */
export const TTL_MIN_S = 30
export const TTL_MAX_S = 3_600

/** How long past its freshness an answer may stand in for one that cannot be had (RFC 8767 §5 allows one to three days). */
export const STALE_MAX_S = 86_400

/** How long a stale answer is given without asking again, so that the return of the servers is soon seen. */
export const STALE_HOLD_MS = 5_000

/** How long a failure is held (RFC 9520 §3.2), so that a burst does not repeat it. */
export const FAILURE_HOLD_MS = 1_000

type Bounds = {
  readonly entriesMax: number
  readonly bytesMax: number
  /** An answer that takes more is not held. */
  readonly answerBytesMax: number
}

/** How much a cache holds at most; what was asked for least recently goes first. */
export const CACHE_BOUNDS: Bounds = { entriesMax: 100_000, bytesMax: 64 * 1_048_576, answerBytesMax: 128 * 1_024 }

/** What a cache holds, and how often it could answer and could not. */
export type Held = { readonly entries: number; readonly hits: number; readonly misses: number }

/** An Ask that remembers, and how much it holds; its bytes are an estimate. */
export type Cache = { readonly ask: Ask; readonly held: () => Held & { readonly bytes: number } }

/** What is held for a question. */
type Entry = {
  /** As it is given to whoever asks before `untilMs`; a held answer is the same object for all of them. */
  readonly finding: Finding<HeldAnswer>
  readonly untilMs: number
  /** Until when it may stand in for an answer that cannot be had; a failure never does. */
  readonly staleUntilMs: number
}

/**
 * Holds answers as long as they say, and gives stale ones while the resolver fails (RFC 8767). Time is our own clock's:
 * the LRU cache knows nothing of it, since what is no longer fresh still has its use.
 */
export function caching(resolver: Resolver, clock: Clock, bounds: Bounds = CACHE_BOUNDS): Cache {
  const held = new LRUCache<string, Entry>({
    max: bounds.entriesMax,
    maxSize: bounds.bytesMax,
    maxEntrySize: bounds.answerBytesMax,
    sizeCalculation: ({ finding }, key) => heldBytes(key, finding.known ? finding.value.records : []),
  })

  let hits = 0
  let misses = 0
  const fresh = async (key: string, question: Question): Promise<Finding<HeldAnswer>> => {
    const finding = await resolver(question)
    const now = clock()
    if (finding.known) {
      const entry = answered(finding.value, now)
      held.set(key, entry)
      return known(heldAnswer(finding.value, false, entry.untilMs))
    }
    const entry = failed(held.peek(key), finding, now)
    held.set(key, entry)
    return entry.finding
  }

  return {
    ask: question => {
      const key = `${question.type} ${question.name}`
      const entry = held.get(key)
      if (entry !== undefined && isFresh(entry, clock())) {
        hits++
        return Promise.resolve(entry.finding)
      }
      misses++
      return fresh(key, question)
    },
    held: () => ({ entries: held.size, hits, misses, bytes: held.calculatedSize }),
  }
}

/** Nothing is fresh for longer than the longest TTL, unless the clock was set back: then it is asked for again. */
const isFresh = ({ untilMs }: Entry, now: number): boolean => now < untilMs && untilMs - now <= TTL_MAX_S * 1000

function answered(answer: Answer, now: number): Entry {
  const untilMs = now + Math.min(Math.max(answer.ttlS, TTL_MIN_S), TTL_MAX_S) * 1000
  return {
    finding: known(heldAnswer(answer, true, untilMs)),
    untilMs,
    staleUntilMs: untilMs + STALE_MAX_S * 1000,
  }
}

/** Written out: a spread of the answer costs a microsecond, twice a question. */
const heldAnswer = ({ outcome, records, ttlS }: Answer, isCached: boolean, freshUntilMs: number): HeldAnswer => ({
  outcome,
  records,
  ttlS,
  isCached,
  freshUntilMs,
})

/** What is held after a failure: what was held before, if it may stand in, else the failure. */
function failed(before: Entry | undefined, failure: Finding<never>, now: number): Entry {
  if (before?.finding.known && now < before.staleUntilMs) {
    const untilMs = Math.min(now + STALE_HOLD_MS, before.staleUntilMs)
    return { ...before, finding: known({ ...before.finding.value, freshUntilMs: untilMs }), untilMs }
  }
  return { finding: failure, untilMs: now + FAILURE_HOLD_MS, staleUntilMs: now }
}
