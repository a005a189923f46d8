import type { Fetch } from "../../base/fetch.ts"
import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Clock, SetTimer } from "../../base/outside-world.ts"
import { ownMember, sanitizeText } from "../../base/untrusted-text.ts"
import type { Tenant } from "../verdict/evidence.ts"
import { type IdentityResponse, isConsumerTenant, requestIdentity } from "./identity-endpoint.ts"
import { parseTenantSignIn, userRealmUrl } from "./tenant-sign-in.ts"

/** How long the endpoints may take for one domain. */
const TENANT_LOOKUP_TIMEOUT_MS = 5000

/** What one look-up found. */
export type TenantLookupResult = {
  readonly tenant: Finding<Tenant | null>
  /** False: something was not told: whether there is a tenant, or how its people sign in. */
  readonly isComplete: boolean
  /** How long the endpoint asked to be left alone when it refused; null: it did not. */
  readonly retryAfterMs: number | null
}

/** A look-up under way. */
export type TenantLookup = {
  readonly result: Promise<TenantLookupResult>
  /** Resolves when nothing is asked any more, which may be later than what was found is known. */
  readonly finished: Promise<void>
}

/**
 * Builds the look-up of a domain's tenant at the endpoints under `base`: both are asked side by side. Its promises never
 * reject, and settle within the time-out.
 */
export function createTenantLookup(web: Fetch, clock: Clock, later: SetTimer) {
  return (base: string, domain: string, organisational: string): TenantLookup => {
    const deadline = new AbortController()
    const callOff = later(TENANT_LOOKUP_TIMEOUT_MS, () => deadline.abort())
    const ask = (url: string): Promise<IdentityResponse> => requestIdentity(web, clock, url, deadline.signal)
    const openid = ask(openidConfigurationUrl(base, domain))
    const realm = ask(userRealmUrl(base, domain))
    return { result: lookupResult(openid, realm, organisational), finished: Promise.all([openid, realm]).then(callOff) }
  }
}

/** Only a tenant waits for the realm: without one, nothing that the realm says counts. */
async function lookupResult(
  openid: Promise<IdentityResponse>,
  realm: Promise<IdentityResponse>,
  organisational: string,
): Promise<TenantLookupResult> {
  const reply = await openid
  const told = parseTenant(reply)
  const retryAfterMs = reply.kind === "refused" ? reply.retryAfterMs : null
  if (!told.known) return { tenant: told, isComplete: false, retryAfterMs }
  if (told.value === null) return { tenant: known(null), isComplete: true, retryAfterMs }
  const signIn = parseTenantSignIn(await realm, organisational)
  const tenant = { ...told.value, ...(signIn ?? { auth: null, identityProvider: null }) }
  return { tenant: known(tenant), isComplete: signIn !== null, retryAfterMs }
}

/** What the OpenID configuration of a domain tells of its tenant. */
type TenantIdentity = Pick<Tenant, "id" | "region">

/** The status that says: no tenant has this domain. */
const NO_TENANT_STATUS = 400
const REGION_CHARS_MAX = 32

/** The id stands in the issuer: `https://login.…/{id}/v2.0`, or `https://sts.…/{id}/` of the older form. */
const ISSUER = /^https?:\/\/[^\s/?#]+\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\/(?:v2\.0\/?)?)?$/i

/** Where a domain's OpenID configuration is (OpenID Connect Discovery 1.0 §4). */
export const openidConfigurationUrl = (base: string, domain: string): string =>
  `${base}/${encodeURIComponent(domain)}/v2.0/.well-known/openid-configuration`

/** The tenant that the reply tells of; null: there is none. The consumers' tenant is no domain's own. */
export function parseTenant(reply: IdentityResponse): Finding<TenantIdentity | null> {
  if (reply.kind === "timed_out") return unknown("timed_out")
  if (reply.kind === "refused" && reply.status === NO_TENANT_STATUS) return known(null)
  const id = reply.kind === "told" ? tenantIdOfIssuer(ownMember(reply.json, "issuer")) : null
  if (reply.kind !== "told" || id === null) return unknown("unavailable")
  if (isConsumerTenant(id)) return known(null)
  return known({ id, region: sanitizeText(ownMember(reply.json, "tenant_region_scope"), REGION_CHARS_MAX) })
}

const tenantIdOfIssuer = (issuer: unknown): string | null =>
  typeof issuer === "string" ? (ISSUER.exec(issuer)?.[1]?.toLowerCase() ?? null) : null
