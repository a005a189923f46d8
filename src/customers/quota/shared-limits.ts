import { assert } from "../../base/errors.ts"
import type { Clock } from "../../base/outside-world.ts"
import { NODE_CLAIMS_BYTES, NodeClaims } from "../store/poll/node-claims.ts"
import { createCallerHash } from "./caller-hash.ts"
import type { CallerLimits } from "./caller-limits.ts"
import { COLUMN_BYTES, SharedInFlightLimiter } from "./in-flight/shared-in-flight-limiter.ts"
import { SHARED_RATE_LIMITER_BYTES, SharedRateLimiter } from "./rate/shared-rate-limiter.ts"

/*
 * The memory that all workers map (DECISIONS 33):
 *
 *     | header: origin (ms since the epoch), seed; 2 × float64; node, ASCII; zeros up to 127; whether its row is taken | claims | rates | keyless rates | in-flight columns |
 */
const HEADER_BYTES = 128
const NODE_OFFSET = 2 * Float64Array.BYTES_PER_ELEMENT
const ROW_TAKEN_OFFSET = HEADER_BYTES - 1
const CLAIMS_OFFSET = HEADER_BYTES
const RATES_OFFSET = CLAIMS_OFFSET + NODE_CLAIMS_BYTES
const KEYLESS_OFFSET = RATES_OFFSET + SHARED_RATE_LIMITER_BYTES
const COLUMNS_OFFSET = KEYLESS_OFFSET + SHARED_RATE_LIMITER_BYTES

/**
 * The initial memory for the limits of so many worker slots. The seed of 32 bits must stay secret from clients. `node` says
 * which node all workers are.
 */
export function createSharedLimitsMemory(
  slots: number,
  originMs: number,
  seed: number,
  node: string,
): Uint8Array<ArrayBuffer> {
  assert(node.length <= ROW_TAKEN_OFFSET - NODE_OFFSET, "a node fits in the header")
  const memory = new Uint8Array(COLUMNS_OFFSET + slots * COLUMN_BYTES)
  new Float64Array(memory.buffer, 0, 2).set([originMs, seed])
  new TextEncoder().encodeInto(node, memory.subarray(NODE_OFFSET, ROW_TAKEN_OFFSET))
  return memory
}

/** What the memory says of the node whose workers share it. */
export function readNode(memory: Uint8Array): string {
  return new TextDecoder().decode(memory.slice(NODE_OFFSET, ROW_TAKEN_OFFSET)).replace(/\0+$/, "")
}

/** Whether a worker has taken the row of the node, for all of them. */
export const createRowClaim = (memory: Uint8Array) => ({
  isTaken: (): boolean => memory[ROW_TAKEN_OFFSET] === 1,
  take: (): void => {
    memory[ROW_TAKEN_OFFSET] = 1
  },
})

/** What one worker of the node does for all of them. */
export const createSharedClaims = (memory: Uint8Array, clock: Clock): NodeClaims =>
  new NodeClaims(
    clock,
    new Float64Array(
      memory.buffer,
      memory.byteOffset + CLAIMS_OFFSET,
      NODE_CLAIMS_BYTES / Float64Array.BYTES_PER_ELEMENT,
    ),
  )

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
