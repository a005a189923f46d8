import { domainToUnicode } from "node:url"
import { mailProviderName } from "../../../../check/mail/mail-providers.ts"
import { ACCOUNT_RULES, type AccountRule } from "../../../../contract/account-rules.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import type { Recommendation } from "../../../../contract/policies.ts"
import { OPEN_SUFFIX_CONFIDENCE, type Reason } from "../../../../contract/reasons.ts"
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

/** What a line about a verdict is: in its favour, against it, or neither. */
export type Mark = "good" | "bad" | "info"

/** Which lines stay when there is no room for all: `telling` ones always, `filler` last. */
export type Weight = "telling" | "plain" | "filler"

type ReasonWords = readonly [mark: Mark, weight: Weight, sentence: (verdict: DisplayedVerdict) => string]

/** Each reason as one sentence for people, whose subject is what was checked. */
// biome-ignore format: a reason a line
export const REASON_WORDS: { readonly [R in Reason]: ReasonWords } = {
  invalid_syntax: ["bad", "telling", v => syntaxSentence(v.result)],
  too_long: ["bad", "telling", v => lengthSentence(v.result.email)],
  ip_literal: ["bad", "telling", () => "It uses an IP address instead of a domain."],
  reserved_tld: ["bad", "telling", v => `“.${endingOf(v)}” is reserved for tests and private networks.`],
  unknown_tld: ["bad", "telling", v => `“.${endingOf(v)}” is not a top-level domain.`],
  public_suffix: ["bad", "telling", v => suffixSentence(displayedDomain(v.result) ?? "This")],
  test_address: ["info", "filler", () => "This is a test address with a fixed verdict."],
  corrected: ["info", "telling", () => "An accepted report corrected this verdict."],
  listing_contradicted: ["info", "telling", () => "Some lists call it disposable, but its age or its mail service suggests otherwise."],
  weak_listing: ["bad", "telling", () => "Only lists that copy from each other call it disposable."],
  disposable_domain: ["bad", "telling", () => "It is on our list of disposable domains."],
  relay_domain: ["info", "telling", () => "It forwards email to a hidden mailbox."],
  government_domain: ["good", "telling", () => "It is on our list of government domains."],
  government_suffix: ["good", "telling", v => `Its domain ending is reserved for government bodies${spared(v)}.`],
  education_domain: ["good", "telling", () => "It is on our list of schools and universities."],
  education_suffix: ["good", "telling", v => isOpenSuffix(v.result) ? "Its ending is for schools, but anyone can register under it." : `Its domain ending is reserved for schools and universities${spared(v)}.`],
  free_provider: ["info", "telling", v => v.result.reasons.includes("domain_not_found") ? "It is on our list of mailbox providers." : "Anyone can open a mailbox there."],
  agent_mailbox: ["info", "telling", () => "It gives mailboxes to AI agents and other programs."],
  domain_not_found: ["bad", "telling", () => "The domain does not exist."],
  null_mx: ["bad", "telling", () => "The domain says that it accepts no email (null MX)."],
  no_mail_host: ["bad", "telling", () => "The domain cannot receive email."],
  disposable_mx: ["bad", "telling", () => "Its email goes to servers that disposable domains use."],
  suite_a_mail: ["good", "telling", () => `Its email runs on ${suiteA()}.`],
  suite_b_mail: ["good", "telling", () => `Its email runs on ${suiteB()}.`],
  other_suite_mail: ["good", "telling", v => `Its email runs on ${providerOf(v, "a business mail service")}.`],
  security_gateway: ["good", "telling", v => `Its email is protected by ${providerOf(v, "a security gateway")}.`],
  known_organisation: ["good", "telling", () => "It belongs to a well-known organisation."],
  parked_mail: ["bad", "telling", () => "It is parked: a parking service receives its email."],
  name_pattern: ["good", "telling", v => `Its name is typical of a ${v.result.category === "government" ? "government body" : "school"}.`],
  free_subdomain: ["info", "telling", () => "Anyone can get a name like this for free."],
  relay_mx: ["info", "telling", v => `Its email goes through ${providerOf(v, "an alias service")}, which hides mailboxes.`],
  forwarded_mail: ["info", "telling", v => `Its email is forwarded by ${providerOf(v, "a forwarding service")}.`],
  personal_hosting: ["info", "telling", v => `Its email is at ${providerOf(v, "a provider")}, a service for individuals.`],
  mx_found: ["good", "filler", v => v.result.mail.provider === null ? "It has a mail server." : `Its email is hosted by ${providerOf(v, "")}.`],
  implicit_mx: ["info", "filler", () => "It names no mail server, but its web server may take email."],
  resolves: ["good", "filler", () => "It points to a public server."],
  no_evidence: ["info", "filler", () => "We found nothing that shows whose it is."],
  blocklisted: ["bad", "telling", v => blockListSentence(v.result)],
  allowlisted: ["good", "telling", () => "It is on your allow list."],
  account_rule: ["info", "telling", ({ result, rule }) => rule === undefined ? "Your rules replace a part of the policy." : `Your rule for ${ACCOUNT_RULES[rule].about} ${RULED[result.recommendation]} it.`],
  lookalike_domain: ["bad", "telling", lookalikeSentence],
  likely_typo: ["bad", "telling", v => `It looks like a misspelling of ${v.result.did_you_mean ?? "a well-known provider"}.`],
  new_domain: ["bad", "telling", v => v.result.domain_age_days === null ? "It was registered only recently." : `It was registered ${ageLabel(v.result.domain_age_days)}.`],
  parked_domain: ["bad", "telling", () => "Its website is a parking or for-sale page."],
  role_account: ["info", "telling", () => "This is a role address, not a person’s."],
  dns_unavailable: ["info", "filler", ({ isDnsOff }) => isDnsOff ? "DNS lookups are switched off on this server." : "DNS did not answer in time."],
  suite_a_detected: ["good", "plain", () => `Its DNS records show ${suiteA()}.`],
  suite_b_tenant: ["good", "plain", () => `It has a ${suiteB()} account.`],
  spf_missing: ["info", "plain", () => "It does not say which servers may send its email (no SPF)."],
  dmarc_enforced: ["good", "plain", v => DMARC_SENTENCES[v.result.mail.dmarc_policy ?? "none"]],
  dmarc_missing: ["info", "plain", () => "It has no protection against forged email (no DMARC)."],
  subaddress: ["info", "telling", () => "The address has a +tag."],
  shared_inbox_name: ["info", "telling", v => v.result.reasons.includes("role_account") ? `This is a role address${quoted(v.result.shared_inbox.match)} that several people may read.` : `Several people may read this mailbox${quoted(v.result.shared_inbox.match)}.`],
  group_name: ["info", "telling", v => `The address may be that of a whole group${quoted(v.result.group.match)}.`],
  group_service: ["info", "telling", () => "The domain runs mailing lists."],
  no_website: ["info", "plain", () => "It has no website."],
  deep_unavailable: ["info", "filler", () => "We could not look up its age or its website."],
}

/** What a rule of the account does. */
const RULED: { readonly [R in Recommendation]: string } = { allow: "allows", review: "reviews", block: "blocks" }

const DMARC_SENTENCES = {
  reject: "It is protected against forged email (DMARC reject).",
  quarantine: "It is protected against forged email (DMARC quarantine).",
  none: "It is protected against forged email (DMARC).",
} as const

/** What is wrong with the form of an input, as far as it is plain to see. */
function syntaxSentence({ email, url }: CheckResult): string {
  if (email === null) return url === undefined ? "This is not a valid domain." : "This is not a valid website address."
  const text = email.trim()
  if (/@[^"]*@/.test(text)) return "This is not a valid address: it has more than one @."
  if (text.startsWith("@")) return "This is not a valid address: the part before the @ is missing."
  if (text.endsWith("@")) return "This is not a valid address: the part after the @ is missing."
  if (!text.includes("@")) return "This is not a valid address: the @ is missing."
  if (/\s/.test(text)) return "This is not a valid address: it contains a space."
  return "This is not a valid email address."
}

/** Which limit an address is over; null: a domain is too long. */
export function lengthSentence(email: string | null): string {
  const text = email?.trim() ?? ""
  const local = text.slice(0, Math.max(0, text.lastIndexOf("@")))
  const unit = /^[ -~]*$/.test(text) ? "characters" : "bytes"
  if (Buffer.byteLength(local) > LIMITS.localPartBytesMax)
    return `The part before the @ is longer than ${LIMITS.localPartBytesMax} ${unit}.`
  if (Buffer.byteLength(text) > LIMITS.addressBytesMax)
    return `The address is longer than ${LIMITS.addressBytesMax} ${unit}.`
  return `The domain is longer than ${LIMITS.domainBytesMax} characters.`
}

/** Whose block list it is, as far as the verdict shows: the operator's stands above the account's allow list, and that above its block list. */
function blockListSentence({ reasons, recommendation }: CheckResult): string {
  if (!reasons.includes("allowlisted")) return "It is on a block list: yours or the operator’s."
  return recommendation === "allow"
    ? "It is on your block list too."
    : "It is on the operator’s block list, which comes first."
}

const suffixSentence = (domain: string): string =>
  domain.includes(".")
    ? `“${domain}” is an ending under which others register domains.`
    : `“${domain}” alone is not a complete domain.`

/** That a name with a reserved ending is not blocked although it does not exist. */
const spared = ({ result: { reasons, recommendation } }: DisplayedVerdict): string =>
  reasons.includes("domain_not_found") && recommendation === "review" ? ", so it is reviewed, not blocked" : ""

/** Whether the category comes from an ending that anyone can get. One that nobody else can get is as sure as a list. */
export const isOpenSuffix = ({ confidence, reasons }: CheckResult): boolean =>
  reasons[0] === "education_suffix" && confidence <= OPEN_SUFFIX_CONFIDENCE && !reasons.includes("domain_not_found")

/** The domain as people read it. One that imitates another stays in ASCII, where the difference can be seen. */
export const displayedDomain = ({ domain, is_lookalike: isLookalike }: CheckResult): string | null =>
  domain === null || isLookalike ? domain : domainToUnicode(domain) || domain

const endingOf = ({ result }: DisplayedVerdict): string => displayedDomain(result)?.split(".").at(-1) ?? ""

/** The known name that a domain imitates. */
export const imitatedName = ({ imitates }: Pick<DisplayedVerdict, "imitates">): string =>
  imitates ?? "a well-known name"

/** How a domain imitates another one, where that is plain to see. */
function lookalikeSentence(verdict: DisplayedVerdict): string {
  const [own, other] = [verdict.result.domain ?? "", verdict.imitates ?? ""]
  const isOneOff = own.length === other.length && [...own].filter((letter, at) => letter !== other[at]).length === 1
  return isOneOff ? `It differs from ${other} in one character.` : `Its name looks like ${imitatedName(verdict)}.`
}

/** How long ago a number of days is. */
export const ageLabel = (days: number): string => (days === 0 ? "today" : days === 1 ? "yesterday" : `${days} days ago`)

const quoted = (word: string | null): string => (word === null ? "" : ` (“${word}”)`)

const suiteA = (): string => mailProviderName("suite_a")
const suiteB = (): string => mailProviderName("suite_b")

const providerOf = ({ result }: DisplayedVerdict, fallback: string): string => {
  const key = result.workspace.other_suite ?? result.mail.provider
  return key === null ? fallback : mailProviderName(key)
}
