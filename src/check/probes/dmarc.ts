import { type Finding, known } from "../../base/finding.ts"
import type { Answer, Ask } from "../dns/question.ts"
import type { DmarcPolicy } from "../verdict/evidence.ts"
import { textsIn } from "./answer-texts.ts"
import { nameUnder } from "./host-name.ts"

/**
 * The DMARC policy that holds for a domain (RFC 7489 §6.6.3): its own, else its organisational domain's for what stands
 * below it. Both are asked side by side. Null: there is none. Unknown: a question that decides had no answer.
 */
export async function dmarcPolicyOf(
  ask: Ask,
  domain: string,
  organisational: string,
): Promise<Finding<DmarcPolicy | null>> {
  const [own, above] = await Promise.all([
    recordsOf(ask, domain),
    domain === organisational ? known([]) : recordsOf(ask, organisational),
  ])
  if (!own.known) return own
  if (own.value.length > 0) return known(policyIn(own.value, "p"))
  return above.known ? known(policyIn(above.value, "sp")) : above
}

/** The DMARC records of a domain. A name that is too long to be asked has none. */
async function recordsOf(ask: Ask, domain: string): Promise<Finding<readonly string[]>> {
  const name = nameUnder("_dmarc", domain)
  if (name === null) return known([])
  const answer: Finding<Answer> = await ask({ name, type: "TXT" })
  return answer.known ? known(textsIn(answer.value).filter(text => VERSION.test(text))) : answer
}

/** The version comes first, as it is written here (RFC 7489 §6.4); the name of a tag may be of any case. */
const VERSION = /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/

/** The policy of a domain's records, told by the tag that holds for the domain asked about: `sp` falls back to `p`. */
function policyIn(records: readonly string[], tag: "p" | "sp"): DmarcPolicy | null {
  const [record] = records
  if (record === undefined || records.length > 1) return null
  const tags = tagsIn(record)
  const policy = policyTold(tags, "p")
  const below = tags.has("sp") ? policyTold(tags, "sp") : policy
  // Without a policy that can be read, one that asks for reports is taken as `none` (RFC 7489 §6.6.3, step 6).
  if (policy === null || below === null) return asksForReports(tags) ? "none" : null
  return tag === "p" ? policy : below
}

/** The tags of a record by their names; a name that stands there twice has no value (RFC 6376 §3.2). */
function tagsIn(record: string): ReadonlyMap<string, string | null> {
  const tags = new Map<string, string | null>()
  for (const written of record.split(";")) {
    const equals = written.indexOf("=")
    if (equals < 0) continue
    const name = written.slice(0, equals).trim().toLowerCase()
    tags.set(name, tags.has(name) ? null : written.slice(equals + 1).trim())
  }
  return tags
}

const POLICIES: readonly DmarcPolicy[] = ["none", "quarantine", "reject"]

const policyTold = (tags: ReadonlyMap<string, string | null>, name: string): DmarcPolicy | null =>
  POLICIES.find(policy => policy === tags.get(name)?.toLowerCase()) ?? null

/** Whether `rua` holds one URI at least (RFC 3986 §3). */
const asksForReports = (tags: ReadonlyMap<string, string | null>): boolean =>
  (tags.get("rua") ?? "").split(",").some(uri => /^[a-z][a-z0-9+.-]*:[!-~]+$/i.test(uri.trim()))
