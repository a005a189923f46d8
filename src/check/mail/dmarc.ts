import { type Finding, known } from "../../base/finding.ts"
import { type CachingResolver, type DnsAnswer, txtValues } from "../dns/dns-types.ts"
import { prefixedName } from "../dns/domain-name.ts"
import type { DmarcPolicy } from "../verdict/evidence.ts"

/**
 * The effective DMARC policy of a domain (RFC 7489 §6.6.3): its own, else the subdomain policy of its organisationalDomain domain.
 * Both are queried at the same time. Null: there is none. Unknown: a query that decides failed.
 */
export async function lookupDmarcPolicy(
  resolver: CachingResolver,
  domain: string,
  organisationalDomain: string,
): Promise<Finding<DmarcPolicy | null>> {
  const [own, parent] = await Promise.all([
    lookupDmarcRecords(resolver, domain),
    domain === organisationalDomain ? known([]) : lookupDmarcRecords(resolver, organisationalDomain),
  ])
  if (!own.known) return own
  if (own.value.length > 0) return known(effectivePolicy(own.value, "p"))
  return parent.known ? known(effectivePolicy(parent.value, "sp")) : parent
}

/** The DMARC records of a domain. There are none if the name of the query would be too long. */
async function lookupDmarcRecords(resolver: CachingResolver, domain: string): Promise<Finding<readonly string[]>> {
  const name = prefixedName("_dmarc", domain)
  if (name === null) return known([])
  const answer: Finding<DnsAnswer> = await resolver({ name, type: "TXT" })
  return answer.known ? known(txtValues(answer.value).filter(text => DMARC_VERSION.test(text))) : answer
}

/** The version is the first tag (RFC 7489 §6.4). Its value is case-sensitive, its name is not. */
const DMARC_VERSION = /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/

/** The policy in a domain's records by the tag for the domain itself (`p`) or for its subdomains (`sp`, which defaults to `p`). */
function effectivePolicy(records: readonly string[], tag: "p" | "sp"): DmarcPolicy | null {
  const [record] = records
  if (record === undefined || records.length > 1) return null
  const tags = parseTags(record)
  const policy = policyTag(tags, "p")
  const subdomainPolicy = tags.has("sp") ? policyTag(tags, "sp") : policy
  // A record without a valid policy that requests reports counts as `none` (RFC 7489 §6.6.3, step 6).
  if (policy === null || subdomainPolicy === null) return requestsReports(tags) ? "none" : null
  return tag === "p" ? policy : subdomainPolicy
}

/** The tags of a record by their names in lower case. A tag that occurs twice is null (RFC 6376 §3.2). */
function parseTags(record: string): ReadonlyMap<string, string | null> {
  const tags = new Map<string, string | null>()
  for (const tag of record.split(";")) {
    const equals = tag.indexOf("=")
    if (equals < 0) continue
    const name = tag.slice(0, equals).trim().toLowerCase()
    tags.set(name, tags.has(name) ? null : tag.slice(equals + 1).trim())
  }
  return tags
}

const DMARC_POLICIES: readonly DmarcPolicy[] = ["none", "quarantine", "reject"]

const policyTag = (tags: ReadonlyMap<string, string | null>, name: string): DmarcPolicy | null =>
  DMARC_POLICIES.find(policy => policy === tags.get(name)?.toLowerCase()) ?? null

/** Whether `rua` holds at least one URI (RFC 3986 §3). */
const requestsReports = (tags: ReadonlyMap<string, string | null>): boolean =>
  (tags.get("rua") ?? "").split(",").some(uri => /^[a-z][a-z0-9+.-]*:[!-~]+$/i.test(uri.trim()))
