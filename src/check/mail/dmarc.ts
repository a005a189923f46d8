import { type Finding, known } from "../../base/finding.ts"
import { TwoGenerationCache } from "../../base/two-generation-cache.ts"
import { LIMITS } from "../../contract/limits.ts"
import { type DnsAnswer, trimSpace, txtValues } from "../dns/dns-types.ts"
import { prefixedName } from "../dns/domain-name.ts"
import type { DmarcPolicy } from "../verdict/evidence.ts"

/** How many DMARC questions one check asks: one about the name, the others about its parents (RFC 9989 §4.10). */
export const DMARC_QUESTIONS_MAX = LIMITS.dmarcQuestionsPerCheckMax

/** Asks for the TXT records of a name, which is that of a parent or of the domain itself. */
export type AskDmarc = (name: string, isParent: boolean, onAnswer: (answer: Finding<DnsAnswer>) => void) => void

/**
 * Asks for the DMARC policy that holds for a name (RFC 9989 §4.10.1): that of its own record, else that for subdomains in the record which the DNS
 * tree walk finds. Names are A-labels, lower case, without a trailing dot; what stands above `organisationalDomain` is taken for a public suffix.
 *
 * The name and its registrable domain are asked about at the same time; if the name has no record, then all its other parents, of which there
 * are at most `DMARC_QUESTIONS_MAX` less one.
 *
 * It gives what reads the policy once all questions are answered. Null: there is none. Unknown: a question that decides failed. `exists` is
 * called only if the record in force has a policy of its own for names that do not.
 */
export function askDmarcPolicy(
  domain: string,
  organisationalDomain: string,
  ask: AskDmarc,
): (exists: () => boolean) => Finding<DmarcPolicy | null> {
  const isRegistrable = domain === organisationalDomain
  let own: DmarcFinding = NO_RECORD
  let registrable: DmarcFinding | null = null
  let walked: readonly WalkedParent[] = []
  let pendingCount = isRegistrable ? 1 : 2
  const walkOn = (): void => {
    pendingCount--
    if (pendingCount > 0 || !own.known || own.value !== null) return
    const names = remainingParents(domain, organisationalDomain, registrable)
    walked = names.map(name => ({ name, record: NO_RECORD }))
    for (const parent of walked) {
      const keep = (record: DmarcFinding): void => {
        parent.record = record
      }
      if (registrable !== null && parent.name === organisationalDomain) keep(registrable)
      else askForRecord(ask, parent.name, true, keep)
    }
  }
  askForRecord(ask, domain, false, record => {
    own = record
    walkOn()
  })
  if (!isRegistrable)
    askForRecord(ask, organisationalDomain, true, record => {
      registrable = record
      walkOn()
    })
  return exists => {
    if (!own.known) return own
    if (own.value !== null) return known(own.value.policy)
    const inherited = inheritedRecord(walked, organisationalDomain)
    if (!inherited.known) return inherited
    if (inherited.value === null) return known(null)
    const { subdomainPolicy, missingSubdomainPolicy } = inherited.value
    const isSame = subdomainPolicy === missingSubdomainPolicy
    return known(isSame || exists() ? subdomainPolicy : missingSubdomainPolicy)
  }
}

function askForRecord(
  ask: AskDmarc,
  domain: string,
  isParent: boolean,
  onRecord: (record: DmarcFinding) => void,
): void {
  const name = prefixedName("_dmarc", domain)
  if (name === null) onRecord(NO_RECORD)
  else ask(name, isParent, answer => onRecord(answer.known ? dmarcRecordIn(answer.value) : answer))
}

/** The parents that decide, the longest first: a `psd` of the registrable domain's record ends the walk there (§4.10). */
function remainingParents(
  domain: string,
  organisationalDomain: string,
  registrable: DmarcFinding | null,
): readonly string[] {
  const parents = treeWalkParents(domain)
  const endsThere = registrable?.known === true && registrable.value !== null && registrable.value.psd !== "u"
  return endsThere ? parents.slice(0, parents.indexOf(organisationalDomain) + 1) : parents
}

/** The parents of a name in the order of the tree walk. From eight labels on it goes on with the last seven (§4.10). */
function treeWalkParents(domain: string): readonly string[] {
  const labels = domain.split(".")
  const parentCount = Math.min(labels.length, DMARC_QUESTIONS_MAX) - 1
  const longest = labels.slice(labels.length - parentCount)
  return Array.from({ length: parentCount }, (_, at) => longest.slice(at).join("."))
}

/** A parent and its record. */
type WalkedParent = { readonly name: string; record: DmarcFinding }

/**
 * The record that holds for a name without one: that of its Organizational Domain, else that of its Public Suffix Domain (RFC 9989
 * §4.10.1, §4.10.2). The parents go from the longest to the shortest.
 */
function inheritedRecord(parents: readonly WalkedParent[], organisationalDomain: string): DmarcFinding {
  let below: DmarcRecord | null = null
  let shortest: DmarcRecord | null = null
  for (const { name, record } of parents) {
    // RFC 9989 leaves errors to us (§4.10.1). A suffix whose question failed does not outweigh a record below it: with `psd=y` it
    // would leave that one in force.
    const isOutweighed = shortest !== null && name.length < organisationalDomain.length
    if (!record.known && !isOutweighed) return record
    const found = record.known ? record.value : null
    if (found?.psd === "n") return known(found)
    if (found?.psd === "y") return known(below ?? found)
    below = found
    shortest = found ?? shortest
  }
  return known(shortest)
}

/** What a DMARC Policy Record says (RFC 9989 §4.7). Policies that are null: no DMARC policy holds. */
type DmarcRecord = {
  readonly policy: DmarcPolicy | null
  readonly subdomainPolicy: DmarcPolicy | null
  /** For subdomains that do not exist. */
  readonly missingSubdomainPolicy: DmarcPolicy | null
  /** Whether the name is a Public Suffix Domain, is an Organizational Domain, or leaves that open. */
  readonly psd: "y" | "n" | "u"
}

/** The record of a name. Null: there is none, there are several, or the name of the question would be too long. */
type DmarcFinding = Finding<DmarcRecord | null>

const NO_RECORD: DmarcFinding = known(null)

function dmarcRecordIn(answer: DnsAnswer): DmarcFinding {
  const records = txtValues(answer).filter(text => DMARC_VERSION.test(text))
  const [record] = records
  // Several are all discarded, and the walk goes on as if there were none (§4.10).
  return record === undefined || records.length > 1 ? NO_RECORD : known(readDmarcRecord(record))
}

/** The version is the first tag (RFC 9989 §4.7). Its value is case-sensitive, its name is not (§4.8). */
const DMARC_VERSION = /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/

/** Most domains publish one of few records. So many are kept at least, none longer than `RECENT_RECORD_CHARS_MAX`. */
const RECENT_RECORDS_MIN = 1_000
const RECENT_RECORD_CHARS_MAX = 256
const recentRecords = new TwoGenerationCache<string, DmarcRecord>(RECENT_RECORDS_MIN)

function readDmarcRecord(record: string): DmarcRecord {
  const recent = recentRecords.get(record)
  if (recent !== undefined) return recent
  const parsed = parseDmarcRecord(record)
  if (record.length <= RECENT_RECORD_CHARS_MAX) recentRecords.set(record, parsed)
  return parsed
}

/**
 * Reads a record. Unknown tags are ignored, and so are `pct`, `rf` and `ri`, which RFC 9989 has removed. Without a valid `p`, or
 * with an invalid `sp` or `np`, it counts as `p=none` if it requests reports, else as no policy (§4.10.1).
 */
function parseDmarcRecord(record: string): DmarcRecord {
  const tags = parseTags(record)
  const psdTag = tags.get("psd")?.toLowerCase()
  const psd: DmarcRecord["psd"] = psdTag === "y" || psdTag === "n" ? psdTag : "u"
  const policy = policyTag(tags, "p")
  const subdomainPolicy = tags.has("sp") ? policyTag(tags, "sp") : policy
  const missingSubdomainPolicy = tags.has("np") ? policyTag(tags, "np") : subdomainPolicy
  if (policy === null || subdomainPolicy === null || missingSubdomainPolicy === null) {
    const substitute = requestsReports(tags) ? "none" : null
    return { policy: substitute, subdomainPolicy: substitute, missingSubdomainPolicy: substitute, psd }
  }
  const policies = { policy, subdomainPolicy, missingSubdomainPolicy, psd }
  if (tags.get("t")?.toLowerCase() !== "y") return policies
  return {
    policy: TESTED_POLICIES[policy],
    subdomainPolicy: TESTED_POLICIES[subdomainPolicy],
    missingSubdomainPolicy: TESTED_POLICIES[missingSubdomainPolicy],
    psd,
  }
}

/** What holds while a policy is only tested, with `t=y`: the next weaker one (RFC 9989 §4.7). */
const TESTED_POLICIES: Readonly<Record<DmarcPolicy, DmarcPolicy>> = {
  reject: "quarantine",
  quarantine: "none",
  none: "none",
}

/** The tags of a record by their names in lower case. A tag that occurs twice is null (RFC 6376 §3.2). */
function parseTags(record: string): ReadonlyMap<string, string | null> {
  const tags = new Map<string, string | null>()
  for (const tag of record.split(";")) {
    const equals = tag.indexOf("=")
    if (equals < 0) continue
    const name = trimSpace(tag.slice(0, equals)).toLowerCase()
    tags.set(name, tags.has(name) ? null : trimSpace(tag.slice(equals + 1)))
  }
  return tags
}

const DMARC_POLICIES: readonly DmarcPolicy[] = ["none", "quarantine", "reject"]

const policyTag = (tags: ReadonlyMap<string, string | null>, name: string): DmarcPolicy | null =>
  DMARC_POLICIES.find(policy => policy === tags.get(name)?.toLowerCase()) ?? null

/** Whether `rua` holds at least one URI (RFC 3986 §3). */
const requestsReports = (tags: ReadonlyMap<string, string | null>): boolean =>
  (tags.get("rua") ?? "").split(",").some(uri => /^[a-z][a-z0-9+.-]*:[!-~]+$/i.test(trimSpace(uri)))
