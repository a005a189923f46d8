import type { Clock } from "../../../base/outside-world.ts"
import type { CallerHash } from "../caller-hash.ts"
import {
  debtMs,
  intervalMs,
  type RateLimit,
  type RateLimiter,
  type RateLimitResult,
  rateLimitResult,
  requestsLeft,
} from "./rate-limiter.ts"
import type { RateSubject } from "./rate-subject.ts"

/** A caller has a slot in one bucket. The fingerprints of a bucket fill one cache line of the processor. */
const BUCKET_SLOTS = 16
const BUCKETS = 16_384
const SLOTS = BUCKETS * BUCKET_SLOTS
const FINGERPRINTS_BYTES = SLOTS * Int32Array.BYTES_PER_ELEMENT

/** The size of the memory, in bytes. */
export const SHARED_RATE_LIMITER_BYTES = FINGERPRINTS_BYTES + SLOTS * Float64Array.BYTES_PER_ELEMENT

/**
 * Limits the rates of callers in memory that several processes share (DECISIONS 33). No process waits for another, and one that dies at
 * any moment leaves no inconsistent state.
 *
 *     | fingerprint of slot 0, 1, … (int32) | when the debt of slot 0, 1, … is cleared (float64, ms since the origin) |
 *
 * The fingerprint is a part of the hash of the slot's caller. A slot without debt is free. A debt is one word that changes only by
 * compare-and-exchange. At the instant at which a slot changes hands one request may be lost, or charged to the next caller; the caller
 * that loses it had no debt.
 *
 * A hundred thousand callers can be in debt. Beyond that a bucket may be full; then a slot changes hands anyway, and its former caller
 * may burst again. A clock that is set back costs every caller its burst, once.
 */
export class SharedRateLimiter implements RateLimiter {
  readonly #fingerprints: Int32Array
  readonly #clearedAt: BigInt64Array
  readonly #hash: CallerHash
  readonly #clock: Clock
  readonly #originMs: number
  /** Atomic words are integers: these two views convert the bits of a number. */
  readonly #bits = new BigInt64Array(1)
  readonly #number = new Float64Array(this.#bits.buffer)

  /** `memory` starts as zeros and has `SHARED_RATE_LIMITER_BYTES`. All processes use the same origin, hash and clock. */
  constructor(memory: Uint8Array, hash: CallerHash, clock: Clock, originMs: number) {
    this.#fingerprints = new Int32Array(memory.buffer, memory.byteOffset, SLOTS)
    this.#clearedAt = new BigInt64Array(memory.buffer, memory.byteOffset + FINGERPRINTS_BYTES, SLOTS)
    this.#hash = hash
    this.#clock = clock
    this.#originMs = originMs
  }

  /** Admits the caller at the cost of one request, or refuses it at no cost. */
  admit(caller: RateSubject, rate: RateLimit): RateLimitResult {
    const now = this.#clock() - this.#originMs
    const { fingerprint, bucket } = this.#hash(caller)
    const first = (bucket % BUCKETS) * BUCKET_SLOTS
    // Another iteration means that another process has changed the slot meanwhile.
    for (;;) {
      const slot = this.#findSlot(first, fingerprint) ?? this.#claimSlot(first, fingerprint, now)
      if (slot === null) continue
      const before = Atomics.load(this.#clearedAt, slot)
      const oldMs = this.#msOf(before) - now
      const owedMs = debtMs(oldMs, rate)
      const left = requestsLeft(owedMs, rate)
      if (left < 1 && owedMs === oldMs) return rateLimitResult(left, rate)
      const after = this.#bitsOf(left < 1 ? now + owedMs : now + owedMs + intervalMs(rate))
      if (Atomics.compareExchange(this.#clearedAt, slot, before, after) !== before) continue
      if (Atomics.load(this.#fingerprints, slot) === fingerprint) return rateLimitResult(left, rate)
      // The slot changed hands meanwhile: this request is not charged to its new caller.
      Atomics.compareExchange(this.#clearedAt, slot, after, before)
    }
  }

  /** The slot of the fingerprint, or null. Slots are taken from the first on, so an unused one ends the search. */
  #findSlot(first: number, fingerprint: number): number | null {
    for (let slot = first; slot < first + BUCKET_SLOTS; slot++) {
      const stored = Atomics.load(this.#fingerprints, slot)
      if (stored === fingerprint) return slot
      if (stored === 0) return null
    }
    return null
  }

  /** Takes the first slot without debt or, when there is none, the one that the fingerprint selects. Null: another process was faster. */
  #claimSlot(first: number, fingerprint: number, now: number): number | null {
    for (let slot = first; slot < first + BUCKET_SLOTS; slot++) {
      const stored = Atomics.load(this.#fingerprints, slot)
      const isFree = stored === 0 || this.#msOf(Atomics.load(this.#clearedAt, slot)) <= now
      if (isFree) return Atomics.compareExchange(this.#fingerprints, slot, stored, fingerprint) === stored ? slot : null
      // Another process may have taken the slot for this same caller, which must not take a second one.
      if (Atomics.load(this.#fingerprints, slot) !== stored || stored === fingerprint) return null
    }
    const slot = first + (fingerprint & (BUCKET_SLOTS - 1))
    Atomics.store(this.#fingerprints, slot, fingerprint)
    Atomics.store(this.#clearedAt, slot, this.#bitsOf(now))
    return slot
  }

  #msOf(bits: bigint): number {
    this.#bits[0] = bits
    return this.#number[0] ?? 0
  }

  #bitsOf(ms: number): bigint {
    this.#number[0] = ms
    return this.#bits[0] ?? 0n
  }
}
