import { mailProviderName } from "../../../../check/mail/mail-providers.ts"
import type { Category } from "../../../../contract/categories.ts"
import { POLICIES, RAISING_REASONS, RECOMMENDATIONS, type Recommendation } from "../../../../contract/policies.ts"
import { REASONS, type Reason } from "../../../../contract/reasons.ts"
import type { CheckResult } from "../../../../contract/result-schema.ts"
import {
  type DisplayedVerdict,
  imitatedName,
  isOpenSuffix,
  type Mark,
  REASON_WORDS,
  type Weight,
} from "./reason-words.ts"

/** A category as a headline. */
export const CATEGORY_LABELS: { readonly [C in Category]: string } = {
  business: "Business",
  personal: "Personal",
  disposable: "Disposable",
  relay: "Privacy relay",
  education: "Education",
  government: "Government",
  invalid: "Invalid",
  unknown: "Unknown",
}

/** The recommendation as a button would say it. */
export const RECOMMENDATION_LABELS: { readonly [R in Recommendation]: string } = {
  allow: "Allow",
  review: "Review",
  block: "Block",
}

/** What a category means for somebody who wants to write to such an address, or to let it sign up. */
export const CATEGORY_MEANINGS: { readonly [C in Category]: string } = {
  business: "A company or organisation uses this domain for its email.",
  personal: "A personal mailbox. It does not show where someone works.",
  disposable: "A disposable address. It will soon stop working, and strangers can often read its email.",
  relay: "A forwarding address that hides the real mailbox. Its owner can turn it off at any time.",
  education: "A school or university.",
  government: "A government body.",
  invalid: "No email can arrive here.",
  unknown: "We found nothing that shows whose this is.",
}

/** The same of a domain or a website, where it differs. */
const DOMAIN_MEANINGS: Partial<{ readonly [C in Category]: string }> = {
  personal: "A provider of personal mailboxes. Its addresses do not show where someone works.",
  disposable: "Disposable addresses. They soon stop working, and strangers can often read their email.",
  relay: "A privacy relay. Its addresses forward to mailboxes that stay hidden.",
}

/** What the deciding reason means, where it says more than the category. */
const REASON_MEANINGS: Partial<{ readonly [R in Reason]: string }> = {
  ip_literal: "This is the address of a machine, not of an organisation.",
  reserved_tld: "This name cannot exist on the public internet.",
  unknown_tld: "This domain cannot exist.",
  public_suffix: "This is not a complete domain.",
  weak_listing: "This may be a disposable address, but no independent list says so.",
  listing_contradicted: "This may be a disposable address, but the evidence is mixed.",
  agent_mailbox: "A mailbox for AI agents and other programs, not for people.",
  suite_a_mail: "A company or organisation uses this domain for its email.",
  suite_b_mail: "A company or organisation uses this domain for its email.",
  other_suite_mail: "A company or organisation uses this domain for its email.",
  security_gateway: "A company or organisation uses this domain for its email.",
  known_organisation: "This is a well-known organisation.",
  disposable_mx: "This is probably a disposable address.",
  forwarded_mail: "Someone’s own domain: a small company, or one person.",
  personal_hosting: "Someone’s own domain: a small company, or one person.",
  mx_found: "This is probably a company or organisation with its own domain.",
  resolves: "The domain is in use, probably by an organisation.",
  parked_mail: "This domain is probably for sale, and nobody reads its email.",
  free_subdomain: "Anyone can get such a name, so it shows nothing about its owner.",
  implicit_mx: "We cannot tell whether anyone reads email at this domain.",
}

/** What a name is that a list knows, although no email can reach it. */
const KNOWN_AS: Partial<{ readonly [C in Category]: string }> = {
  personal: "A provider of personal mailboxes, but",
  disposable: "A disposable address, and",
  relay: "A privacy relay, but",
  education: "A known school or university, but",
  government: "A known government body, but",
}

/** The same of a name that only its ending tells. */
const ENDING_OF: Partial<{ readonly [R in Reason]: string }> = {
  education_suffix: "Its ending is for schools, but",
  government_suffix: "Its ending is for government bodies, but",
}

/** What a name with a typo is. */
export const AS_TYPED: { readonly [C in Category]: string } = {
  business: "it is another organisation’s domain",
  personal: "it is another mailbox provider",
  disposable: "it is a disposable address",
  relay: "it is a privacy relay",
  education: "it is a school or university",
  government: "it is a government body",
  invalid: "no email can arrive",
  unknown: "we do not know it",
}

/** What to do about a category that is reviewed, or blocked, where it is more than the usual. */
const REVIEW_ADVICE: Partial<{ readonly [C in Category]: string }> = {
  personal: "Ask for a work address if you need one.",
  disposable: "Ask for another address.",
  relay: "Ask for the real address if you need it.",
  invalid: "Ask for another address.",
}
const USUAL_REVIEW_ADVICE = "Confirm it by email before you trust it."

const BLOCK_ADVICE: Partial<{ readonly [C in Category]: string }> = {
  personal: "Ask for a work address instead.",
  relay: "Ask for the real address instead.",
  invalid: "Check the spelling, or ask for another address.",
}
const USUAL_BLOCK_ADVICE = "Do not accept it."

/** What to do where a reason, and not the category, asks for a review. */
const REVIEW_ADVICE_OF_REASON: Partial<{ readonly [R in Reason]: string }> = {
  new_domain: "It is new, so confirm it by email before you trust it.",
  parked_domain: "Its website is parked, so confirm it by email before you trust it.",
  education_suffix: "Anyone can register such a name, so confirm it by email before you trust it.",
  role_account: "Ask for a person’s address if you need one.",
}

/** What a policy itself reviews or blocks although nothing is wrong with it. */
const POLICY_OBJECTS: Partial<{ readonly [N in Category | Reason]: string }> = {
  personal: "personal mailboxes",
  relay: "privacy relays",
  unknown: "unknown domains",
  forwarded_mail: "forwarded email",
  personal_hosting: "mailboxes like this",
}

/** The headline of a verdict: its category, unless it tells less than that the name imitates another one, is misspelled or does not exist. */
export function verdictHeadline({ result, imitates }: DisplayedVerdict): string {
  if (result.is_lookalike) return `Look-alike of ${imitatedName({ imitates })}`
  if (isProbableTypo(result)) return "Probable typo"
  return isNoName(result) ? "No such domain" : CATEGORY_LABELS[result.category]
}

/** Whether the domain does not exist, and no list knows it. */
const isNoName = (result: CheckResult): boolean =>
  result.reasons.includes("domain_not_found") &&
  (result.category === "invalid" || ENDING_OF[decidingReason(result)] !== undefined)

/** Whether the verdict asks if another name was meant, so that the category of what was typed is not what counts. */
export const isProbableTypo = ({ did_you_mean: suggestion, reasons }: CheckResult): boolean =>
  suggestion !== null && reasons.includes("likely_typo")

/** What the verdict means and what to do, in two or three sentences. It vouches for nothing that a line or the recommendation denies. */
export const verdictMeaning = (verdict: DisplayedVerdict): string => `${whatItIs(verdict)} ${whatToDo(verdict)}`

/** What the verdict means. */
export function whatItIs({ result, imitates }: DisplayedVerdict): string {
  const { category } = result
  if (result.is_lookalike)
    return `This domain imitates ${imitatedName({ imitates })}. We are sure of the imitation, not of who owns it. Do not trust links or emails from it.`
  // The notice above the card says what was meant.
  if (isProbableTypo(result)) return `As typed, ${AS_TYPED[category]}.`
  const deciding = decidingReason(result)
  const known = ENDING_OF[deciding] ?? KNOWN_AS[category]
  if (isUnreachable(result) && known !== undefined) return `${known} ${unreachableText(result)}.`
  if (deciding === "no_evidence" && result.degraded) return "No list names this domain."
  if (deciding === "name_pattern")
    return `Judging by its name, this is ${category === "education" ? "a school" : "a government body"}.`
  if (isOpenSuffix(result)) return "This may be a school or university."
  return (
    REASON_MEANINGS[deciding] ??
    (result.email === null ? DOMAIN_MEANINGS[category] : undefined) ??
    CATEGORY_MEANINGS[category]
  )
}

/** The reason that decided the category. Of a test address, it is the one that decides elsewhere. A typo that somebody can be asked about stands before it. */
export function decidingReason({ category, reasons: [first, second, ...others] }: CheckResult): Reason {
  if (first === "likely_typo") return second ?? first
  if (first !== "test_address") return first ?? "no_evidence"
  return [second, ...others].find(reason => reason !== undefined && REASONS[reason].decides === category) ?? first
}

/** Whether no email can arrive, whatever the lists say of the name. */
export const isUnreachable = ({ reasons }: CheckResult): boolean => UNREACHABLE.some(reason => reasons.includes(reason))
const UNREACHABLE = ["domain_not_found", "null_mx", "no_mail_host"] as const satisfies readonly Reason[]

const unreachableText = ({ reasons }: CheckResult): string =>
  reasons.includes("domain_not_found") ? "this domain does not exist" : "this domain receives no email"

function whatToDo(verdict: DisplayedVerdict): string {
  const { result } = verdict
  const { recommendation, reasons } = result
  if (reasons.includes("account_rule")) return RULED_ADVICE[recommendation]
  if (recommendation === "allow") return allowAdvice(result)
  if (result.is_blocked && recommendation === "block") return "It is on a block list, so do not accept it."
  if (result.is_lookalike)
    return recommendation === "block" ? USUAL_BLOCK_ADVICE : "Find out who owns it before you accept it."
  if (reasons.includes("likely_typo")) return "Ask whether another address was meant."
  return recommendation === "block" ? blockAdvice(result) : reviewAdvice(verdict)
}

function blockAdvice(result: CheckResult): string {
  const changing = changingReason(result)
  if (changing === "new_domain") return "It is new, so do not accept it yet."
  const ofCategory = changing === null && result.email !== null ? BLOCK_ADVICE[result.category] : undefined
  return ofCategory ?? USUAL_BLOCK_ADVICE
}

function reviewAdvice({ result, isDnsOff }: DisplayedVerdict): string {
  const { category, email } = result
  if (isUnreachable(result))
    return email === null ? "Check the spelling." : "Check the spelling, or ask for another address."
  const changing = changingReason(result)
  const ofReason = changing === null ? undefined : REVIEW_ADVICE_OF_REASON[changing]
  if (ofReason !== undefined) return ofReason
  if (email === null) return "Look at it before you accept it."
  const canAskAgain = result.degraded && !isDnsOff && (category === "business" || category === "unknown")
  return canAskAgain ? "Check again soon, or confirm it by email." : (REVIEW_ADVICE[category] ?? USUAL_REVIEW_ADVICE)
}

function allowAdvice(result: CheckResult): string {
  const { category, policy, reasons } = result
  if (reasons.includes("allowlisted"))
    return isUnreachable(result) || POLICIES[policy][category] !== "allow"
      ? "It is on your allow list, so it is accepted all the same."
      : "It is on your allow list, so you can accept it."
  if (isUnreachable(result)) return `Your ${policy} policy accepts it, but your email will not arrive.`
  if (reasons.includes("likely_typo")) return `Your ${policy} policy accepts it as typed.`
  return category === "unknown" ? `Your ${policy} policy accepts unknown domains.` : "You can accept it."
}

const RULED_ADVICE: { readonly [R in Recommendation]: string } = {
  allow: "Your rules accept it.",
  review: "Your rules ask for a review.",
  block: "Your rules block it.",
}

/** How sure a verdict is: of what, as a word or a number, and as a share of a bar. */
export type Sureness = { readonly of: string; readonly label: string; readonly share: number }

/** How sure the category is, or that another name is imitated. Null: neither counts. */
export function sureness({ result }: DisplayedVerdict): Sureness | null {
  const { category, confidence: share } = result
  if (result.is_lookalike) return { of: "imitation", label: "Certain", share: 1 }
  if (isNoName(result) && category !== "invalid") return null
  const of = `${isProbableTypo(result) ? "as typed, " : ""}${CATEGORY_LABELS[category].toLowerCase()}`
  if (category === "unknown") return { of, label: "Too little to tell", share }
  return { of, label: share === 1 ? "Certain" : `${Math.round(share * 100)}%`, share }
}

/** What limits a verdict. */
export const verdictLimits = ({ result, isDnsOff }: DisplayedVerdict): readonly string[] => [
  ...(result.degraded ? [isDnsOff ? DNS_OFF : DNS_UNAVAILABLE] : []),
  ...(result.workspace.pending
    ? [`We are still looking for a ${mailProviderName("suite_b")} account. Check again soon.`]
    : []),
]

const DNS_OFF = "DNS lookups are switched off on this server, so we are less sure."
const DNS_UNAVAILABLE = "DNS did not answer in time, so we are less sure. Check again soon."

/** One line of a verdict: a sentence, and whether it counts for it. */
export type VerdictLine = { readonly mark: Mark; readonly text: string }

/** Without a `telling` reason more, a card has so many lines. */
const LINES_USUAL = 3

/**
 * Why the verdict is as it is: what decided the category, what changed the recommendation, then every reason that tells something.
 * What is left of three lines is filled with the others; what is blocked has none in its favour. An input that cannot be read has one line.
 */
export function verdictSentences(verdict: DisplayedVerdict): readonly VerdictLine[] {
  const { result } = verdict
  const deciding = decidingReason(result)
  const changing = changingReason(result)
  const line = (reason: Reason): VerdictLine => ({
    mark: markOf(reason, result, changing),
    text: REASON_WORDS[reason][2](verdict),
  })
  if (isUnreadable(result)) return [line(deciding)]
  const first = ["lookalike_domain", "likely_typo", changing, deciding, ...result.reasons]
  const reasons = result.reasons.filter(reason => !isLeftOut(reason, deciding, result))
  const ofWeight = (weight: Weight): readonly VerdictLine[] =>
    reasons
      .filter(reason => REASON_WORDS[reason][1] === weight)
      .sort((one, other) => first.indexOf(one) - first.indexOf(other))
      .map(line)
  const telling = [...ofWeight("telling"), ...policyLines(result)]
  const supporting = [...ofWeight("plain"), ...ofWeight("filler"), ...unlistedLines(result)]
  const others = [
    ...supporting.filter(({ mark }) => mark === "good" && result.recommendation !== "block"),
    ...supporting.filter(({ mark }) => mark !== "good"),
  ]
  const lines = [...telling, ...others.slice(0, Math.max(0, LINES_USUAL - telling.length))]
  return lines.length > 0 ? lines : [line(deciding)]
}

/** The reason for a block counts against what was checked, and that for a review never for it. */
function markOf(reason: Reason, result: CheckResult, changing: Reason | null): Mark {
  const { recommendation, category } = result
  const [mark] = REASON_WORDS[reason]
  if (reason === "account_rule" && recommendation === "allow") return "good"
  const isCause =
    changing === null
      ? reason === decidingReason(result) && POLICY_OBJECTS[category] === undefined
      : reason === changing
  if (isCause && recommendation === "block") return "bad"
  if (isCause && recommendation === "review" && mark === "good") return "info"
  const isDoubtful = isOpenSuffix(result) || result.reasons.includes("domain_not_found")
  return isDoubtful && ENDING_OF[reason] !== undefined ? "info" : mark
}

/** What the card tells in another place, or another line tells better. */
function isLeftOut(reason: Reason, deciding: Reason, result: CheckResult): boolean {
  if (NEVER_A_LINE.has(reason)) return true
  // The sentence above the lines says it.
  const isNoSchool = isNoName(result) && result.category !== "invalid" && result.recommendation !== "block"
  if (reason === "domain_not_found" && isNoSchool) return true
  if (reason === deciding) return ENDING_OF[reason] !== undefined && isUnreachable(result) && !isNoSchool
  return LEFT_OUT[reason]?.(result) ?? false
}

const NEVER_A_LINE: ReadonlySet<Reason> = new Set(["dns_unavailable", "test_address", "no_evidence"])

/** When a reason that did not decide has no line. */
const LEFT_OUT: Partial<{ readonly [R in Reason]: (result: CheckResult) => boolean }> = {
  suite_b_tenant: ({ reasons }) => reasons.includes("suite_b_mail"),
  dmarc_enforced: ({ recommendation }) => recommendation !== "allow",
  // A mailbox without email has no readers. Elsewhere the line about the shared inbox names the role too.
  shared_inbox_name: isUnreachable,
  role_account: result => result.reasons.includes("shared_inbox_name") && !isUnreachable(result),
  // The notice above the card and the headline say it. A verdict that is against the name has a line of its own.
  likely_typo: result => isProbableTypo(result) && result.reasons.includes("disposable_domain"),
  disposable_domain: isWeaklyListed,
  weak_listing: isWeaklyListed,
  mx_found: ({ category, reasons }) =>
    HAS_NO_MX_LINE.has(category) || reasons.some(other => MAIL_OPERATOR_REASONS.has(other)),
}

function isWeaklyListed({ category, reasons }: CheckResult): boolean {
  return category === "disposable" && reasons.includes("weak_listing")
}

/** Of these it is no news that they receive email. */
const HAS_NO_MX_LINE: ReadonlySet<Category> = new Set(["disposable", "personal", "relay"])

/** Reasons that say who runs the mail hosts. */
const MAIL_OPERATOR_REASONS: ReadonlySet<Reason> = new Set([
  ...([
    "suite_a_mail",
    "suite_b_mail",
    "other_suite_mail",
    "security_gateway",
    "disposable_mx",
    "agent_mailbox",
  ] as const),
  ...(["parked_mail", "relay_mx", "forwarded_mail", "personal_hosting"] as const),
])

/** Says that the policy itself asks for a review, or blocks. */
function policyLines(result: CheckResult): readonly VerdictLine[] {
  const { recommendation, policy, category, is_blocked: isBlocked } = result
  const objects = POLICY_OBJECTS[decidingReason(result)] ?? POLICY_OBJECTS[category]
  if (
    objects === undefined ||
    recommendation === "allow" ||
    isBlocked ||
    result.is_lookalike ||
    changingReason(result) !== null
  )
    return []
  return recommendation === "block"
    ? [{ mark: "bad", text: `Your ${policy} policy blocks ${objects}.` }]
    : [{ mark: "info", text: `Your ${policy} policy reviews ${objects}.` }]
}

/** A domain that lists say nothing of. */
const unlistedLines = ({ category, is_disposable: isDisposable, reasons }: CheckResult): readonly VerdictLine[] =>
  (category === "business" || category === "unknown") && !isDisposable && reasons[0] !== "test_address"
    ? [{ mark: "good", text: "It is on no list of disposable domains." }]
    : []

/** Whether the input could not be read as an address, a domain or a website, so that nothing is known of a domain. */
export const isUnreadable = (result: CheckResult): boolean =>
  result.category === "invalid" && REASONS[decidingReason(result)].group === "syntax"

/**
 * The reason that changed the recommendation from that of the category. Null: none did, or the deciding one did by itself, as a
 * learned mail host does. A rule of the account changed it whatever the policy says.
 */
export function changingReason({ recommendation, policy, category, reasons }: CheckResult): Reason | null {
  if (reasons.includes("account_rule")) return "account_rule"
  const usual = POLICIES[policy][category]
  if (recommendation === usual) return null
  if (recommendation === "allow") return reasons.includes("allowlisted") ? "allowlisted" : null
  const isRaised = RECOMMENDATIONS.indexOf(recommendation) > RECOMMENDATIONS.indexOf(usual)
  const [first, second] = reasons
  return isRaised ? ([second, first].find(reason => reason !== undefined && RAISING_REASONS.has(reason)) ?? null) : null
}
