import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Tenant } from "../verdict/evidence.ts"
import { isConsumerTenant } from "./identity-endpoint.ts"
import type { IdentityReply } from "./identity-request.ts"
import { memberOf, outsideText } from "./outside-text.ts"

/** What the OpenID configuration of a domain tells of its tenant. */
export type TenantTold = Pick<Tenant, "id" | "region">

/** The status that says: no tenant has this domain. */
const NO_TENANT = 400
const REGION_LENGTH_MAX = 32

/** The id stands in the issuer: `https://login.…/{id}/v2.0`, or `https://sts.…/{id}/` of the older form. */
const ISSUER = /^https?:\/\/[^\s/?#]+\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\/(?:v2\.0\/?)?)?$/i

/** Where a domain's OpenID configuration is (OpenID Connect Discovery 1.0 §4). */
export const openidConfigurationUrl = (base: string, domain: string): string =>
  `${base}/${encodeURIComponent(domain)}/v2.0/.well-known/openid-configuration`

/** The tenant that the reply tells of; null: there is none. The consumers' tenant is no domain's own. */
export function tenantTold(reply: IdentityReply): Finding<TenantTold | null> {
  if (reply.kind === "timed_out") return unknown("timed_out")
  if (reply.kind === "refused" && reply.status === NO_TENANT) return known(null)
  const id = reply.kind === "told" ? tenantId(memberOf(reply.json, "issuer")) : null
  if (reply.kind !== "told" || id === null) return unknown("unavailable")
  if (isConsumerTenant(id)) return known(null)
  return known({ id, region: outsideText(memberOf(reply.json, "tenant_region_scope"), REGION_LENGTH_MAX) })
}

const tenantId = (issuer: unknown): string | null =>
  typeof issuer === "string" ? (ISSUER.exec(issuer)?.[1]?.toLowerCase() ?? null) : null
