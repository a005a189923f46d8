import { CompressedCache } from "../../base/compressed-cache.ts"
import type { CachedEvidence, EvidenceCache } from "../../check/evidence-cache.ts"

/** The caches of what the network says of domains, and the bounds of those that are made elsewhere. */
export type NetworkCaches = {
  /** The evidence of domains that are checked singly and in batches. */
  readonly cache: EvidenceCache
  /** The evidence of domains of lists. */
  readonly cacheApart: EvidenceCache
  /** How much memory the answers of DNS take to which many domains lead. */
  readonly dnsCacheBytes: number
  readonly tenantsMax: number
  readonly verdictsMax: number
  /** How many ages, and how many homepages. */
  readonly factsMax: number
}

/** The bound of each, in bytes; what is never long is counted. */
type CacheBounds = Readonly<Record<"evidenceBytesMax" | "evidenceApartBytesMax" | "dnsBytesMax", number>> &
  Pick<NetworkCaches, "tenantsMax" | "verdictsMax" | "factsMax">

/** About how many bytes each takes that is cached; a fact is the age of a domain, and what its homepage is. */
export const COUNTED_BYTES = { tenant: 500, verdict: 3000, fact: 600 } as const
const TENANTS_MAX = 20_000
const FACTS_MAX = 10_000

/** Caches take no larger part of the memory that a process may use. */
const MEMORY_SHARE = 1 / 16

/** Divides one bound of bytes among all caches, less where the process may use little memory. */
export function cacheBounds(bytesMax: number, memoryBytes: number): CacheBounds {
  const bytes = Math.min(bytesMax, memoryBytes * MEMORY_SHARE)
  const share = (sixteenths: number): number => Math.floor((bytes / 16) * sixteenths)
  return {
    evidenceBytesMax: share(5),
    evidenceApartBytesMax: share(3),
    dnsBytesMax: share(3),
    tenantsMax: countIn(share(1), COUNTED_BYTES.tenant, TENANTS_MAX),
    verdictsMax: countIn(share(3), COUNTED_BYTES.verdict),
    factsMax: countIn(share(1), COUNTED_BYTES.fact, FACTS_MAX),
  }
}

const countIn = (bytes: number, bytesEach: number, countMax = Number.POSITIVE_INFINITY): number =>
  Math.max(1, Math.min(countMax, Math.floor(bytes / bytesEach)))

/** Makes the caches of a process that may use so much memory. */
export function createNetworkCaches(bytesMax: number, memoryBytes: number): NetworkCaches {
  const { evidenceBytesMax, evidenceApartBytesMax, dnsBytesMax, ...counts } = cacheBounds(bytesMax, memoryBytes)
  return {
    cache: new CompressedCache<CachedEvidence>(evidenceBytesMax),
    cacheApart: new CompressedCache<CachedEvidence>(evidenceApartBytesMax),
    dnsCacheBytes: dnsBytesMax,
    ...counts,
  }
}
