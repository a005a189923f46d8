import type { Finding } from "../../base/finding.ts"
import { LIMITS } from "../../contract/limits.ts"
import { REASON_NAMES, type Reason } from "../../contract/reasons.ts"
import type { Evidence, MailEvidence, Tenant } from "./evidence.ts"

/** When each reason matches. */
const RULES: { readonly [R in Reason]: (evidence: Evidence) => boolean } = {
  invalid_syntax: e => e.subject.fault === "invalid_syntax",
  too_long: e => e.subject.fault === "too_long",
  ip_literal: e => e.subject.fault === "ip_literal",
  reserved_tld: e => e.subject.fault === "reserved_tld",
  unknown_tld: e => e.subject.fault === "unknown_tld",
  public_suffix: e => e.subject.fault === "public_suffix" && !isSuffixOfBody(e),

  test_address: e => e.subject.isTest,
  corrected: e => e.correction !== null,
  listing_contradicted: isListingContradicted,
  weak_listing: e => isListingWeak(e),
  disposable_domain: e => e.listMatch.has("disposable"),
  relay_domain: e => e.listMatch.has("relay"),
  government_domain: e => e.listMatch.has("government"),
  government_suffix: e => e.listMatch.has("government_suffix"),
  education_domain: e => e.listMatch.has("education"),
  education_suffix: isUnderEducationSuffix,
  free_provider: e => e.listMatch.has("personal"),
  agent_mailbox: e => e.listMatch.has("agent_mailbox") || knownMail(e)?.operatedBy === "agent",
  known_organisation: e => e.listMatch.has("organisation"),

  domain_not_found: isMissing,
  null_mx: e => isEmail(e) && knownMail(e)?.delivery === "null_mx",
  no_mail_host: e =>
    isEmail(e) && knownMail(e)?.exists === true && (knownMail(e)?.delivery === "none" || isUnreachable(e)),
  disposable_mx: e => knownMail(e)?.operatedBy === "disposable" || knownMail(e)?.operatedBy === "learned_disposable",
  suite_a_mail: e => knownMail(e)?.operatedBy === "suite_a",
  suite_b_mail: e => knownMail(e)?.operatedBy === "suite_b",
  other_suite_mail: e => knownMail(e)?.operatedBy === "other_suite",
  security_gateway: e => knownMail(e)?.operatedBy === "gateway",
  parked_mail: e => knownMail(e)?.operatedBy === "parking",
  name_pattern: e => e.namePattern !== null && e.listMatch.mask === 0 && isReachable(e),
  free_subdomain: e => e.listMatch.has("free_subdomain"),
  relay_mx: e => isOwnDomainAt("alias", e),
  forwarded_mail: e => isOwnDomainAt("forwarder", e),
  personal_hosting: e => isOwnDomainAt("personal", e),
  mx_found: e => knownMail(e)?.delivery === "mx" && !(isEmail(e) && isUnreachable(e)),
  implicit_mx: e => isEmail(e) && knownMail(e)?.delivery === "implicit",
  resolves: e => !isEmail(e) && knownMail(e)?.hasAddress === true,
  // The last reason that can decide: it decides if no reason before it does.
  no_evidence: () => true,
  suite_a_detected: e => e.suites.known && e.suites.value.suiteA.length > 0 && knownMail(e)?.operatedBy !== "suite_a",
  suite_b_tenant: e => hasTenant(e) && (knownTenant(e) !== null || knownMail(e)?.operatedBy !== "suite_b"),
  spf_missing: e => knownMail(e)?.delivery === "mx" && isAbsent(knownMail(e)?.spf),
  dmarc_enforced: e => isEnforced(knownMail(e)),
  dmarc_missing: e => knownMail(e)?.delivery === "mx" && isAbsent(knownMail(e)?.dmarcPolicy),
  dns_unavailable: e => isDegraded(e),

  role_account: e => e.hints.isRole,
  subaddress: e => e.subject.hasSubaddress,
  shared_inbox_name: e => e.hints.hasSharedInbox,
  group_name: e => e.hints.hasGroup,
  group_service: e => e.hints.hasGroupService,

  likely_typo: e => e.suggestion !== null,
  lookalike_domain: e => e.lookalikeOf !== null,
  new_domain: e => isNewDomain(e),
  parked_domain: e => e.homepage.known && e.homepage.value === "parked",
  no_website: e => e.homepage.known && e.homepage.value === "none",
  deep_unavailable: e => isUnavailable(e.ageDays) || isUnavailable(e.homepage),

  blocklisted: e => e.blockedBy !== null,
  allowlisted: e => e.isAllowed,
  account_rule: e => e.ruledAs !== null,
}

const RULE_ROWS = REASON_NAMES.map(reason => ({ reason, holds: RULES[reason] }))

/** The reasons that match the evidence, in order of precedence. `no_evidence` is among them, as the last that can decide. */
export function matchingReasons(evidence: Evidence): Reason[] {
  const reasons: Reason[] = []
  for (const { reason, holds } of RULE_ROWS) if (holds(evidence)) reasons.push(reason)
  return reasons
}

/** Whether the mail lookup failed, so that the verdict rests on lists alone. */
export const isDegraded = (evidence: Evidence): boolean => isUnavailable(evidence.mail)

/** Whether DNS says that the name does not exist. */
export function isMissing(evidence: Evidence): boolean {
  return knownMail(evidence)?.exists === false
}

/** Whether a public suffix is the own domain of a government or a school too: `gov.uk`, `gouv.fr`. */
export const isSuffixOfBody = ({ listMatch }: Pick<Evidence, "listMatch">): boolean =>
  listMatch.has("government_suffix") || isUnderEducationSuffix({ listMatch })

/** Whether a suffix kept for education matches the domain, open or not. */
function isUnderEducationSuffix({ listMatch }: Pick<Evidence, "listMatch">): boolean {
  return listMatch.has("education_suffix") || listMatch.has("open_education_suffix")
}

/** Whether the domain stands under an education suffix where anyone can register, and no list names it. */
export const isUnderOpenSuffix = ({ listMatch }: Evidence): boolean =>
  listMatch.has("open_education_suffix") && !listMatch.has("education_suffix")

/** Whether a domain that no list names has its mail at hosts for persons of that kind. */
const isOwnDomainAt = (operator: "alias" | "forwarder" | "personal", evidence: Evidence): boolean =>
  evidence.listMatch.mask === 0 && knownMail(evidence)?.operatedBy === operator

/** Whether mail or visitors reach the domain: it has a mail host or an address record. */
export function isReachable(evidence: Evidence): boolean {
  const mail = knownMail(evidence)
  return mail !== null && (mail.delivery === "mx" || mail.hasAddress)
}

/**
 * Whether only aggregators call the domain disposable and its mail records do not agree. They agree if the mail is at a known
 * disposable host or the domain can take none: without the listing it would be refused too.
 */
const isListingWeak = (evidence: Evidence): boolean =>
  evidence.listMatch.strength === "weak" && !isRefusedByMail(evidence)

/**
 * Whether a listing is weak and the owner of the domain is known otherwise: an office suite runs its mail and a tenant or another
 * record of the same suite proves it, or it was registered long ago.
 */
function isListingContradicted(evidence: Evidence): boolean {
  if (!isListingWeak(evidence)) return false
  const { ageDays } = evidence
  if (ageDays.known && ageDays.value !== null && ageDays.value > LIMITS.establishedDomainDays) return true
  const operatedBy = knownMail(evidence)?.operatedBy
  if (operatedBy === "suite_b" && knownTenant(evidence) !== null) return true
  if ((operatedBy !== "suite_a" && operatedBy !== "suite_b") || !evidence.suites.known) return false
  const { suiteA, suiteB } = evidence.suites.value
  return (operatedBy === "suite_a" ? suiteA : suiteB).some(entry => !entry.startsWith("mx:"))
}

/** Whether the mail records alone would refuse the Subject, whatever lists say. */
const isRefusedByMail = (evidence: Evidence): boolean =>
  knownMail(evidence)?.operatedBy === "disposable" || MAIL_FAULTS.some(reason => RULES[reason](evidence))

const MAIL_FAULTS = ["domain_not_found", "null_mx", "no_mail_host"] as const satisfies readonly Reason[]

/** Whether the domain was registered less than 30 days ago. False: it was not, or its age is not known. */
export const isNewDomain = (evidence: Evidence): boolean =>
  evidence.ageDays.known && evidence.ageDays.value !== null && evidence.ageDays.value < LIMITS.newDomainDays

/** The age in days that the result reports; null: it is not known, or the check was not deep and only used a cached age. */
export function reportedAgeDays({ ageDays, homepage }: Evidence): number | null {
  const isDeep = homepage.known || homepage.cause !== "not_asked"
  return isDeep && ageDays.known ? ageDays.value : null
}

/** The mail evidence; null: it was not looked up, or the lookup failed. */
export const knownMail = (evidence: Evidence): MailEvidence | null => (evidence.mail.known ? evidence.mail.value : null)

/** The tenant in suite_b; null: there is none, it was not looked up, or the lookup failed. */
export const knownTenant = (evidence: Evidence): Tenant | null => (evidence.tenant.known ? evidence.tenant.value : null)

/** Whether the domain has a tenant in suite_b. If the lookup gave no answer, an MX host of suite_b shows it. */
export const hasTenant = ({ tenant, suites }: Evidence): boolean =>
  tenant.known ? tenant.value !== null : suites.known && suites.value.suiteB.some(entry => entry.startsWith("mx:"))

/** The lookup succeeded and found nothing. */
const isAbsent = (finding: Finding<string | null> | undefined): boolean =>
  finding?.known === true && finding.value === null

function isEnforced(mail: MailEvidence | null): boolean {
  if (mail === null || !mail.dmarcPolicy.known) return false
  return mail.dmarcPolicy.value === "quarantine" || mail.dmarcPolicy.value === "reject"
}

const isUnreachable = (evidence: Evidence): boolean => knownMail(evidence)?.isUnreachable === true

const isEmail = (evidence: Evidence): boolean => evidence.subject.kind === "email"

/** The lookup failed. */
const isUnavailable = (finding: Evidence["mail"] | Evidence["ageDays"] | Evidence["homepage"]): boolean =>
  !finding.known && finding.cause !== "not_asked"
