import { DAY_MS } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { KeyKind } from "./key-format.ts"
import { parseNetwork } from "./networks.ts"

/** What an owner may restrict about a key. Null: no restriction. */
export type KeyRestrictions = {
  /** The instant from which on the key is refused. */
  readonly expiresAtMs: number | null
  readonly unitsPerDay: number | null
  readonly requestsPerSecond: number | null
  /** The networks whose clients may use a secret key; empty: all. */
  readonly networks: readonly string[]
}

/** A key that is as free as its account. */
export const NO_RESTRICTIONS: KeyRestrictions = {
  expiresAtMs: null,
  unitsPerDay: null,
  requestsPerSecond: null,
  networks: [],
}

/** The limits that those of a key have to be below; null: unlimited. */
export type KeyLimitCeiling = { readonly unitsPerDay: number | null; readonly requestsPerSecond: number | null }

/** The ceiling of an account without limits. */
export const NO_CEILING: KeyLimitCeiling = { unitsPerDay: null, requestsPerSecond: null }

const PUBLISHABLE_CEILING: KeyLimitCeiling = {
  unitsPerDay: LIMITS.publishableUnitsPerDay,
  requestsPerSecond: LIMITS.publishablePerSecond,
}

/** The ceiling of a key: the limits of its account, or those of all publishable keys. */
export const ceilingOf = (kind: KeyKind, ofAccount: KeyLimitCeiling): KeyLimitCeiling =>
  kind === "publishable" ? PUBLISHABLE_CEILING : ofAccount

/** Why restrictions are refused. `limit`: the one that a limit of the key has to be below; null: any whole number from 1 on is possible. */
export type RestrictionRefusal =
  | { readonly kind: "bad_expiry" }
  | { readonly kind: "bad_units"; readonly limit: number | null }
  | { readonly kind: "bad_rate"; readonly limit: number | null }
  | { readonly kind: "bad_network"; readonly sent: string }
  | { readonly kind: "too_many_networks" }
  | { readonly kind: "networks_on_publishable" }

/** Valid restrictions, or why they are none. */
export type ParsedRestrictions =
  | { readonly kind: "parsed"; readonly restrictions: KeyRestrictions }
  | RestrictionRefusal

/** The key that is restricted: its kind, the limits of its account, and what it is restricted to now. */
type RestrictedKey = {
  readonly kind: KeyKind
  readonly ceiling: KeyLimitCeiling
  readonly current: KeyRestrictions
}

/**
 * Validates restrictions, and writes networks in the form of `parseNetwork`. A value that the key has already is valid, so that the rest
 * of an expired key can be changed, and that of a key whose account has lower limits by now.
 */
export function parseRestrictions(
  { expiresAtMs, unitsPerDay, requestsPerSecond, networks }: KeyRestrictions,
  { kind, ceiling, current }: RestrictedKey,
  nowMs: number,
): ParsedRestrictions {
  const { unitsPerDay: unitsLimit, requestsPerSecond: rateLimit } = ceilingOf(kind, ceiling)
  if (expiresAtMs !== current.expiresAtMs && !isPossibleExpiry(expiresAtMs, nowMs)) return { kind: "bad_expiry" }
  if (unitsPerDay !== current.unitsPerDay && !isBelow(unitsPerDay, unitsLimit))
    return { kind: "bad_units", limit: unitsLimit }
  if (requestsPerSecond !== current.requestsPerSecond && !isBelow(requestsPerSecond, rateLimit))
    return { kind: "bad_rate", limit: rateLimit }
  if (kind === "publishable" && networks.length > 0) return { kind: "networks_on_publishable" }
  const parsed = new Set<string>()
  for (const sent of networks) {
    const network = parseNetwork(sent)
    if (network === null) return { kind: "bad_network", sent }
    parsed.add(network)
  }
  if (parsed.size > LIMITS.networksPerKeyMax) return { kind: "too_many_networks" }
  return { kind: "parsed", restrictions: { expiresAtMs, unitsPerDay, requestsPerSecond, networks: [...parsed] } }
}

const isPossibleExpiry = (expiresAtMs: number | null, nowMs: number): boolean =>
  expiresAtMs === null ||
  (Number.isSafeInteger(expiresAtMs) && expiresAtMs > nowMs && expiresAtMs <= nowMs + LIMITS.keyExpiryDaysMax * DAY_MS)

/** Far above every limit of an account, and exact as a number. */
const LIMIT_MAX = 1_000_000_000_000

const isBelow = (value: number | null, limit: number | null): boolean =>
  value === null || (Number.isSafeInteger(value) && value >= 1 && (limit === null ? value <= LIMIT_MAX : value < limit))
