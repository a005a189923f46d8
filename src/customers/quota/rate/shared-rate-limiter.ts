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

/** A caller has a slot in one bucket. The marks of a bucket fill one line of the processor's cache. */
const BUCKET_SLOTS = 16
const BUCKETS = 16_384
const SLOTS = BUCKETS * BUCKET_SLOTS
const MARKS_BYTES = SLOTS * Int32Array.BYTES_PER_ELEMENT

/** How many bytes of memory the rates of all callers take. */
export const SHARED_RATE_LIMITER_BYTES = MARKS_BYTES + SLOTS * Float64Array.BYTES_PER_ELEMENT

/**
 * Limits the rates of callers in memory that several processes share. No process ever waits for another, and one that
 * dies at any moment leaves nothing half done.
 *
 *     | mark of slot 0, 1, … (int32) | when the caller of slot 0, 1, … has paid (float64, ms since the origin) |
 *
 * The mark is a part of the hash of the slot's caller. A slot whose caller has paid is anybody's. What a caller owes is
 * one word that changes by compare and exchange alone. Only in the instant in which a slot changes hands a request may be
 * lost, or charged to the slot's next caller: one, and of a caller who had paid for all others.
 *
 * A hundred thousand callers may owe at once. Beyond, a bucket may be full: a slot changes hands all the same, and who
 * had it may burst again. A clock that is set back costs every caller its burst, once.
 */
export class SharedRateLimiter implements RateLimiter {
  readonly #fingerprints: Int32Array
  readonly #clearedAt: BigInt64Array
  readonly #hash: CallerHash
  readonly #clock: Clock
  readonly #originMs: number
  /** Atomic words are integers: the bits of a number pass through here. */
  readonly #bits = new BigInt64Array(1)
  readonly #number = new Float64Array(this.#bits.buffer)

  /** `memory`, all zeros at first, has `SHARED_RATES_BYTES`. All processes have the same origin, hash and clock. */
  constructor(memory: Uint8Array, hash: CallerHash, clock: Clock, originMs: number) {
    this.#fingerprints = new Int32Array(memory.buffer, memory.byteOffset, SLOTS)
    this.#clearedAt = new BigInt64Array(memory.buffer, memory.byteOffset + MARKS_BYTES, SLOTS)
    this.#hash = hash
    this.#clock = clock
    this.#originMs = originMs
  }

  /** Admits the caller, which costs it one request, or refuses it, which costs nothing. */
  admit(caller: string, rate: RateLimit): RateLimitResult {
    const now = this.#clock() - this.#originMs
    const { mark, bucket } = this.#hash(caller)
    const first = (bucket % BUCKETS) * BUCKET_SLOTS
    // Each further turn means that another process has changed the slot meanwhile.
    for (;;) {
      const slot = this.#findSlot(first, mark) ?? this.#claimSlot(first, mark, now)
      if (slot === null) continue
      const before = Atomics.load(this.#clearedAt, slot)
      const oldMs = this.#msOf(before) - now
      const owed = debtMs(oldMs, rate)
      const left = requestsLeft(owed, rate)
      if (left < 1 && owed === oldMs) return rateLimitResult(left, rate)
      const after = this.#bitsOf(left < 1 ? now + owed : now + owed + intervalMs(rate))
      if (Atomics.compareExchange(this.#clearedAt, slot, before, after) !== before) continue
      if (Atomics.load(this.#fingerprints, slot) === mark) return rateLimitResult(left, rate)
      // The slot changed hands meanwhile: its new owner does not pay for this request.
      Atomics.compareExchange(this.#clearedAt, slot, after, before)
    }
  }

  /** The slot of the mark; null: there is none. Slots are taken from the first on, so one that never was taken ends the search. */
  #findSlot(first: number, mark: number): number | null {
    for (let slot = first; slot < first + BUCKET_SLOTS; slot++) {
      const held = Atomics.load(this.#fingerprints, slot)
      if (held === mark) return slot
      if (held === 0) return null
    }
    return null
  }

  /** Takes the first slot whose caller has paid; when all owe, the one that the mark names. Null: another process was faster. */
  #claimSlot(first: number, mark: number, now: number): number | null {
    for (let slot = first; slot < first + BUCKET_SLOTS; slot++) {
      const held = Atomics.load(this.#fingerprints, slot)
      const isFree = held === 0 || this.#msOf(Atomics.load(this.#clearedAt, slot)) <= now
      if (isFree) return Atomics.compareExchange(this.#fingerprints, slot, held, mark) === held ? slot : null
      // Whoever took the slot in between may be this caller, in another process: it must not take a second one.
      if (Atomics.load(this.#fingerprints, slot) !== held || held === mark) return null
    }
    const slot = first + (mark & (BUCKET_SLOTS - 1))
    Atomics.store(this.#fingerprints, slot, mark)
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
