import type { Stopwatch } from "../../base/clock.ts"
import type { KnownKey } from "./held-keys.ts"

/** How many keys count as busy. */
const BUSY_MAX = 1000

const DIGEST_OCTETS = 32

type Busy = { readonly digest: Int32Array; readonly known: KnownKey }

/**
 * The keys that were used a moment ago. A busy key is found in half the time that one held by its hash in hex takes, since
 * nothing is written for it: its digest is computed into one place and compared there, whole, with that of the key.
 */
export class BusyKeys {
  readonly #stopwatch: Stopwatch
  readonly #keptMs: number
  /** By the first octets of the digest: of two keys that share those, one is busy. */
  readonly #held = new Map<number, Busy>()
  readonly #octets = new Uint8Array(DIGEST_OCTETS)
  readonly #digest = new Int32Array(this.#octets.buffer)
  #since = Number.NEGATIVE_INFINITY

  /** All are let go of together after at most `keptMs`. */
  constructor(stopwatch: Stopwatch, keptMs: number) {
    this.#stopwatch = stopwatch
    this.#keptMs = keptMs
  }

  /** The key of this text; undefined when it is not busy. */
  get(text: string): KnownKey | undefined {
    this.#dropOld()
    const busy = this.#held.get(this.#take(text))
    return busy !== undefined && isSame(busy.digest, this.#digest) ? busy.known : undefined
  }

  /** Counts the key of this text as busy, unless enough are. */
  add(text: string, known: KnownKey): void {
    this.#dropOld()
    if (this.#held.size >= BUSY_MAX) return
    const start = this.#take(text)
    this.#held.set(start, { digest: this.#digest.slice(), known })
  }

  /** Lets go of all. */
  clear(): void {
    this.#held.clear()
  }

  #dropOld(): void {
    const now = this.#stopwatch()
    if (now - this.#since <= this.#keptMs) return
    this.#held.clear()
    this.#since = now
  }

  /** Computes the digest of the text, and gives its start. */
  #take(text: string): number {
    Bun.SHA256.hash(text, this.#octets)
    return this.#digest[0] ?? 0
  }
}

/** Takes the same time wherever the digests differ. */
function isSame(one: Int32Array, other: Int32Array): boolean {
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0)
  return difference === 0
}
