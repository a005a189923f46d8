import { type Finding, known } from "../../base/finding.ts"
import { type CachingResolver, type DnsAnswer, txtValues } from "../dns/dns-types.ts"
import { prefixedName } from "../dns/domain-name.ts"
import type { DmarcPolicy } from "../verdict/evidence.ts"

/**
 * The DMARC policy that holds for a domain (RFC 7489 §6.6.3): its own, else its organisational domain's for what stands
 * below it. Both are asked side by side. Null: there is none. Unknown: a question that decides had no answer.
 */
export async function lookupDmarcPolicy(
  ask: CachingResolver,
  domain: string,
  organisational: string,
): Promise<Finding<DmarcPolicy | null>> {
  const [own, above] = await Promise.all([
    lookupDmarcRecords(ask, domain),
    domain === organisational ? known([]) : lookupDmarcRecords(ask, organisational),
  ])
  if (!own.known) return own
  if (own.value.length > 0) return known(effectivePolicy(own.value, "p"))
  return above.known ? known(effectivePolicy(above.value, "sp")) : above
}

/** The DMARC records of a domain. A name that is too long to be asked has none. */
async function lookupDmarcRecords(ask: CachingResolver, domain: string): Promise<Finding<readonly string[]>> {
  const name = prefixedName("_dmarc", domain)
  if (name === null) return known([])
  const answer: Finding<DnsAnswer> = await ask({ name, type: "TXT" })
  return answer.known ? known(txtValues(answer.value).filter(text => DMARC_VERSION.test(text))) : answer
}

/** The version comes first, as it is written here (RFC 7489 §6.4); the name of a tag may be of any case. */
const DMARC_VERSION = /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/

/** The policy of a domain's records, told by the tag that holds for the domain asked about: `sp` falls back to `p`. */
function effectivePolicy(records: readonly string[], tag: "p" | "sp"): DmarcPolicy | null {
  const [record] = records
  if (record === undefined || records.length > 1) return null
  const tags = parseTags(record)
  const policy = policyTag(tags, "p")
  const below = tags.has("sp") ? policyTag(tags, "sp") : policy
  // Without a policy that can be read, one that asks for reports is taken as `none` (RFC 7489 §6.6.3, step 6).
  if (policy === null || below === null) return requestsReports(tags) ? "none" : null
  return tag === "p" ? policy : below
}

/** The tags of a record by their names; a name that stands there twice has no value (RFC 6376 §3.2). */
function parseTags(record: string): ReadonlyMap<string, string | null> {
  const tags = new Map<string, string | null>()
  for (const written of record.split(";")) {
    const equals = written.indexOf("=")
    if (equals < 0) continue
    const name = written.slice(0, equals).trim().toLowerCase()
    tags.set(name, tags.has(name) ? null : written.slice(equals + 1).trim())
  }
  return tags
}

const DMARC_POLICIES: readonly DmarcPolicy[] = ["none", "quarantine", "reject"]

const policyTag = (tags: ReadonlyMap<string, string | null>, name: string): DmarcPolicy | null =>
  DMARC_POLICIES.find(policy => policy === tags.get(name)?.toLowerCase()) ?? null

/** Whether `rua` holds one URI at least (RFC 3986 §3). */
const requestsReports = (tags: ReadonlyMap<string, string | null>): boolean =>
  (tags.get("rua") ?? "").split(",").some(uri => /^[a-z][a-z0-9+.-]*:[!-~]+$/i.test(uri.trim()))
