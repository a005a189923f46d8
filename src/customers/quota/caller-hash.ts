/** A caller's place in hash tables that several processes share. */
export type HashedCaller = {
  /** Distinguishes callers of one bucket: 32 bits, never zero, since zeroed memory means a free entry. */
  readonly fingerprint: number
  /** 20 bits. A table with fewer buckets takes the remainder. */
  readonly bucket: number
}

/** Hashes a caller. The result is one object, which the next call overwrites. */
export type CallerHash = (caller: string) => HashedCaller

const BUCKET_BITS = 20n
const BUCKETS_MAX = 2 ** Number(BUCKET_BITS)

/** Creates the hash for a secret seed of 32 bits. Without the seed nobody can search for callers that collide. */
export function createCallerHash(seed: number): CallerHash {
  const hashed = { fingerprint: 0, bucket: 0 }
  return caller => {
    // 52 of 64 bits, as many as a number represents exactly.
    const hash = Number(BigInt(Bun.hash(caller, seed)) >> 12n)
    hashed.bucket = hash % BUCKETS_MAX
    hashed.fingerprint = Math.floor(hash / BUCKETS_MAX) | 0 || 1
    return hashed
  }
}
