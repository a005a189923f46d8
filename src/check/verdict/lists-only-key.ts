import type { FindingCause } from "../../base/finding.ts"
import { POLICY_NAMES, type Policy, RECOMMENDATIONS } from "../../contract/policies.ts"
import { HINT_KINDS_COUNT, hintKindsIndex } from "../address/address-hints.ts"
import { SUBJECT_KINDS, type SubjectFault } from "../address/subject.ts"
import { STRENGTH_BITS } from "../lists/sets.ts"
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
const RULED_AS: readonly Evidence["ruledAs"][] = [null, ...RECOMMENDATIONS]
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
  key = key * SUBJECT_KINDS.length + SUBJECT_KINDS.indexOf(subject.kind)
  key = key * FAULTS.length + FAULTS.indexOf(subject.fault)
  key = key * HINT_KINDS_COUNT + hintKindsIndex(evidence.hints)
  key = key * POLICY_NAMES.length + POLICY_NAMES.indexOf(policy)
  key = key * CAUSES.length + CAUSES.indexOf(mail.cause)
  key = key * CAUSES.length + CAUSES.indexOf(tenant.cause)
  key = key * CAUSES.length + CAUSES.indexOf(ageDays.cause)
  key = key * CAUSES.length + CAUSES.indexOf(homepage.cause)
  key = key * BLOCKED_BY.length + BLOCKED_BY.indexOf(evidence.blockedBy)
  key = key * NAME_PATTERNS.length + NAME_PATTERNS.indexOf(evidence.namePattern)
  key = key * RULED_AS.length + RULED_AS.indexOf(evidence.ruledAs)
  const flags =
    (subject.hasSubaddress ? 1 : 0) +
    (evidence.lookalikeOf === null ? 0 : 2) +
    (evidence.isAllowed ? 4 : 0) +
    (evidence.isCached ? 8 : 0)
  return key * 16 + flags
}

/** One more than the greatest key, which a double must hold exactly. */
export const LISTS_ONLY_KEYS =
  2 *
  STRENGTH_BITS.weak *
  SUBJECT_KINDS.length *
  FAULTS.length *
  HINT_KINDS_COUNT *
  POLICY_NAMES.length *
  CAUSES.length ** 4 *
  BLOCKED_BY.length *
  NAME_PATTERNS.length *
  RULED_AS.length *
  16
