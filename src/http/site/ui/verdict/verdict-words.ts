import { mailProviderName } from "../../../../check/mail/mail-providers.ts"
import { ACCOUNT_RULES, type AccountRule } from "../../../../contract/account-rules.ts"
import type { Category } from "../../../../contract/categories.ts"
import { POLICIES, RECOMMENDATIONS, type Recommendation } from "../../../../contract/policies.ts"
import { REASONS, type Reason } from "../../../../contract/reasons.ts"
import type { CheckResult } from "../../../../contract/result-schema.ts"

/** A result as a page displays it, with what the JSON does not tell. */
export type DisplayedVerdict = {
  readonly result: CheckResult
  /** The known name that the domain imitates. Null: it imitates none, or the page does not know which. */
  readonly imitates: string | null
  /** Whether this server asks no DNS at all. */
  readonly isDnsOff: boolean
  /** The rule of the account that gave the recommendation. Absent: none did. */
  readonly rule?: AccountRule | undefined
}

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

/** What a category means for somebody who wants to write to such an address, or to let it sign up. */
export const CATEGORY_MEANINGS: { readonly [C in Category]: string } = {
  business: "An organisation uses this domain for its email.",
  personal: "A mailbox at a public provider. It does not show where someone works.",
  disposable: "A throw-away mailbox. It stops working soon, and strangers can often read it.",
  relay: "A forwarding address that hides the real mailbox. Its owner can turn it off at any time.",
  education: "This is a school or a university.",
  government: "This is a public body.",
  invalid: "No email can arrive here. Check the spelling, or ask for another address.",
  unknown: "We found nothing that shows what this is.",
}

/** What to do about a recommendation. For a review it depends on the category. */
const RECOMMENDATION_ADVICE: { readonly [R in Exclude<Recommendation, "review">]: string } = {
  allow: "You can let it through.",
  block: "Do not accept it.",
}

const REVIEW_ADVICE: { readonly [C in Category]: string } = {
  business: "Confirm it by email before you trust it.",
  personal: "Ask for a work address if you need one.",
  disposable: "Ask for another address.",
  relay: "Ask for the real address if you need one.",
  education: "Confirm it by email before you trust it.",
  government: "Confirm it by email before you trust it.",
  invalid: "Ask for another address.",
  unknown: "Confirm it by email before you rely on it.",
}

/** The recommendation as a button would say it. */
export const RECOMMENDATION_LABELS: { readonly [R in Recommendation]: string } = {
  allow: "Allow",
  review: "Review",
  block: "Block",
}

/** The headline of a verdict: its category, unless the name imitates another one. */
export const verdictHeadline = ({ result, imitates }: DisplayedVerdict): string =>
  result.is_lookalike ? `Lookalike of ${imitates ?? "a known name"}` : CATEGORY_LABELS[result.category]

/** What the verdict means and what to do, in two or three sentences. It vouches for nothing that a warning denies. */
export function verdictMeaning({ result }: DisplayedVerdict): string {
  const { category, recommendation, did_you_mean: suggestion, reasons } = result
  if (result.is_lookalike) return "Somebody may use this name to deceive people. Do not trust its links or emails."
  const advice = recommendation === "review" ? REVIEW_ADVICE[category] : RECOMMENDATION_ADVICE[recommendation]
  if (suggestion !== null && reasons.includes("likely_typo"))
    return `This is probably a typo for ${suggestion}. Ask for the right address. ${AS_TYPED[category]}`
  if (reasons.includes("domain_not_found")) return `This domain does not exist, so no email can arrive here. ${advice}`
  if (category === "disposable" && reasons.includes("weak_listing"))
    return `This may be a throw-away mailbox, but no independent list says so. ${advice}`
  return `${CATEGORY_MEANINGS[category]} ${advice}`
}

/** What a name with a typo is. */
const AS_TYPED: { readonly [C in Category]: string } = {
  business: "As typed, it is another organisation’s domain.",
  personal: "As typed, it is another mailbox provider.",
  disposable: "As typed, it is a throw-away mailbox.",
  relay: "As typed, it is a privacy relay.",
  education: "As typed, it is a school or a university.",
  government: "As typed, it is a public body.",
  invalid: "As typed, no email can arrive.",
  unknown: "As typed, we do not know it.",
}

/** How sure the category is, as a sentence. */
export function confidenceText({ category, confidence }: CheckResult): string {
  if (category === "unknown") return "We know too little to be sure."
  return `We are ${Math.round(confidence * 100)}% sure that this is ${SURE_OF[category]}.`
}

const SURE_OF: { readonly [C in Exclude<Category, "unknown">]: string } = {
  business: "a business",
  personal: "a personal mailbox",
  disposable: "disposable",
  relay: "a privacy relay",
  education: "a school or university",
  government: "a public body",
  invalid: "invalid",
}

/** One thing to know before anything else about a verdict. */
export type VerdictWarning = {
  readonly text: string
  /** Danger: somebody may want to deceive. Notice: everything else. */
  readonly severity: "danger" | "notice"
}

/** The warnings of a verdict apart from a suggested correction, the gravest first. */
export function verdictWarnings({ result, imitates }: DisplayedVerdict): readonly VerdictWarning[] {
  const has = (reason: Reason) => result.reasons.includes(reason)
  const danger = (text: string) => ({ text, severity: "danger" }) as const
  const notice = (text: string) => ({ text, severity: "notice" }) as const
  return [
    ...(result.is_lookalike ? [danger(`It looks like ${imitates ?? "a well-known name"}, but it is not.`)] : []),
    ...(result.is_blocked ? [danger("It is on a block list.")] : []),
    ...(has("new_domain") ? [notice(newDomainText(result.domain_age_days))] : []),
    ...(has("parked_domain") || has("parked_mail") ? [notice("This domain is parked or for sale.")] : []),
    ...(has("test_address") ? [notice("This is a test address. The verdict is made up.")] : []),
  ]
}

/** What limits a verdict, below it. */
export const verdictLimits = ({ result, isDnsOff }: DisplayedVerdict): readonly string[] => [
  ...(result.degraded ? [isDnsOff ? DNS_OFF : DNS_UNAVAILABLE] : []),
  ...(result.workspace.pending ? [`We are still looking for a ${suiteB()} account. Check again soon.`] : []),
]

const DNS_OFF = "DNS lookups are switched off on this server, so we are less sure."
const DNS_UNAVAILABLE = "DNS did not answer in time, so we are less sure. Try again soon."

const newDomainText = (days: number | null): string =>
  days === null ? "This domain is new." : `This domain was registered ${ageLabel(days)}.`

/** How long ago a number of days is. */
export const ageLabel = (days: number): string => (days === 0 ? "today" : days === 1 ? "yesterday" : `${days} days ago`)

const SENTENCES_MAX = 3

/**
 * Why the verdict is as it is, in at most three sentences: what decided the category, what changed the recommendation, and
 * the strongest other reason. An input that cannot be read has one.
 */
export function verdictSentences(verdict: DisplayedVerdict): readonly string[] {
  const { result } = verdict
  const [deciding, ...others] = result.reasons
  if (deciding === undefined) return []
  if (isUnreadable(result)) return [WHY[deciding](verdict)]
  const changing = changingReason(result)
  const rest = others.filter(reason => reason !== changing && !TOLD_ELSEWHERE.has(reason))
  const policySentence = byPolicy(result)
  const imitation = result.is_lookalike && changing !== "lookalike_domain" ? [WHY.lookalike_domain(verdict)] : []
  return [
    ...imitation,
    WHY[deciding](verdict),
    ...(changing === null || changing === deciding ? [] : [changingSentence(changing, verdict)]),
    ...(policySentence === null ? [] : [policySentence]),
    ...rest.map(reason => WHY[reason](verdict)),
  ].slice(0, SENTENCES_MAX)
}

/** A rule says what it decided; of any other reason it is told. */
const changingSentence = (reason: Reason, verdict: DisplayedVerdict): string =>
  reason === "account_rule"
    ? WHY.account_rule(verdict)
    : `${RECOMMENDATION_LABELS[verdict.result.recommendation]}: ${WHY[reason](verdict)}`

/** What the card tells in another place. */
const TOLD_ELSEWHERE: ReadonlySet<Reason> = new Set(["dns_unavailable", "lookalike_domain"])

/** Says that the policy itself asks for a review of the category. Null: it does not, or a reason asked for it. */
const byPolicy = ({ recommendation, policy, category, reasons }: CheckResult): string | null =>
  recommendation === "review" && !reasons.includes("account_rule") && POLICIES[policy][category] === "review"
    ? `Review: the policy “${policy}” asks for it (${category}).`
    : null

/** Whether the input could not be read as an address, a domain or a website, so that nothing is known of a domain. */
export const isUnreadable = ({ category, reasons: [first] }: CheckResult): boolean =>
  category === "invalid" && first !== undefined && REASONS[first].group === "syntax"

/**
 * The reason that changed the recommendation from that of the category: the second in the list (DECISIONS 2). Null when
 * nothing changed it, or when the first reason lowered it itself, as a learned mail host does. A rule of the account changed it
 * whatever the policy says.
 */
export function changingReason({ recommendation, policy, category, reasons }: CheckResult): Reason | null {
  if (reasons.includes("account_rule")) return "account_rule"
  const usual = POLICIES[policy][category]
  const second = reasons[1] ?? null
  if (recommendation === usual) return null
  const isRaised = RECOMMENDATIONS.indexOf(recommendation) > RECOMMENDATIONS.indexOf(usual)
  return isRaised || second === "allowlisted" ? second : null
}

/** What is wrong with the form of an input, as far as it is plain to see. */
function syntaxSentence(input: string): string {
  if (/@[^"]*@/.test(input)) return "This is not a valid address: it has more than one @."
  if (/^@|@$/.test(input.trim())) return "This is not a valid address: the part before or after the @ is missing."
  if (/\S\s+\S/.test(input)) return "This is not a valid address: it contains a space."
  return "This is not a valid email address, domain or website."
}

type Sentence = (verdict: DisplayedVerdict) => string

const domainOf = ({ result }: DisplayedVerdict): string => result.domain ?? "This name"

const suiteA = (): string => mailProviderName("suite_a")
const suiteB = (): string => mailProviderName("suite_b")

const providerOf = ({ result }: DisplayedVerdict, fallback: string): string => {
  const key = result.workspace.other_suite ?? result.mail.provider
  return key === null ? fallback : mailProviderName(key)
}

/** Each reason as one sentence for people. */
const WHY: { readonly [R in Reason]: Sentence } = {
  invalid_syntax: ({ result }) => syntaxSentence(result.email ?? result.url ?? ""),
  too_long: () => "This is longer than email allows.",
  ip_literal: () => "This uses an IP address instead of a domain.",
  reserved_tld: () => "Its ending is reserved for tests and private networks.",
  unknown_tld: v => `“.${domainOf(v).split(".").at(-1)}” is not a top-level domain.`,
  public_suffix: () => "This is a domain ending such as co.uk, not a domain.",
  test_address: () => "This is a test address with a fixed verdict.",
  corrected: v => `A user report corrected the verdict for ${domainOf(v)}.`,
  listing_contradicted: v =>
    `Weak lists call ${domainOf(v)} disposable, but its mail service or its age contradicts them.`,
  weak_listing: v => `Only lists that copy from each other call ${domainOf(v)} disposable.`,
  disposable_domain: v => `${domainOf(v)} is on our list of disposable domains.`,
  relay_domain: v => `${domainOf(v)} forwards mail to mailboxes that it hides.`,
  government_domain: v => `${domainOf(v)} is on our list of government domains.`,
  government_suffix: v => `The ending of ${domainOf(v)} is for government bodies.`,
  education_domain: v => `${domainOf(v)} is on our list of schools and universities.`,
  education_suffix: v => `The ending of ${domainOf(v)} is for schools and universities.`,
  free_provider: v => `Anyone can get a mailbox at ${domainOf(v)}.`,
  agent_mailbox: v => `${domainOf(v)} gives mailboxes to AI agents and other programs.`,
  domain_not_found: v => `${domainOf(v)} does not exist in DNS.`,
  null_mx: v => `${domainOf(v)} states that it accepts no email.`,
  no_mail_host: v => `${domainOf(v)} has no server that can receive email.`,
  disposable_mx: v => `${domainOf(v)} uses mail servers of disposable domains.`,
  suite_a_mail: v => `${domainOf(v)} uses ${suiteA()} for its email.`,
  suite_b_mail: v => `${domainOf(v)} uses ${suiteB()} for its email.`,
  other_suite_mail: v => `${domainOf(v)} uses ${providerOf(v, "a business mail service")} for its email.`,
  security_gateway: v => `${domainOf(v)} protects its email with ${providerOf(v, "a security gateway")}.`,
  known_organisation: v => `${domainOf(v)} belongs to a well-known organisation.`,
  parked_mail: v => `A parking service takes the mail of ${domainOf(v)}.`,
  name_pattern: () => "The name says that this is a school or a public body.",
  free_subdomain: v => `${domainOf(v)} is a free name that anyone can get.`,
  relay_mx: v =>
    `${domainOf(v)} receives its email through ${providerOf(v, "an alias service")}, which hides mailboxes.`,
  forwarded_mail: v => `${domainOf(v)} forwards its email with ${providerOf(v, "a forwarding service")}.`,
  personal_hosting: v => `${domainOf(v)} has its email at ${providerOf(v, "a provider of personal mailboxes")}.`,
  mx_found: v => `${domainOf(v)} has a mail server.`,
  implicit_mx: v => `${domainOf(v)} names no mail server, but its web server may take email.`,
  resolves: v => `${domainOf(v)} leads to a server.`,
  no_evidence: v => `We found nothing that shows what ${domainOf(v)} is.`,
  blocklisted: () => "It is on a block list of this account or server.",
  allowlisted: () => "It is on an allow list of this account or server.",
  account_rule: ({ result, rule }) =>
    rule === undefined
      ? "Your rules replace a part of what the policy says."
      : `Your rule for ${ACCOUNT_RULES[rule].about} decided: ${result.recommendation}.`,
  lookalike_domain: ({ imitates }) => `The name imitates ${imitates ?? "a well-known provider or organisation"}.`,
  likely_typo: ({ result }) => `It looks like a typo for ${result.did_you_mean ?? "a well-known provider"}.`,
  new_domain: v => newDomainText(v.result.domain_age_days).replace("This domain", domainOf(v)),
  parked_domain: () => "Its website is a parking or for-sale page.",
  role_account: () => "The address belongs to a role, not to a person.",
  dns_unavailable: ({ isDnsOff }) =>
    isDnsOff ? "DNS lookups are switched off on this server." : "DNS did not answer in time.",
  suite_a_detected: () => `Its DNS records show ${suiteA()}.`,
  suite_b_tenant: () => `It has a ${suiteB()} account.`,
  spf_missing: () => "It does not publish which servers may send its email (SPF).",
  dmarc_enforced: () => "It protects its name against forged email (DMARC).",
  dmarc_missing: () => "It does not protect its name against forged email (DMARC).",
  subaddress: () => "The address has a +tag.",
  shared_inbox_name: () => "Several people may read this mailbox.",
  group_name: () => "The address may forward to a whole group.",
  group_service: v => `${domainOf(v)} runs mailing lists.`,
  no_website: v => `${domainOf(v)} has no website.`,
  deep_unavailable: () => "We could not look up its age or its website.",
}
