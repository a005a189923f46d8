import type { Finding } from "../../base/finding.ts"
import { LIMITS } from "../../contract/limits.ts"
import { REASON_NAMES, type Reason } from "../../contract/reasons.ts"
import type { Evidence, MailEvidence, Tenant } from "./evidence.ts"

/** When each reason holds. A reason without a row does not compile. */
const RULES: { readonly [R in Reason]: (evidence: Evidence) => boolean } = {
  invalid_syntax: e => e.subject.fault === "invalid_syntax",
  too_long: e => e.subject.fault === "too_long",
  ip_literal: e => e.subject.fault === "ip_literal",
  reserved_tld: e => e.subject.fault === "reserved_tld",
  unknown_tld: e => e.subject.fault === "unknown_tld",
  // `gov.uk` and `gouv.fr` are public suffixes and governments' own domains (decisions §2).
  public_suffix: e =>
    e.subject.fault === "public_suffix" && !e.listed.has("government_suffix") && !e.listed.has("education_suffix"),

  test_address: e => e.subject.isTest,
  corrected: e => e.correction !== null,
  disposable_domain: e => e.listed.has("disposable"),
  relay_domain: e => e.listed.has("relay"),
  government_domain: e => e.listed.has("government"),
  government_suffix: e => e.listed.has("government_suffix"),
  education_domain: e => e.listed.has("education"),
  education_suffix: e => e.listed.has("education_suffix"),
  free_provider: e => e.listed.has("personal"),
  known_organisation: e => e.listed.has("organisation"),

  domain_not_found: e => knownMail(e)?.exists === false,
  null_mx: e => isEmail(e) && knownMail(e)?.delivery === "null_mx",
  no_mail_host: e => isEmail(e) && knownMail(e)?.exists === true && knownMail(e)?.delivery === "none",
  disposable_mx: e => knownMail(e)?.operatedBy === "disposable" || knownMail(e)?.operatedBy === "learned_disposable",
  suite_a_mail: e => knownMail(e)?.operatedBy === "suite_a",
  suite_b_mail: e => knownMail(e)?.operatedBy === "suite_b",
  other_suite_mail: e => knownMail(e)?.operatedBy === "other_suite",
  security_gateway: e => knownMail(e)?.operatedBy === "gateway",
  mx_found: e => knownMail(e)?.delivery === "mx",
  implicit_mx: e => isEmail(e) && knownMail(e)?.delivery === "implicit",
  resolves: e => !isEmail(e) && knownMail(e)?.hasAddress === true,
  // The last row of the table: it decides only where nothing above it does.
  no_evidence: () => true,
  suite_a_detected: e => e.suites.known && e.suites.value.suiteA.length > 0 && knownMail(e)?.operatedBy !== "suite_a",
  suite_b_tenant: e => hasTenant(e) && (knownTenant(e) !== null || knownMail(e)?.operatedBy !== "suite_b"),
  spf_missing: e => knownMail(e)?.delivery === "mx" && isAbsent(knownMail(e)?.spf),
  dmarc_enforced: e => isEnforced(knownMail(e)),
  dmarc_missing: e => knownMail(e)?.delivery === "mx" && isAbsent(knownMail(e)?.dmarcPolicy),
  dns_unavailable: e => isDegraded(e),

  role_account: e => e.hints.isRole,
  subaddress: e => e.subject.hasSubaddress,
  shared_inbox_name: e => e.hints.sharedInbox !== null,
  group_name: e => e.hints.group !== null,
  group_service: e => e.hints.groupService !== null,

  likely_typo: e => e.suggestion !== null,
  lookalike_domain: e => e.lookalikeOf !== null,
  new_domain: e => isNewDomain(e),
  parked_domain: e => e.homepage.known && e.homepage.value === "parked",
  no_website: e => e.homepage.known && e.homepage.value === "none",
  deep_unavailable: e => isMissing(e.ageDays) || isMissing(e.homepage),

  blocklisted: e => e.blockedBy !== null,
  allowlisted: e => e.isAllowed,
}

const RULE_ROWS = REASON_NAMES.map(reason => ({ reason, holds: RULES[reason] }))

/** The reasons that the evidence shows, in order of precedence. `no_evidence` is always the last that can decide. */
export function matchingReasons(evidence: Evidence): Reason[] {
  const reasons: Reason[] = []
  for (const { reason, holds } of RULE_ROWS) if (holds(evidence)) reasons.push(reason)
  return reasons
}

/** Whether DNS was asked in vain, so that the verdict rests on lists alone. */
export const isDegraded = (evidence: Evidence): boolean => isMissing(evidence.mail)

/** Whether the domain was registered less than 30 days ago; false when its age is not known. */
export const isNewDomain = (evidence: Evidence): boolean =>
  evidence.ageDays.known && evidence.ageDays.value !== null && evidence.ageDays.value < LIMITS.newDomainDays

/**
 * The age in days that a result tells; null: it is not known, or the check was not deep. A plain one goes by the age that
 * an earlier deep check found, and does not tell it.
 */
export function reportedAgeDays({ ageDays, homepage }: Evidence): number | null {
  const isDeep = homepage.known || homepage.cause !== "not_asked"
  return isDeep && ageDays.known ? ageDays.value : null
}

/** What the domain publishes about mail; null when it was not asked or did not answer. */
export const knownMail = (evidence: Evidence): MailEvidence | null => (evidence.mail.known ? evidence.mail.value : null)

/** The tenant in suite_b; null when there is none or nobody asked. */
export const knownTenant = (evidence: Evidence): Tenant | null => (evidence.tenant.known ? evidence.tenant.value : null)

/** Whether suite_b knows the domain: as it says itself, and where nobody asked or it said nothing, as an MX of it shows. */
export const hasTenant = ({ tenant, suites }: Evidence): boolean =>
  tenant.known ? tenant.value !== null : suites.known && suites.value.suiteB.some(entry => entry.startsWith("mx:"))

/** Asked for and not there; what did not answer may be there. */
const isAbsent = (finding: Finding<string | null> | undefined): boolean =>
  finding?.known === true && finding.value === null

function isEnforced(mail: MailEvidence | null): boolean {
  if (mail === null || !mail.dmarcPolicy.known) return false
  return mail.dmarcPolicy.value === "quarantine" || mail.dmarcPolicy.value === "reject"
}

const isEmail = (evidence: Evidence): boolean => evidence.subject.kind === "email"

/** Asked, and no answer came. */
const isMissing = (finding: Evidence["mail"] | Evidence["ageDays"] | Evidence["homepage"]): boolean =>
  !finding.known && finding.cause !== "not_asked"
