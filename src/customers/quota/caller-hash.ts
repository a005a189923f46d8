/** Where a caller stands in tables that several processes share. */
export type HashedCaller = {
  /** Tells callers of one bucket apart: 32 bits, never zero, so that memory of zeros is nobody's. */
  readonly mark: number
  /** 20 bits; whoever has fewer buckets takes the remainder. */
  readonly bucket: number
}

/** Gives the place of a caller. It is one object, which the next call fills anew. */
export type CallerHash = (caller: string) => HashedCaller

const BUCKET_BITS = 20n
const BUCKETS_MAX = 2 ** Number(BUCKET_BITS)

/** Builds the hash of a seed, 32 bits. Who does not know the seed cannot look for callers that share a place. */
export function createCallerHash(seed: number): CallerHash {
  const place = { mark: 0, bucket: 0 }
  return caller => {
    // 52 of 64 bits: as many as a number holds whole.
    const hash = Number(BigInt(Bun.hash(caller, seed)) >> 12n)
    place.bucket = hash % BUCKETS_MAX
    place.mark = Math.floor(hash / BUCKETS_MAX) | 0 || 1
    return place
  }
}
