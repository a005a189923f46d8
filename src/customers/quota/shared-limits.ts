import { assert } from "../../base/errors.ts"
import type { Clock } from "../../base/outside-world.ts"
import { createCallerHash } from "./caller-hash.ts"
import type { CallerLimits } from "./caller-limits.ts"
import { COLUMN_BYTES, SharedInFlightLimiter } from "./in-flight/shared-in-flight-limiter.ts"
import { SHARED_RATE_LIMITER_BYTES, SharedRateLimiter } from "./rate/shared-rate-limiter.ts"

/*
 *     | header: origin (ms since the epoch), seed; 2 × float64; id of the node, ASCII; zeros up to 64 | rates | keyless rates | columns in flight |
 */
const HEADER_BYTES = 64
const NODE_ID_OFFSET = 2 * Float64Array.BYTES_PER_ELEMENT
const RATES_OFFSET = HEADER_BYTES
const KEYLESS_OFFSET = RATES_OFFSET + SHARED_RATE_LIMITER_BYTES
const COLUMNS_OFFSET = KEYLESS_OFFSET + SHARED_RATE_LIMITER_BYTES

/**
 * The memory that the limits of `seats` processes take, as it is at first. Nobody who sends requests may know the seed, 32 bits.
 * The id is what all of them are counted by, together, among the nodes over one database.
 */
export function createSharedLimitsMemory(
  seats: number,
  originMs: number,
  seed: number,
  nodeId: string,
): Uint8Array<ArrayBuffer> {
  assert(nodeId.length <= HEADER_BYTES - NODE_ID_OFFSET, "the id of a node fits in the header")
  const memory = new Uint8Array(COLUMNS_OFFSET + seats * COLUMN_BYTES)
  new Float64Array(memory.buffer, 0, 2).set([originMs, seed])
  new TextEncoder().encodeInto(nodeId, memory.subarray(NODE_ID_OFFSET, HEADER_BYTES))
  return memory
}

/** The id of the node to which the processes that share the memory belong. */
export function readNodeId(memory: Uint8Array): string {
  return new TextDecoder().decode(memory.slice(NODE_ID_OFFSET, HEADER_BYTES)).replace(/\0+$/, "")
}

/** Builds the limits of the process that has the seat, over the memory that it shares with those of the other seats. */
export function createSharedLimits(memory: Uint8Array, seat: number, clock: Clock): CallerLimits {
  const [originMs = 0, seed = 0] = new Float64Array(memory.buffer, memory.byteOffset, 2)
  const hash = createCallerHash(seed)
  const rates = (at: number) =>
    new SharedRateLimiter(memory.subarray(at, at + SHARED_RATE_LIMITER_BYTES), hash, clock, originMs)
  return {
    keyless: rates(KEYLESS_OFFSET),
    rates: rates(RATES_OFFSET),
    inFlight: new SharedInFlightLimiter(memory.subarray(COLUMNS_OFFSET), hash, seat),
  }
}

/** Ends all that was under way in the process that had the seat: it has died. */
export function clearWorkerSlot(memory: Uint8Array, seat: number): void {
  memory.fill(0, COLUMNS_OFFSET + seat * COLUMN_BYTES, COLUMNS_OFFSET + (seat + 1) * COLUMN_BYTES)
}
