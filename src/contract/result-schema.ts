import { type Static, type TObject, type TSchema, Type as t } from "@sinclair/typebox"
import { CATEGORY_NAMES } from "./categories.ts"
import { LIMITS } from "./limits.ts"
import { POLICY_DEFAULT, POLICY_NAMES, RECOMMENDATIONS } from "./policies.ts"
import { REASON_NAMES } from "./reasons.ts"
import { closed, describedAs, nullable, oneOf } from "./schema-parts.ts"

/** The tables of `contract/` as schemas. */
export const CategorySchema = oneOf("Category", CATEGORY_NAMES)
export const RecommendationSchema = oneOf("Recommendation", RECOMMENDATIONS)
export const ReasonSchema = oneOf("Reason", REASON_NAMES)
export const PolicySchema = oneOf("Policy", POLICY_NAMES)

/**
 * What is said of a member of a verdict wherever the verdict is described: what it is, what to do with it, and a value.
 * `empty`: when it is null, or an array is empty.
 */
type FieldText = { readonly means: string; readonly use: string; readonly example: unknown; readonly empty?: string }

/** A member with its description. One that may be null has to say when it is. */
const field = <S extends TSchema>(schema: S, text: null extends Static<S> ? FieldText & { readonly empty: string } : FieldText): S => describedAs(schema, [text.means, ...(text.empty === undefined ? [] : [text.empty]), text.use].join(" "), [text.example])

const UNKNOWN_MAIL = "Null: the mail was not looked up, or DNS did not answer."

const Hint = t.Object(
  {
    confidence: field(t.Union([t.Literal(0), t.Literal(0.3), t.Literal(1)]), { means: "How sure the hint is: 0 for none, 0.3 by the name alone, 1 for an address at a group service.", use: "Treat 0.3 as a question to ask, not as a fact.", example: 0.3 }),
    match: field(nullable(t.String()), { means: "The word of the local part that gave the hint, or the domain of the group service.", empty: "Null: there is no hint.", use: "Show it to the person who reviews the address.", example: "support" }),
  },
  closed("Hint"),
)

const MailHost = t.Object(
  {
    priority: field(t.Integer(), { means: "The preference of the MX record. The lowest is tried first.", use: "Read the host with the lowest one first.", example: 10 }),
    host: field(t.String(), { means: "The name of the mail host, in lower case and without the last dot.", use: "Compare it with hosts that you know.", example: "aspmx.l.google.com" }),
    provider: field(nullable(t.String()), { means: "The key of the provider that runs the host.", empty: "Null: it is no known provider's.", use: "Group domains by it.", example: "suite_a" }),
  },
  closed("MailHost"),
)

const MailBlock = t.Object(
  {
    has_mx: field(nullable(t.Boolean()), { means: "Whether an MX record of the domain names a mail host.", empty: UNKNOWN_MAIL, use: "If it is false, read `reasons`: `implicit_mx` says that mail may still arrive.", example: true }),
    provider: field(nullable(t.String()), {
      means: "The key of the provider that runs the most preferred mail host: a suite such as `suite_a`, a mailbox provider, or a mail security vendor.",
      empty: "Null: it is no known provider's, or the mail is not known.",
      use: "Use it to group domains, not to decide about them.",
      example: "suite_a",
    }),
    mx: field(t.Array(MailHost), { means: "The mail hosts by preference.", empty: "Empty: there is none, or the mail is not known.", use: "Show it to the person who reviews the domain.", example: [{ priority: 1, host: "aspmx.l.google.com", provider: "suite_a" }] }),
    spf: field(nullable(t.String()), { means: "The domain's SPF record.", empty: "Null: it publishes none or several, or the mail is not known.", use: "Use it to see which services send mail for the domain.", example: "v=spf1 include:_spf.google.com ~all" }),
    dmarc_policy: field(nullable(oneOf("DmarcPolicy", ["none", "quarantine", "reject"])), {
      means: "The DMARC policy for the domain, its own or that of a parent (RFC 9989).",
      empty: "Null: there is none, or it is not known.",
      use: "Read `reject` and `quarantine` as a sign of a domain that is looked after.",
      example: "reject",
    }),
  },
  closed("Mail"),
)

const SuiteA = t.Object(
  {
    detected: field(t.Boolean(), { means: "Whether a record shows suite_a (Google Workspace). Such records are an MX host like `aspmx.l.google.com`, an SPF include of `_spf.google.com`, or its DKIM key behind a security gateway.", use: "Offer sign-in with suite_a.", example: true }),
    evidence: field(t.Array(t.String()), { means: "The records that show it, each as `kind:value` with the kinds `mx`, `spf` and `dkim`.", empty: "Empty: none does.", use: "Show it to a person who asks why.", example: ["mx:aspmx.l.google.com", "spf:_spf.google.com"] }),
  },
  closed("SuiteA"),
)

const SuiteB = t.Object(
  {
    detected: field(t.Boolean(), {
      means: "Whether a record or a tenant shows suite_b (Microsoft 365). Such records are an MX host under `mail.protection.outlook.com`, an SPF include of `spf.protection.outlook.com`, or its DKIM or autodiscover record behind a security gateway. A tenant is an organisation that `login.microsoftonline.com` knows.",
      use: "Offer sign-in with suite_b.",
      example: true,
    }),
    tenant_id: field(nullable(t.String()), { means: "The UUID of the domain's tenant.", empty: "Null: there is none, it was not asked for (`workspace`), or the endpoint did not answer in time.", use: "Domains with one `tenant_id` belong to one organisation.", example: "72f988bf-86f1-41af-91ab-2d7cd011db47" }),
    tenant_region: field(nullable(t.String()), { means: "The region of the tenant, as its endpoint says.", empty: "Null: the tenant is not known, or tells none.", use: "Use it to see in which of the vendor's clouds the organisation is.", example: "EU" }),
    auth: field(nullable(oneOf("TenantAuth", ["managed", "federated"])), {
      means: "Where the tenant's people sign in: at suite_b (`managed`), or at an identity provider of the organisation (`federated`).",
      empty: "Null: the tenant is not known, or tells none.",
      use: "Offer single sign-on first where it is `federated`.",
      example: "managed",
    }),
    identity_provider: field(nullable(t.String()), { means: "The identity provider of a `federated` tenant: the key of a known product, `self_hosted` for a host of the organisation, or `other`.", empty: "Null: there is none, or it is not known.", use: "Name it in the settings of single sign-on.", example: "okta" }),
    evidence: field(t.Array(t.String()), { means: "The records that show it, each as `kind:value` with the kinds `mx`, `spf`, `dkim`, `autodiscover` and `tenant`.", empty: "Empty: none does.", use: "Show it to a person who asks why.", example: ["mx:acme-com.mail.protection.outlook.com"] }),
  },
  closed("SuiteB"),
)

const WorkspaceBlock = t.Object(
  {
    suite_a: field(SuiteA, { means: "What shows suite_a.", use: "Read `detected`.", example: { detected: false, evidence: [] } }),
    suite_b: field(SuiteB, { means: "What shows suite_b, and its tenant.", use: "Read `detected`.", example: { detected: false, tenant_id: null, tenant_region: null, auth: null, identity_provider: null, evidence: [] } }),
    other_suite: field(nullable(t.String()), { means: "The key of another business mail suite that runs the mail.", empty: "Null: none does, or the mail is not known.", use: "Use it to group domains.", example: "zoho" }),
    pending: field(t.Boolean(), { means: "Whether the look-up of the tenant continues after this answer.", use: "Check again after a second if you need the tenant.", example: false }),
  },
  closed("Workspace"),
)

const Integrations = t.Object(
  {
    suite_a_ready: field(t.Boolean(), { means: "Whether suite_a receives the domain's mail, so that its people have accounts there.", use: "Show the button for suite_a when it is true.", example: true }),
    suite_b_ready: field(t.Boolean(), { means: "Whether the domain has a tenant in suite_b, or suite_b receives its mail while the tenant is not known.", use: "Show the button for suite_b when it is true.", example: false }),
  },
  closed("Integrations"),
)

/** The members of a result by what they depend on. A check fills in a part at a time; requests can share what does not depend on them. */
const RESULT_PARTS = {
  input: {
    email: field(nullable(t.String()), { means: "The address as sent.", empty: "Null: a domain or a URL was checked.", use: "Match the answer to your request with it.", example: "Jane+news@Acme.com" }),
    url: t.Optional(field(t.String(), { means: "The website address as sent. It is there in URL checks only.", use: "Match the answer to your request with it.", example: "https://www.acme.com/about" })),
    normalized_email: field(nullable(t.String()), { means: "The address in lower case and without its `+tag`.", empty: "Null: a domain or a URL was checked, or the text is not an address.", use: "Show it where you show addresses. Send mail to the address as it was typed.", example: "jane@acme.com" }),
    domain: field(nullable(t.String()), { means: "The domain that was judged, in lower case and as A-labels (`xn--`).", empty: "Null: the text names none.", use: "Count and group by it.", example: "acme.com" }),
  },
  mailbox: {
    canonical_email: field(nullable(t.String()), {
      means: "The mailbox behind the address, by its provider's rules: addresses with the same one reach the same person.",
      empty: "Null: a domain or a URL was checked, the category is `invalid`, or the form would be longer than an address may be.",
      use: "Put a unique index on it, and send mail to the address as it was typed. /docs/sign-up-forms#one-account shows how.",
      example: "jane@acme.com",
    }),
  },
  verdict: {
    is_business: field(t.Boolean(), { means: "Whether the category is one of organisations: business, education or government.", use: "Ask for a work address when it is false and you need one.", example: true }),
    category: field(CategorySchema, { means: "What the address is.", use: "Store it with the account, and count by it.", example: "business" }),
    confidence: field(t.Number({ minimum: 0, maximum: 1 }), { means: "How sure the category is, from 0 to 1. Of many verdicts with 0.9, nine in ten are right.", use: "Sort a queue of reviews by it. The recommendation has taken it into account.", example: 0.95 }),
    recommendation: field(RecommendationSchema, { means: "What to do under the policy.", use: "Do it: let the person in, look or ask again, or refuse. This is the one member that every program reads.", example: "allow" }),
    policy: field(PolicySchema, { means: "The policy that made the recommendation.", use: `Send \`policy\` to have another one. Without it, it is \`${POLICY_DEFAULT}\`.`, example: "b2b" }),
    is_free_provider: field(t.Boolean(), { means: "Whether the domain is on the list of free and consumer mailbox providers.", use: "Ask for a work address when it is true and you need one.", example: false }),
    is_disposable: field(t.Boolean(), { means: "Whether a list calls the domain disposable, or its mail hosts serve such domains.", use: "Prefer `recommendation`, which knows how good the evidence is.", example: false }),
    is_relay: field(t.Boolean(), { means: "Whether the address is an alias that forwards to a person's mailbox.", use: "Let it in: a real person reads it.", example: false }),
    is_role_account: field(t.Boolean(), { means: "Whether the local part names a role, such as `billing` or `postmaster`.", use: "Ask for a person's address if you need one. Do not send marketing to it.", example: false }),
  },
  hints: {
    shared_inbox: field(Hint, { means: "Whether several people seem to read the mailbox.", use: "It never changes the recommendation.", example: { confidence: 0.3, match: "support" } }),
    group: field(Hint, { means: "Whether the address seems to forward to many members.", use: "It never changes the recommendation.", example: { confidence: 0, match: null } }),
  },
  evidence: {
    is_blocked: field(t.Boolean(), { means: "Whether a block list of the account or of the operator has the address or the domain.", use: "The recommendation is `block` then.", example: false }),
    is_new_domain: field(t.Boolean(), { means: `Whether the domain was registered less than ${LIMITS.newDomainDays} days ago. The age is known from a deep check or from an earlier one.`, use: "Look at the account before you trust it.", example: false }),
    is_lookalike: field(t.Boolean(), { means: "Whether the domain imitates a well-known name.", use: "Warn people who get mail from it.", example: false }),
    has_subaddress: field(t.Boolean(), { means: "Whether the local part has a `+tag`.", use: "Do not refuse it: people sort their mail by tags.", example: true }),
    did_you_mean: field(nullable(t.String()), { means: "The domain that was probably meant.", empty: "Null: there is no suggestion.", use: "Ask the person “Did you mean …?”, and never correct it in silence.", example: "gmail.com" }),
    mail: field(MailBlock, { means: "What the domain publishes about its mail. With `mail: false` in the request, only what MX tells, and for a disposable domain nothing.", use: "It explains the verdict. You need not read it.", example: { has_mx: true, provider: null, mx: [], spf: null, dmarc_policy: null } }),
    workspace: field(WorkspaceBlock, {
      means: "The office suites that the domain's records show. With `mail: false` in the request, only those that the verdict needs.",
      use: "Use it to offer the right sign-in.",
      example: { suite_a: { detected: false, evidence: [] }, suite_b: { detected: false, tenant_id: null, tenant_region: null, auth: null, identity_provider: null, evidence: [] }, other_suite: null, pending: false },
    }),
    integrations: field(Integrations, { means: "Which suite's sign-in would work for people of the domain. With `mail: false` in the request, only what MX tells.", use: "Choose the buttons of your sign-in page by it.", example: { suite_a_ready: false, suite_b_ready: false } }),
    domain_age_days: field(nullable(t.Integer()), { means: "How many days ago the domain was registered.", empty: "Null: the check was not `deep`, or the registry did not answer.", use: "Choose a bound of your own with it.", example: 9213 }),
    reasons: field(t.Array(ReasonSchema), { means: "Why: the reason that decided comes first, then what made the recommendation stricter, then further evidence.", use: "Branch on the codes, and ignore those that you do not know. /docs/reasons explains each.", example: ["suite_a_mail", "dmarc_enforced"] }),
    degraded: field(t.Boolean(), { means: "Whether DNS gave no answer that was needed, so that the verdict comes from the lists alone.", use: "Let the person in, and check again later.", example: false }),
  },
  run: {
    cached: field(t.Boolean(), { means: "Whether the evidence was known from an earlier check.", use: "You need not read it.", example: false }),
    took_ms: field(t.Integer(), { means: "Whole milliseconds from the request to the verdict.", use: "Watch it beside the time that your own request takes.", example: 41 }),
    request_id: field(t.String(), { means: "The id of the request, as in the header `X-Request-Id`.", use: "Log it, and name it when you report a fault.", example: "req_0123456789abcdefghijkl" }),
  },
} as const

/** The members of one part of a result. */
export type CheckResultPart<P extends keyof typeof RESULT_PARTS> = Static<TObject<(typeof RESULT_PARTS)[P]>>

/** The names of the members of these parts. */
export const resultMembersOf = (...parts: readonly (keyof typeof RESULT_PARTS)[]): ReadonlySet<string> => new Set(parts.flatMap(part => Object.keys(RESULT_PARTS[part])))

/** Result of a check with a secret key. */
export const CheckResult = t.Object(
  {
    ...RESULT_PARTS.input,
    ...RESULT_PARTS.mailbox,
    ...RESULT_PARTS.verdict,
    ...RESULT_PARTS.hints,
    ...RESULT_PARTS.evidence,
    ...RESULT_PARTS.run,
  },
  closed("CheckResult"),
)
export type CheckResult = Static<typeof CheckResult>

const { verdict, hints, evidence } = RESULT_PARTS

/** Result of a check with a publishable key. */
export const ReducedResult = t.Object(
  {
    category: verdict.category,
    is_business: verdict.is_business,
    recommendation: verdict.recommendation,
    confidence: verdict.confidence,
    did_you_mean: evidence.did_you_mean,
    ...hints,
    reasons: field(t.Array(ReasonSchema, { maxItems: LIMITS.publishableReasonsMax }), { means: "The first reasons of the verdict. Reasons that the account has caused (`blocklisted`, `allowlisted`, `corrected`) are left out.", use: "Choose the words of your form by them.", example: ["free_provider"] }),
    workspace: t.Object(
      {
        suite_a: field(t.Boolean(), { means: "Whether suite_a was detected.", use: "Offer sign-in with suite_a.", example: false }),
        suite_b: field(t.Boolean(), { means: "Whether suite_b was detected.", use: "Offer sign-in with suite_b.", example: false }),
        suite_b_mail: field(nullable(t.Boolean()), { means: "Whether suite_b runs the mail.", empty: "Null: DNS did not answer, or the lists decide alone.", use: "False with `suite_b` true: the organisation has accounts there, but its mail elsewhere.", example: false }),
      },
      closed("ReducedWorkspace"),
    ),
  },
  closed("ReducedResult"),
)
export type ReducedResult = Static<typeof ReducedResult>
