import type { FindingCause } from "../../base/finding.ts"
import { POLICY_NAMES, type Policy } from "../../contract/policies.ts"
import { HINT_KINDS_COUNT, hintKindsIndex } from "../address/address-hints.ts"
import { SUBJECT_KINDS, type SubjectFault } from "../address/subject.ts"
import { LOW_TRUST_BIT } from "../lists/sets.ts"
import type { Evidence } from "./evidence.ts"

const FAULTS: readonly (SubjectFault | null)[] = [
  null,
  "invalid_syntax",
  "too_long",
  "ip_literal",
  "public_suffix",
  "unknown_tld",
  "reserved_tld",
]
const CAUSES: readonly FindingCause[] = ["not_asked", "unavailable", "timed_out", "pending"]
const BLOCKED_BY: readonly Evidence["blockedBy"][] = [null, "operator", "account"]
const NAME_PATTERNS: readonly Evidence["namePattern"][] = [null, "education", "government"]

/**
 * A number for everything in the evidence that a verdict can depend on, if nothing is known from the network: equal numbers,
 * equal verdicts and equal members of the result but the domain and the words of hints. Null: something is known from the
 * network, from a report, or of a typo.
 */
export function listsOnlyKey(evidence: Evidence, policy: Policy): number | null {
  const { subject, listMatch, mail, suites, tenant, ageDays, homepage } = evidence
  if (mail.known || suites.known || tenant.known || ageDays.known || homepage.known) return null
  if (subject.isTest || evidence.correction !== null || evidence.suggestion !== null) return null
  let key = listMatch.mask
  const add = (index: number, count: number): void => {
    key = key * count + index
  }
  add(SUBJECT_KINDS.indexOf(subject.kind), SUBJECT_KINDS.length)
  add(FAULTS.indexOf(subject.fault), FAULTS.length)
  add(hintKindsIndex(evidence.hints), HINT_KINDS_COUNT)
  add(POLICY_NAMES.indexOf(policy), POLICY_NAMES.length)
  add(CAUSES.indexOf(mail.cause), CAUSES.length)
  add(CAUSES.indexOf(tenant.cause), CAUSES.length)
  add(CAUSES.indexOf(ageDays.cause), CAUSES.length)
  add(CAUSES.indexOf(homepage.cause), CAUSES.length)
  add(BLOCKED_BY.indexOf(evidence.blockedBy), BLOCKED_BY.length)
  add(NAME_PATTERNS.indexOf(evidence.namePattern), NAME_PATTERNS.length)
  add(
    (subject.hasSubaddress ? 1 : 0) +
      (evidence.lookalikeOf === null ? 0 : 2) +
      (evidence.isAllowed ? 4 : 0) +
      (evidence.isCached ? 8 : 0),
    16,
  )
  return key
}

/** One more than the greatest key, which a double must hold exactly. */
export const LISTS_ONLY_KEYS =
  2 *
  LOW_TRUST_BIT *
  SUBJECT_KINDS.length *
  FAULTS.length *
  HINT_KINDS_COUNT *
  POLICY_NAMES.length *
  CAUSES.length ** 4 *
  BLOCKED_BY.length *
  NAME_PATTERNS.length *
  16
