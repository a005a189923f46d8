import type { Random } from "./outside-world.ts"

/** How many random bytes are taken at once: to take two costs nearly as much. */
const BYTES = 512

/** Gives random numbers of 16 bits. */
export function createRandomUint16s(random: Random): () => number {
  let bytes: Uint8Array = new Uint8Array(0)
  let next = 0
  return () => {
    if (next >= bytes.length) {
      bytes = random(BYTES)
      next = 0
    }
    const number = ((bytes[next] ?? 0) << 8) | (bytes[next + 1] ?? 0)
    next += 2
    return number
  }
}
