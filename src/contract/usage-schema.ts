import { type Static, type TInteger, Type as t } from "@sinclair/typebox"
import { CATEGORY_NAMES, type Category } from "./categories.ts"
import { LIMITS } from "./limits.ts"
import { RECOMMENDATIONS, type Recommendation } from "./policies.ts"
import { describedAs } from "./schema-parts.ts"

const closed = ($id: string) => ({ $id, additionalProperties: false }) as const

const countSchema = (description: string) => t.Integer({ minimum: 0, description })
const limitSchema = (description: string) => t.Union([t.Integer({ minimum: 0 }), t.Null()], { description: `${description} Null: unlimited.` })

/** Counts of checks by category. */
export const ByCategorySchema = t.Object(
  Object.fromEntries(CATEGORY_NAMES.map(category => [category, t.Integer({ minimum: 0 })])) as { readonly [C in Category]: TInteger }, // `fromEntries` loses the type of the names
  { ...closed("CountsByCategory"), description: "How many checks, deep checks and batch items ended in each category." },
)

/** Counts of checks, or of rows, by recommendation. */
export const ByRecommendationSchema = t.Object(
  Object.fromEntries(RECOMMENDATIONS.map(name => [name, t.Integer({ minimum: 0 })])) as { readonly [R in Recommendation]: TInteger }, // `fromEntries` loses the type of the names
  { ...closed("CountsByRecommendation"), description: "How many rows got each recommendation." },
)

const dateSchema = t.String({ format: "date", description: "The day, UTC." })
const usedSchema = countSchema(`Units used by the account's secret keys. With those of publishable keys, which have separate units, they are the sum of \`checks\`, ${LIMITS.deepCheckUnits} times \`deep_checks\`, \`batch_items\`, \`feedback\` and \`dry_runs\`.`)

/** Counts of one day, over keys of both kinds. */
const activitySchemas = {
  checks: countSchema("Plain checks outside of batches, and deep checks without a result."),
  deep_checks: countSchema("Deep checks."),
  batch_items: countSchema("Items of batches and rows of lists."),
  feedback: countSchema("Reports of wrong verdicts."),
  dry_runs: countSchema("Questions what a list would cost."),
  rate_limited: countSchema("Requests that got `rate_limited`."),
  by_category: ByCategorySchema,
  by_recommendation: describedAs(ByRecommendationSchema, "How many checks, deep checks and batch items got each recommendation. Fewer than `by_category` has on days that a version before counted."),
}

const KeyUsageSchema = t.Object(
  {
    id: t.String({ description: "The id of the key. It is not the key itself." }),
    name: t.String(),
    last4: t.String({ description: "The last four characters of the key." }),
    used: countSchema("Units that the key used today. A publishable key uses units that all publishable keys share."),
    last_used_at: t.Union([t.String({ format: "date-time" }), t.Null()], { description: "Null: never." }),
    expires_at: t.Optional(t.String({ format: "date-time", description: "When the key expires. Absent: it does not expire." })),
    daily_units: t.Optional(t.Integer({ minimum: 1, description: "The key's own limit of units per day. Absent: no such limit." })),
    remaining: t.Optional(t.Integer({ minimum: 0, description: "What is left of the key's own limit today. Present with `daily_units`." })),
    requests_per_second: t.Optional(t.Integer({ minimum: 1, description: "The key's own limit of requests per second. Absent: no such limit." })),
  },
  closed("KeyUsage"),
)

/** Response of GET /v1/usage. */
export const Usage = t.Object(
  {
    tier: t.Integer({ minimum: 0 }),
    limits: t.Object(
      {
        requests_per_second: limitSchema("Requests per second."),
        in_flight: limitSchema("Concurrent requests."),
        daily_units: limitSchema("Units per day."),
        batch_items: limitSchema("Items per batch."),
        keys: limitSchema("Active keys of the account."),
      },
      closed("UsageLimits"),
    ),
    today: t.Object(
      {
        date: dateSchema,
        used: usedSchema,
        remaining: t.Union([t.Integer({ minimum: 0 }), t.Null()], { description: "Units of the account left today, as a check finds them. Null: unlimited." }),
        lost: countSchema("Units of today that are neither used nor left. A process that ended took them with it, or another process holds them and gives back within seconds what it does not use, or a deleted account with the same email used them."),
        publishable: t.Object(
          {
            used: countSchema("Units used by the account's publishable keys, including revoked keys."),
            remaining: countSchema("Units left today for all publishable keys together."),
          },
          { ...closed("PublishableUsage"), description: `The ${LIMITS.publishableUnitsPerDay} units that all publishable keys of the account share. They are separate from the account's units, because anybody can forge an origin.` },
        ),
        resets_at: t.String({ format: "date-time", description: "When the next day begins: 00:00 UTC." }),
        ...activitySchemas,
        by_key: t.Array(KeyUsageSchema, { description: "The active keys, and revoked keys that were used today. Checks on the dashboard count in the account's `used`, but not for a key." }),
      },
      closed("UsageToday"),
    ),
    daily: t.Array(t.Object({ date: dateSchema, used: usedSchema, ...activitySchemas }, closed("UsageDay")), {
      description: `The last ${LIMITS.usageDays} days, newest first, today included.`,
    }),
  },
  closed("Usage"),
)
export type Usage = Static<typeof Usage>
