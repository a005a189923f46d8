import { assert } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import { callerHash } from "./caller-hash.ts"
import type { CallerLimits } from "./caller-limits.ts"
import { COLUMN_BYTES, SharedInFlight } from "./shared-in-flight.ts"
import { SHARED_RATES_BYTES, SharedRates } from "./shared-rates.ts"

/*
 *     | header: origin (ms since the epoch), seed; 2 × float64; id of the node, ASCII; zeros up to 64 | rates | keyless rates | columns in flight |
 */
const HEADER_BYTES = 64
const NODE_ID_AT = 2 * Float64Array.BYTES_PER_ELEMENT
const RATES_AT = HEADER_BYTES
const KEYLESS_AT = RATES_AT + SHARED_RATES_BYTES
const COLUMNS_AT = KEYLESS_AT + SHARED_RATES_BYTES

/**
 * The memory that the limits of `seats` processes take, as it is at first. Nobody who sends requests may know the seed, 32 bits.
 * The id is what all of them are counted by, together, among the nodes over one database.
 */
export function sharedLimitsMemory(
  seats: number,
  originMs: number,
  seed: number,
  nodeId: string,
): Uint8Array<ArrayBuffer> {
  assert(nodeId.length <= HEADER_BYTES - NODE_ID_AT, "the id of a node fits in the header")
  const memory = new Uint8Array(COLUMNS_AT + seats * COLUMN_BYTES)
  new Float64Array(memory.buffer, 0, 2).set([originMs, seed])
  new TextEncoder().encodeInto(nodeId, memory.subarray(NODE_ID_AT, HEADER_BYTES))
  return memory
}

/** The id of the node to which the processes that share the memory belong. */
export function nodeIdIn(memory: Uint8Array): string {
  return new TextDecoder().decode(memory.slice(NODE_ID_AT, HEADER_BYTES)).replace(/\0+$/, "")
}

/** Builds the limits of the process that has the seat, over the memory that it shares with those of the other seats. */
export function sharedLimits(memory: Uint8Array, seat: number, clock: Clock): CallerLimits {
  const [originMs = 0, seed = 0] = new Float64Array(memory.buffer, memory.byteOffset, 2)
  const hash = callerHash(seed)
  const rates = (at: number) => new SharedRates(memory.subarray(at, at + SHARED_RATES_BYTES), hash, clock, originMs)
  return {
    keyless: rates(KEYLESS_AT),
    rates: rates(RATES_AT),
    inFlight: new SharedInFlight(memory.subarray(COLUMNS_AT), hash, seat),
  }
}

/** Ends all that was under way in the process that had the seat: it has died. */
export function clearSeat(memory: Uint8Array, seat: number): void {
  memory.fill(0, COLUMNS_AT + seat * COLUMN_BYTES, COLUMNS_AT + (seat + 1) * COLUMN_BYTES)
}
