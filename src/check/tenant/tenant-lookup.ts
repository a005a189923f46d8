import type { CallOutcome } from "../../base/circuit-breaker.ts"
import type { Fetch } from "../../base/fetch.ts"
import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Clock, SetTimer } from "../../base/outside-world.ts"
import { ownMember, sanitizeText } from "../../base/untrusted-text.ts"
import type { Tenant } from "../verdict/evidence.ts"
import { type IdentityResponse, isConsumerTenant, RESERVED_DOMAIN, requestIdentity } from "./identity-endpoint.ts"
import { parseTenantSignIn, userRealmUrl } from "./tenant-sign-in.ts"

/** For both requests of one lookup. */
const TENANT_LOOKUP_TIMEOUT_MS = 5000

/** The result of one lookup. */
export type TenantLookupResult = {
  readonly tenant: Finding<Tenant | null>
  /** False: it is not known whether there is a tenant, or how its users sign in. */
  readonly isComplete: boolean
  /** The `Retry-After` of a refusal; null: there was none. */
  readonly retryAfterMs: number | null
}

/** A lookup that is in flight. */
export type TenantLookup = {
  readonly result: Promise<TenantLookupResult>
  /** Resolves when both requests have ended, which may be later than the result. */
  readonly finished: Promise<void>
}

/**
 * Builds the lookup of a domain's tenant at the endpoints under `base`, which are queried at the same time. Its promises never
 * reject, and settle within the timeout.
 */
export function createTenantLookup(fetchUrl: Fetch, clock: Clock, setTimer: SetTimer) {
  return (base: string, domain: string, organisationalDomain: string): TenantLookup => {
    const deadline = new AbortController()
    const cancelTimer = setTimer(TENANT_LOOKUP_TIMEOUT_MS, () => deadline.abort())
    const request = (url: string): Promise<IdentityResponse> => requestIdentity(fetchUrl, clock, url, deadline.signal)
    const openid = request(openidConfigurationUrl(base, domain))
    const realm = request(userRealmUrl(base, domain))
    return {
      result: lookupResult(openid, realm, organisationalDomain),
      finished: Promise.all([openid, realm]).then(cancelTimer),
    }
  }
}

/**
 * Builds a call that tells whether the endpoint under `base` works: it asks for a reserved domain. It never rejects, and settles within
 * the timeout.
 */
export function createCanaryLookup(fetchUrl: Fetch, clock: Clock, setTimer: SetTimer) {
  return async (base: string): Promise<CallOutcome> => {
    const deadline = new AbortController()
    const cancelTimer = setTimer(TENANT_LOOKUP_TIMEOUT_MS, () => deadline.abort())
    const url = openidConfigurationUrl(base, RESERVED_DOMAIN)
    const response = await requestIdentity(fetchUrl, clock, url, deadline.signal)
    cancelTimer()
    if (parseTenant(response).known) return { kind: "answered" }
    return { kind: "failed", retryAfterMs: response.kind === "refused" ? response.retryAfterMs : null }
  }
}

/** Waits for the realm only if there is a tenant: otherwise the realm does not matter. */
async function lookupResult(
  openid: Promise<IdentityResponse>,
  realm: Promise<IdentityResponse>,
  organisationalDomain: string,
): Promise<TenantLookupResult> {
  const response = await openid
  const identity = parseTenant(response)
  const retryAfterMs = response.kind === "refused" ? response.retryAfterMs : null
  if (!identity.known) return { tenant: identity, isComplete: false, retryAfterMs }
  if (identity.value === null) return { tenant: known(null), isComplete: true, retryAfterMs }
  const signIn = parseTenantSignIn(await realm, organisationalDomain)
  const tenant = { ...identity.value, ...(signIn ?? { auth: null, identityProvider: null }) }
  return { tenant: known(tenant), isComplete: signIn !== null, retryAfterMs }
}

/** What a domain's OpenID configuration tells about its tenant. */
type TenantIdentity = Pick<Tenant, "id" | "region">

/** The status for a domain without a tenant. */
const NO_TENANT_STATUS = 400
const REGION_CHARS_MAX = 32

/** The issuer holds the id: `https://login.…/{id}/v2.0`, or `https://sts.…/{id}/` in the older form. */
const ISSUER = /^https?:\/\/[^\s/?#]+\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\/(?:v2\.0\/?)?)?$/i

/** The URL of a domain's OpenID configuration (OpenID Connect Discovery 1.0 §4). */
export const openidConfigurationUrl = (base: string, domain: string): string =>
  `${base}/${encodeURIComponent(domain)}/v2.0/.well-known/openid-configuration`

/** The tenant in the response; null: there is none. The tenant of all consumers counts as none. */
export function parseTenant(response: IdentityResponse): Finding<TenantIdentity | null> {
  if (response.kind === "timed_out") return unknown("timed_out")
  if (response.kind === "refused" && response.status === NO_TENANT_STATUS) return known(null)
  const id = response.kind === "answered" ? tenantIdOfIssuer(ownMember(response.json, "issuer")) : null
  if (response.kind !== "answered" || id === null) return unknown("unavailable")
  if (isConsumerTenant(id)) return known(null)
  return known({ id, region: sanitizeText(ownMember(response.json, "tenant_region_scope"), REGION_CHARS_MAX) })
}

const tenantIdOfIssuer = (issuer: unknown): string | null =>
  typeof issuer === "string" ? (ISSUER.exec(issuer)?.[1]?.toLowerCase() ?? null) : null
