import { type Static, Type as t } from "@sinclair/typebox"
import { LIMITS } from "./limits.ts"
import { POLICY_DEFAULT } from "./policies.ts"
import { API_PROBLEM_CODES, type ProblemCode } from "./problems.ts"
import { CheckResult, PolicySchema } from "./result-schema.ts"
import { boundedText, closed, describedAs, nullable, oneOf } from "./schema-parts.ts"

/** The codes of problems that the API answers with. */
export const ProblemCodeSchema = oneOf("ProblemCode", API_PROBLEM_CODES)

/** Body of POST /v1/check. Unknown members are ignored. */
export const CheckBody = t.Object(
  {
    email: t.Optional(t.String({ description: "The address. Send exactly one of `email`, `domain` and `url`." })),
    domain: t.Optional(t.String({ description: "A domain name." })),
    url: t.Optional(boundedText(LIMITS.urlLengthMax, { description: "A website address. The check looks at its host." })),
    policy: t.Optional(describedAs(PolicySchema, `How strict the recommendation is. Default: \`${POLICY_DEFAULT}\`.`)),
    deep: t.Optional(t.Boolean({ description: `Adds the domain's age and a homepage check. Costs ${LIMITS.deepCheckUnits} units, or 1 if neither gives a result. Default: false.` })),
    workspace: t.Optional(t.Boolean({ description: "Set to false to skip the suite_b tenant look-up. Default: true." })),
    mail: t.Optional(t.Boolean({ description: "Set to false to ask DNS only for what decides the verdict. `mail`, `workspace` and `integrations` then hold only that, and reasons that only tell of the mail are missing (/docs/fields#without-mail). Default: true." })),
  },
  { $id: "CheckBody", examples: [{ email: "jane@stripe.com", policy: "b2b" }] },
)
export type CheckBody = Static<typeof CheckBody>

/**
 * The state of list refreshes. `failing`: a source failed, and its last good copy is in use. `pinned`: an operator pinned a
 * version, and what refreshes bring is not used. `pending`: there was no refresh yet. `off`: there is none scheduled.
 */
const REFRESH_STATUSES = ["ok", "failing", "pinned", "pending", "off"] as const

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
        pinned: nullable(t.String({ description: "The version of the lists that an operator has pinned, or `built_in`. Null: the newest ones are used." })),
        is_behind: t.Boolean({ description: "Whether this node does not use the lists that the nodes of its database share. The log says why." }),
        waiting_until: nullable(t.String({ format: "date-time", description: "Until when this node waits for newer lists, by its `MAILKIND_LISTS_DELAY_HOURS`. Null: it waits for none." })),
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
    dns: t.Object({ status: oneOf("DnsStatus", ["ok", "unavailable", "off"]) }, closed("HealthDns")),
    database: t.Object(
      {
        status: oneOf("DatabaseStatus", ["ok", "away"]),
        answered_ms_ago: nullable(t.Integer({ minimum: 0, description: "Milliseconds since it last answered what has changed. Null: it is SQLite, or has not been asked." })),
      },
      { ...closed("HealthDatabase"), description: "`away`: it does not answer, or it accepts no writes." },
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
    mail: CheckBody.properties.mail,
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
