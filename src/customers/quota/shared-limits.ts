import { assert } from "../../base/errors.ts"
import type { Clock } from "../../base/outside-world.ts"
import { createCallerHash } from "./caller-hash.ts"
import type { CallerLimits } from "./caller-limits.ts"
import { COLUMN_BYTES, SharedInFlightLimiter } from "./in-flight/shared-in-flight-limiter.ts"
import { SHARED_RATE_LIMITER_BYTES, SharedRateLimiter } from "./rate/shared-rate-limiter.ts"

/*
 * The memory that all workers map (DECISIONS 33):
 *
 *     | header: origin (ms since the epoch), seed; 2 × float64; node id, ASCII; zeros up to 64 | rates | keyless rates | in-flight columns |
 */
const HEADER_BYTES = 64
const NODE_ID_OFFSET = 2 * Float64Array.BYTES_PER_ELEMENT
const RATES_OFFSET = HEADER_BYTES
const KEYLESS_OFFSET = RATES_OFFSET + SHARED_RATE_LIMITER_BYTES
const COLUMNS_OFFSET = KEYLESS_OFFSET + SHARED_RATE_LIMITER_BYTES

/**
 * The initial memory for the limits of so many worker slots. The seed of 32 bits must stay secret from clients. The node id is the one
 * that all workers share.
 */
export function createSharedLimitsMemory(
  slots: number,
  originMs: number,
  seed: number,
  nodeId: string,
): Uint8Array<ArrayBuffer> {
  assert(nodeId.length <= HEADER_BYTES - NODE_ID_OFFSET, "the id of a node fits in the header")
  const memory = new Uint8Array(COLUMNS_OFFSET + slots * COLUMN_BYTES)
  new Float64Array(memory.buffer, 0, 2).set([originMs, seed])
  new TextEncoder().encodeInto(nodeId, memory.subarray(NODE_ID_OFFSET, HEADER_BYTES))
  return memory
}

/** The id of the node whose workers share the memory. */
export function readNodeId(memory: Uint8Array): string {
  return new TextDecoder().decode(memory.slice(NODE_ID_OFFSET, HEADER_BYTES)).replace(/\0+$/, "")
}

/** Creates the limiters of the worker in this slot, over the memory that all workers share. */
export function createSharedLimits(memory: Uint8Array, slot: number, clock: Clock): CallerLimits {
  const [originMs = 0, seed = 0] = new Float64Array(memory.buffer, memory.byteOffset, 2)
  const hash = createCallerHash(seed)
  const rates = (offset: number) =>
    new SharedRateLimiter(memory.subarray(offset, offset + SHARED_RATE_LIMITER_BYTES), hash, clock, originMs)
  return {
    keyless: rates(KEYLESS_OFFSET),
    rates: rates(RATES_OFFSET),
    inFlight: new SharedInFlightLimiter(memory.subarray(COLUMNS_OFFSET), hash, slot),
  }
}

/** Drops the in-flight requests of a worker that has died. */
export function clearWorkerSlot(memory: Uint8Array, slot: number): void {
  memory.fill(0, COLUMNS_OFFSET + slot * COLUMN_BYTES, COLUMNS_OFFSET + (slot + 1) * COLUMN_BYTES)
}
