import type { Category } from "./categories.ts"

type ReasonSpec = {
  readonly description: string
  /** An input or a record that causes the reason. */
  readonly example: string
  readonly group: "syntax" | "sets" | "mail" | "address" | "risk" | "account" | "test"
  /** The category that the reason decides if no earlier reason does; null: it decides none. */
  readonly decides: Category | null
  /** The confidence of a verdict that the reason decides, 0 to 1. */
  readonly confidence: number
}

/** The reasons of verdicts in order of precedence: the first that holds and decides a category gives the verdict (DECISIONS 1). */
export const REASONS = {
  invalid_syntax: { description: "The input does not parse as an address, a domain or a website URL.", example: "jane@@acme.com", group: "syntax", decides: "invalid", confidence: 1 },
  too_long: { description: "The address, its local part or its domain is longer than the protocols allow.", example: "a local part of 65 octets", group: "syntax", decides: "invalid", confidence: 1 },
  ip_literal: { description: "The host is an IP address, not a name.", example: "jane@[192.0.2.1]", group: "syntax", decides: "invalid", confidence: 1 },
  reserved_tld: { description: "The name ends in a special-use name that never exists in public DNS (RFC 6761).", example: "jane@server.local", group: "syntax", decides: "invalid", confidence: 1 },
  unknown_tld: { description: "The top-level domain does not exist.", example: "jane@acme.cmo", group: "syntax", decides: "invalid", confidence: 1 },
  public_suffix: { description: "The name is a public suffix or a single label. Others register names under it.", example: "co.uk", group: "syntax", decides: "invalid", confidence: 1 },
  test_address: { description: "This is a test address. Its verdict is fixed.", example: "business@mailkind.test", group: "test", decides: "unknown", confidence: 0.3 },
  corrected: { description: "An accepted report corrected the verdict for this domain.", example: "a domain with an accepted report", group: "sets", decides: null, confidence: 0.99 },
  listing_contradicted: { description: "Only lists that are compiled from other lists call the domain disposable, and its office suite or its age contradicts them.", example: "a weak listing of a domain that is older than two years", group: "sets", decides: "disposable", confidence: 0.5 },
  weak_listing: { description: "Only lists that are compiled from other lists call the domain disposable.", example: "a domain that no independent list names", group: "sets", decides: "disposable", confidence: 0.6 },
  disposable_domain: { description: "The domain is on the disposable list.", example: "jane@mailinator.com", group: "sets", decides: "disposable", confidence: 0.99 },
  relay_domain: { description: "The domain belongs to a privacy relay.", example: "jane@duck.com", group: "sets", decides: "relay", confidence: 0.99 },
  government_domain: { description: "The domain is on the government list.", example: "jane@bund.de", group: "sets", decides: "government", confidence: 0.98 },
  government_suffix: { description: "The domain is under a suffix for government bodies.", example: "jane@nasa.gov", group: "sets", decides: "government", confidence: 0.98 },
  education_domain: { description: "The domain is on the education list.", example: "jane@ethz.ch", group: "sets", decides: "education", confidence: 0.98 },
  education_suffix: { description: "The domain is under a suffix for education.", example: "jane@mit.edu", group: "sets", decides: "education", confidence: 0.98 },
  free_provider: { description: "The domain is that of a free or consumer mailbox provider.", example: "jane@gmail.com", group: "sets", decides: "personal", confidence: 0.99 },
  agent_mailbox: { description: "The domain or its mail host gives mailboxes to programs through an API.", example: "bot@agentmail.to", group: "sets", decides: "personal", confidence: 0.95 },
  domain_not_found: { description: "The domain does not exist in DNS.", example: "a domain that answers NXDOMAIN", group: "mail", decides: "invalid", confidence: 0.98 },
  null_mx: { description: "The domain states that it accepts no mail (null MX, RFC 7505).", example: "MX 0 .", group: "mail", decides: "invalid", confidence: 0.97 },
  no_mail_host: { description: "The domain cannot receive mail. Its mail hosts have no public address or are no host names, or it has neither a mail host nor a public address.", example: "no MX, A or AAAA record", group: "mail", decides: "invalid", confidence: 0.97 },
  disposable_mx: { description: "The mail hosts serve disposable domains.", example: "MX 10 mail.disposable-host.example", group: "mail", decides: "disposable", confidence: 0.9 },
  suite_a_mail: { description: "suite_a runs the domain's mail.", example: "MX 1 of suite_a", group: "mail", decides: "business", confidence: 0.95 },
  suite_b_mail: { description: "suite_b runs the domain's mail.", example: "MX 0 of suite_b", group: "mail", decides: "business", confidence: 0.95 },
  other_suite_mail: { description: "Another business mail suite runs the domain's mail.", example: "MX 10 of a hosted suite", group: "mail", decides: "business", confidence: 0.95 },
  security_gateway: { description: "A mail security gateway receives the domain's mail.", example: "MX 10 of a gateway", group: "mail", decides: "business", confidence: 0.95 },
  known_organisation: { description: "The domain is that of a well-known organisation.", example: "stripe.com", group: "sets", decides: "business", confidence: 0.95 },
  parked_mail: { description: "A parking service runs the domain's mail.", example: "MX 10 of a parking service", group: "mail", decides: "unknown", confidence: 0.3 },
  name_pattern: { description: "The name has words that almost only schools or government bodies use.", example: "jane@cityofspringvale.us", group: "sets", decides: null, confidence: 0.8 },
  free_subdomain: { description: "The name is under a suffix that gives away names for free.", example: "jane@acme.eu.cc", group: "sets", decides: "unknown", confidence: 0.3 },
  relay_mx: { description: "An alias service of persons receives the domain's mail.", example: "MX 10 of an alias service", group: "mail", decides: "relay", confidence: 0.7 },
  forwarded_mail: { description: "A forwarding service hands the domain's mail on to mailboxes elsewhere. A domain of one's own is not yet an organisation.", example: "MX 10 of a forwarding service", group: "mail", decides: "business", confidence: 0.6 },
  personal_hosting: { description: "A provider of personal mailboxes receives the domain's mail. A domain of one's own is not yet an organisation.", example: "MX 10 of a plan for persons with domains of their own", group: "mail", decides: "business", confidence: 0.6 },
  mx_found: { description: "The domain has a mail host.", example: "MX 10 mail.acme.com", group: "mail", decides: "business", confidence: 0.85 },
  implicit_mx: { description: "The domain has no MX record. Mail would go to its address record (RFC 5321 §5.1).", example: "an A record and no MX", group: "mail", decides: "unknown", confidence: 0.5 },
  resolves: { description: "The name resolves to a public address.", example: "an A record, asked as a website", group: "mail", decides: "business", confidence: 0.6 },
  no_evidence: { description: "There is no evidence for any category.", example: "a small company's domain while DNS is unavailable", group: "mail", decides: "unknown", confidence: 0.3 },
  blocklisted: { description: "The address, the domain or a parent is on a block list of the account or the operator.", example: "blocked@mailkind.test", group: "account", decides: null, confidence: 0 },
  allowlisted: { description: "The address, the domain or a parent is on the account's allow list.", example: "an entry of the account's allow list", group: "account", decides: null, confidence: 0 },
  account_rule: { description: "A rule of the account changed the recommendation of the policy.", example: "an account that blocks personal addresses", group: "account", decides: null, confidence: 0 },
  lookalike_domain: { description: "The domain imitates a well-known provider or organisation.", example: "paypa1.com", group: "risk", decides: null, confidence: 0 },
  likely_typo: { description: "The domain looks like a typing error of a well-known provider. See `did_you_mean`.", example: "jane@gmial.com", group: "risk", decides: null, confidence: 0 },
  new_domain: { description: "The domain was registered less than 30 days ago.", example: "new-domain@mailkind.test", group: "risk", decides: null, confidence: 0 },
  parked_domain: { description: "The homepage is a parking or for-sale page.", example: "a marketplace's landing page", group: "risk", decides: null, confidence: 0 },
  role_account: { description: "The local part names a role, not a person.", example: "postmaster@acme.com", group: "address", decides: null, confidence: 0 },
  dns_unavailable: { description: "DNS gave no answer. The verdict comes from the lists alone.", example: "degraded@mailkind.test", group: "mail", decides: null, confidence: 0 },
  suite_a_detected: { description: "DNS records show suite_a, although another host receives the mail.", example: "SPF of suite_a behind a gateway", group: "mail", decides: null, confidence: 0 },
  suite_b_tenant: { description: "The domain has a tenant in suite_b.", example: "suite-b-tenant@mailkind.test", group: "mail", decides: null, confidence: 0 },
  spf_missing: { description: "The domain publishes no SPF record, or more than one.", example: "no TXT record with v=spf1", group: "mail", decides: null, confidence: 0 },
  dmarc_enforced: { description: "The domain's DMARC policy is `quarantine` or `reject`.", example: "v=DMARC1; p=reject", group: "mail", decides: null, confidence: 0 },
  dmarc_missing: { description: "No DMARC policy applies to the domain. Neither it nor a parent domain publishes one.", example: "no TXT record at _dmarc", group: "mail", decides: null, confidence: 0 },
  subaddress: { description: "The local part has a `+tag`.", example: "jane+news@gmail.com", group: "address", decides: null, confidence: 0 },
  shared_inbox_name: { description: "The local part names a mailbox that several people share.", example: "support@acme.com", group: "address", decides: null, confidence: 0 },
  group_name: { description: "The local part names a group that forwards to many members.", example: "all-staff@acme.com", group: "address", decides: null, confidence: 0 },
  group_service: { description: "The domain is that of a group service.", example: "friends@googlegroups.com", group: "address", decides: null, confidence: 0 },
  no_website: { description: "The domain has no website.", example: "no host answers on port 80 or 443", group: "risk", decides: null, confidence: 0 },
  deep_unavailable: { description: "The domain's age or homepage could not be looked up.", example: "a registry that does not answer", group: "risk", decides: null, confidence: 0 },
} as const satisfies Record<string, ReasonSpec>

export type Reason = keyof typeof REASONS

/** Reasons that tell what an account has decided: a publishable answer leaves them out, or a visitor could probe its lists. */
export const ACCOUNT_REASONS: ReadonlySet<Reason> = new Set<Reason>(["blocklisted", "allowlisted", "corrected", "account_rule"])

/** All reason codes, in order of precedence. */
export const REASON_NAMES = Object.keys(REASONS) as Reason[]

/** How missing DNS lowers the confidence of a verdict: a factor, or a fixed value for two reasons. */
export const DEGRADED = { factor: 0.8, known_organisation: 0.7, no_evidence: 0.2 } as const

/** Confidence of `disposable_mx` when the mail host was learned and is not in the lists. */
export const LEARNED_MAIL_HOST_CONFIDENCE = 0.7

/** Confidence of `disposable_domain` that rests on one independent witness. */
export const SINGLE_WITNESS_CONFIDENCE = 0.9

/** Confidence of `education_suffix` under a suffix where anyone can register. */
export const OPEN_SUFFIX_CONFIDENCE = 0.5

/** Confidence of `government_suffix` and `education_suffix` for a name that does not exist: nobody holds it. */
export const MISSING_NAME_CONFIDENCE = 0.5

/** Confidence of a business verdict whose homepage is parked. */
export const PARKED_CONFIDENCE = 0.5
