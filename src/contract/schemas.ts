import { Kind, type Static, type TLiteral, type TObject, type TSchema, TypeRegistry, Type as t } from "@sinclair/typebox"
import { hasAtMostCharacters } from "../base/text.ts"
import { CATEGORY_NAMES } from "./categories.ts"
import { LIMITS } from "./limits.ts"
import { POLICY_DEFAULT, POLICY_NAMES, RECOMMENDATIONS } from "./policies.ts"
import { API_PROBLEM_CODES, type ProblemCode } from "./problems.ts"
import { REASON_NAMES } from "./reasons.ts"

/** One of these strings. `$id` is the name of the schema in the OpenAPI document. */
export function oneOf<const V extends string>($id: string, values: readonly V[]) {
  return t.Union(
    values.map(value => t.Literal(value)) as TLiteral<V>[], // `map` loses the literal types
    { $id },
  )
}

/** A schema with a name, where it is used for a purpose of its own. */
export const describedAs = <S extends TSchema>(schema: S, description: string): S => ({ ...schema, description })

const nullable = <S extends TSchema>(schema: S) => t.Union([schema, t.Null()])

/** TypeBox's `maxLength` counts UTF-16 units, JSON Schema counts characters. */
TypeRegistry.Set<{ readonly maxLength: number; readonly minLength?: number }>("BoundedText", ({ maxLength, minLength = 0 }, value) => typeof value === "string" && value.length >= minLength && hasAtMostCharacters(value, maxLength))

/** A text of at most so many characters, white space at its ends left out. */
export const boundedText = (maxLength: number, options: { readonly description?: string; readonly minLength?: 1 } = {}) => t.Unsafe<string>({ [Kind]: "BoundedText", maxLength, ...options, type: "string" })

/**
 * A member of an answer that this version does not send fails the schema. The OpenAPI document leaves answers open, because a
 * later version may add members.
 */
const closed = ($id: string) => ({ $id, additionalProperties: false }) as const

/** The tables of `contract/` as schemas. */
export const CategorySchema = oneOf("Category", CATEGORY_NAMES)
export const RecommendationSchema = oneOf("Recommendation", RECOMMENDATIONS)
export const ReasonSchema = oneOf("Reason", REASON_NAMES)
export const PolicySchema = oneOf("Policy", POLICY_NAMES)
export const ProblemCodeSchema = oneOf("ProblemCode", API_PROBLEM_CODES)

/** Body of POST /v1/check. Unknown members are ignored. */
export const CheckBody = t.Object(
  {
    email: t.Optional(t.String({ description: "The address. Send exactly one of `email`, `domain` and `url`." })),
    domain: t.Optional(t.String({ description: "A domain name." })),
    url: t.Optional(boundedText(LIMITS.urlLengthMax, { description: "A website address. The check looks at its host." })),
    policy: t.Optional(describedAs(PolicySchema, `How strict the recommendation is. Absent: \`${POLICY_DEFAULT}\`.`)),
    deep: t.Optional(t.Boolean({ description: `Adds the domain's age and a homepage check. Costs ${LIMITS.deepCheckUnits} units, or 1 if neither gives a result. Absent: false.` })),
    workspace: t.Optional(t.Boolean({ description: "Set to false to skip the suite_b tenant look-up. Absent: true." })),
  },
  { $id: "CheckBody", examples: [{ email: "jane@stripe.com", policy: "b2b" }] },
)
export type CheckBody = Static<typeof CheckBody>

const Hint = t.Object(
  {
    confidence: t.Union([t.Literal(0), t.Literal(0.3), t.Literal(1)]),
    match: nullable(t.String({ description: "The matching word, or the domain of a group service." })),
  },
  closed("Hint"),
)

const MailBlock = t.Object(
  {
    has_mx: nullable(t.Boolean({ description: "Null if it was not looked up or DNS did not answer." })),
    provider: nullable(t.String({ description: "Key of the provider of the most preferred mail host." })),
    mx: t.Array(t.Object({ priority: t.Integer(), host: t.String(), provider: nullable(t.String()) }, closed("MailHost"))),
    spf: nullable(t.String()),
    dmarc_policy: nullable(oneOf("DmarcPolicy", ["none", "quarantine", "reject"])),
  },
  closed("Mail"),
)

const WorkspaceBlock = t.Object(
  {
    suite_a: t.Object({ detected: t.Boolean(), evidence: t.Array(t.String()) }, closed("SuiteA")),
    suite_b: t.Object(
      {
        detected: t.Boolean(),
        tenant_id: nullable(t.String({ description: "A UUID." })),
        tenant_region: nullable(t.String()),
        auth: nullable(oneOf("TenantAuth", ["managed", "federated"])),
        identity_provider: nullable(t.String()),
        evidence: t.Array(t.String({ description: "`kind:value`, such as `mx:…` or `spf:…`." })),
      },
      closed("SuiteB"),
    ),
    other_suite: nullable(t.String()),
    pending: t.Boolean({ description: "The tenant look-up continues. The next check has its result." }),
  },
  closed("Workspace"),
)

/** The members of a result by what they depend on. A check fills in a part at a time; requests can share what does not depend on them. */
const RESULT_PARTS = {
  input: {
    email: nullable(t.String({ description: "The address as sent; null for domain and URL checks." })),
    url: t.Optional(t.String({ description: "The website address as sent; in URL checks only." })),
    normalized_email: nullable(t.String()),
    domain: nullable(t.String()),
  },
  verdict: {
    is_business: t.Boolean(),
    category: CategorySchema,
    confidence: t.Number({ minimum: 0, maximum: 1 }),
    recommendation: RecommendationSchema,
    policy: PolicySchema,
    is_free_provider: t.Boolean(),
    is_disposable: t.Boolean(),
    is_relay: t.Boolean(),
    is_role_account: t.Boolean(),
  },
  hints: { shared_inbox: Hint, group: Hint },
  evidence: {
    is_blocked: t.Boolean(),
    is_new_domain: t.Boolean(),
    is_lookalike: t.Boolean(),
    has_subaddress: t.Boolean(),
    did_you_mean: nullable(t.String()),
    mail: MailBlock,
    workspace: WorkspaceBlock,
    integrations: t.Object({ suite_a_ready: t.Boolean(), suite_b_ready: t.Boolean() }, closed("Integrations")),
    domain_age_days: nullable(t.Integer()),
    reasons: t.Array(ReasonSchema),
    degraded: t.Boolean({ description: "DNS was unavailable. The verdict comes from the lists alone." }),
  },
  run: { cached: t.Boolean(), took_ms: t.Integer(), request_id: t.String() },
} as const

/** The members of one part of a result. */
export type CheckResultPart<P extends keyof typeof RESULT_PARTS> = Static<TObject<(typeof RESULT_PARTS)[P]>>

/** The names of the members of these parts. */
export const resultMembersOf = (...parts: readonly (keyof typeof RESULT_PARTS)[]): ReadonlySet<string> => new Set(parts.flatMap(part => Object.keys(RESULT_PARTS[part])))

/** Result of a check with a secret key. */
export const CheckResult = t.Object(
  {
    ...RESULT_PARTS.input,
    ...RESULT_PARTS.verdict,
    ...RESULT_PARTS.hints,
    ...RESULT_PARTS.evidence,
    ...RESULT_PARTS.run,
  },
  closed("CheckResult"),
)
export type CheckResult = Static<typeof CheckResult>

/** Result of a check with a publishable key. */
export const ReducedResult = t.Object(
  {
    category: CategorySchema,
    is_business: t.Boolean(),
    recommendation: RecommendationSchema,
    confidence: t.Number({ minimum: 0, maximum: 1 }),
    did_you_mean: nullable(t.String()),
    shared_inbox: Hint,
    group: Hint,
    reasons: t.Array(ReasonSchema, { maxItems: LIMITS.publishableReasonsMax, description: "The first reasons of the verdict. Reasons that the account has caused (`blocklisted`, `allowlisted`, `corrected`) are left out." }),
    workspace: t.Object(
      {
        suite_a: t.Boolean({ description: "suite_a was detected." }),
        suite_b: t.Boolean({ description: "suite_b was detected." }),
        suite_b_mail: nullable(t.Boolean({ description: "suite_b runs the mail. Null: DNS did not answer." })),
      },
      closed("ReducedWorkspace"),
    ),
  },
  closed("ReducedResult"),
)
export type ReducedResult = Static<typeof ReducedResult>

/**
 * The state of list refreshes. `failing`: a source failed, and its last good copy is in use. `paused`: an operator rolled back
 * to older lists. `pending`: there was no refresh yet. `off`: there is none scheduled.
 */
const REFRESH_STATUSES = ["ok", "failing", "paused", "pending", "off"] as const

/** Response of GET /v1/health. */
export const Health = t.Object(
  {
    status: oneOf("HealthStatus", ["ok", "degraded"]),
    version: t.String(),
    commit: nullable(t.String({ description: "The first 12 digits of the commit that the program was built from. Null: not known." })),
    uptime_seconds: t.Integer(),
    lists: t.Object(
      {
        version: t.String(),
        built_at: t.String({ format: "date-time" }),
        age_seconds: t.Integer({ minimum: 0, description: "Seconds since `built_at` or since `refreshed_at`, whichever is later." }),
        entries: t.Record(t.String(), t.Integer()),
        files: t.Object(
          {
            status: oneOf("ListFilesStatus", ["ok", "replaced", "damaged"]),
            noticed_at: nullable(t.String({ format: "date-time", description: "When files of the lists in use were last found damaged on the disk. `replaced`: they are undamaged again. Verdicts come from a copy in memory. Null: not within a week." })),
          },
          closed("ListFiles"),
        ),
        refresh: t.Object(
          {
            status: oneOf("RefreshStatus", REFRESH_STATUSES),
            refreshed_at: nullable(t.String({ format: "date-time", description: "When the sources were last asked, and one of them at least could be used. Null: never." })),
            asked_at: nullable(t.String({ format: "date-time", description: "When the sources were last asked, with or without success. Null: never." })),
            sources: t.Record(
              t.String(),
              t.Object(
                {
                  outcome: oneOf("SourceOutcome", ["taken", "unchanged", "refused", "failed"]),
                  changed_at: nullable(t.String({ format: "date-time", description: "When its entries last changed. Null: there is no copy yet." })),
                  left_out: t.Integer({ minimum: 0, description: "How many of its names were left out, because no such list can hold them, and how many lines, because they are not names." }),
                },
                closed("SourceState"),
              ),
              { description: "The result of the last download of each source." },
            ),
          },
          closed("ListsRefresh"),
        ),
      },
      closed("HealthLists"),
    ),
    dns: t.Object({ status: oneOf("DnsStatus", ["ok", "unavailable"]) }, closed("HealthDns")),
    database: t.Object(
      {
        status: oneOf("DatabaseStatus", ["ok", "away"]),
      },
      closed("HealthDatabase"),
    ),
    clock: t.Object(
      {
        status: oneOf("ClockStatus", ["ok", "in_doubt"]),
      },
      {
        ...closed("HealthClock"),
        description: "`in_doubt`: the clock of this host and the one that confirms it differ by more than a minute, or it has jumped. Nothing is deleted for its age, and no day begins by it.",
      },
    ),
  },
  closed("Health"),
)
export type Health = Static<typeof Health>

const RetryAfter = t.Integer({ minimum: 0, description: "Seconds to wait before the next try." })

/** Body of every problem response (RFC 9457), with content type `application/problem+json`. */
export const ProblemBody = t.Object(
  {
    type: t.String({ format: "uri" }),
    title: t.String(),
    status: t.Integer(),
    code: ProblemCodeSchema,
    detail: t.String(),
    docs_url: t.String({ format: "uri" }),
    instance: t.String({ description: "The request id as a URN." }),
    request_id: t.String(),
    errors: t.Optional(
      t.Array(
        t.Object(
          {
            pointer: t.Optional(t.String({ description: "JSON pointer into the body." })),
            parameter: t.Optional(t.String({ description: "Name of the query parameter." })),
            detail: t.String(),
          },
          closed("InputFault"),
        ),
      ),
    ),
    retry_after: t.Optional(RetryAfter),
    limit: t.Optional(t.Integer()),
    needed: t.Optional(t.Integer({ minimum: 1, description: "How many daily units the request needs." })),
    remaining: t.Optional(t.Integer({ minimum: 0, description: "How many daily units are left." })),
    resets_at: t.Optional(t.String({ format: "date-time" })),
  },
  closed("Problem"),
)
/** Body of the problems with status 429 and 503, which say when to try again. */
export const RetryProblemBody = t.Object({ ...ProblemBody.properties, retry_after: RetryAfter }, closed("RetryProblem"))

/** `code` may also be one of the free website checker, which is not part of the API. */
export type ProblemBody = Omit<Static<typeof ProblemBody>, "code"> & { code: ProblemCode }

/** Body of POST /v1/check/batch. Unknown members are ignored. */
export const BatchBody = t.Object(
  {
    items: t.Array(boundedText(LIMITS.batchItemLengthMax), {
      minItems: 1,
      maxItems: LIMITS.batchItemsMax,
      description: "Addresses, domains and website addresses, in any mix. An item with an `@` is an address. Otherwise an item with a `/` is a website address, and any other a domain.",
    }),
    policy: CheckBody.properties.policy,
  },
  { $id: "BatchBody", examples: [{ items: ["jane@stripe.com", "gmail.com", "https://www.mit.edu/"], policy: "b2b" }] },
)
export type BatchBody = Static<typeof BatchBody>

/** Result of one item of a batch. */
const BatchItemResult = t.Object(
  {
    ...CheckResult.properties,
    index: t.Integer({ minimum: 0, description: "The position of the item in `items`, from 0." }),
    input: t.Optional(t.String({ description: "The item as sent. Only if no domain was found in it." })),
  },
  closed("BatchItemResult"),
)

/** Response of POST /v1/check/batch. */
export const BatchResult = t.Object(
  {
    results: t.Array(BatchItemResult, { description: "One result for each item, in the same order. Each has the request id of the batch." }),
    took_ms: t.Integer({ description: "The time of the slowest item. All items are checked in parallel." }),
    request_id: t.String(),
  },
  closed("BatchResult"),
)
export type BatchResult = Static<typeof BatchResult>
