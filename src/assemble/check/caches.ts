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
}

/** The bound of each, in bytes; tenants are counted. */
type CacheBounds = Readonly<Record<"evidenceBytesMax" | "evidenceApartBytesMax" | "dnsBytesMax" | "tenantsMax", number>>

/** About how many bytes a cached tenant takes. */
const TENANT_BYTES = 500
const TENANTS_MAX = 20_000

/** Caches take no larger part of the memory that a process may use. */
const MEMORY_SHARE = 1 / 8

/** Divides one bound of bytes among all caches, less where the process may use little memory. */
export function cacheBounds(bytesMax: number, memoryBytes: number): CacheBounds {
  const bytes = Math.min(bytesMax, memoryBytes * MEMORY_SHARE)
  const share = (sixteenths: number): number => Math.floor((bytes / 16) * sixteenths)
  return {
    evidenceBytesMax: share(7),
    evidenceApartBytesMax: share(4),
    dnsBytesMax: share(3),
    tenantsMax: Math.max(1, Math.min(TENANTS_MAX, Math.floor(share(2) / TENANT_BYTES))),
  }
}

/** Makes the caches of a process that may use so much memory. */
export function createNetworkCaches(bytesMax: number, memoryBytes: number): NetworkCaches {
  const { evidenceBytesMax, evidenceApartBytesMax, dnsBytesMax, tenantsMax } = cacheBounds(bytesMax, memoryBytes)
  return {
    cache: new CompressedCache<CachedEvidence>(evidenceBytesMax),
    cacheApart: new CompressedCache<CachedEvidence>(evidenceApartBytesMax),
    dnsCacheBytes: dnsBytesMax,
    tenantsMax,
  }
}
