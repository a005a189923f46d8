import { type Static, type TInteger, Type as t } from "@sinclair/typebox"
import { CATEGORY_NAMES, type Category } from "./categories.ts"
import { LIMITS } from "./limits.ts"

const closed = { additionalProperties: false } as const

const countSchema = (description: string) => t.Integer({ minimum: 0, description })
const limitSchema = (description: string) => t.Union([t.Integer({ minimum: 0 }), t.Null()], { description: `${description} Null: unlimited.` })

const ByCategorySchema = t.Object(
  Object.fromEntries(CATEGORY_NAMES.map(category => [category, t.Integer({ minimum: 0 })])) as { readonly [C in Category]: TInteger }, // `fromEntries` loses the type of the names
  { ...closed, description: "How many checks, deep checks and batch items ended in each category." },
)

const dateSchema = t.String({ format: "date", description: "The day, UTC." })
const usedSchema = countSchema("Units that the account's secret keys used: for checks, items of batches and feedback. Publishable keys have units of their own.")

/** Counts of one day, over keys of both kinds. */
const activitySchemas = {
  checks: countSchema("Checks that were not deep or told nothing deep, outside of batches."),
  deep_checks: countSchema("Deep checks."),
  batch_items: countSchema("Items of batches."),
  rate_limited: countSchema("Requests that were refused as `rate_limited`."),
  by_category: ByCategorySchema,
}

const KeyUsageSchema = t.Object(
  {
    id: t.String({ description: "The key's id, which is not the key." }),
    name: t.String(),
    last4: t.String({ description: "The last four characters of the key." }),
    used: countSchema("Units that the key used today; those of a publishable key are of the units that all publishable keys share."),
    last_used_at: t.Union([t.String({ format: "date-time" }), t.Null()], { description: "Null: never." }),
    expires_at: t.Optional(t.String({ format: "date-time", description: "The instant from which on the key is refused. Absent: it does not expire." })),
    daily_units: t.Optional(t.Integer({ minimum: 1, description: "The key's own limit of units a day. Absent: it has none." })),
    remaining: t.Optional(t.Integer({ minimum: 0, description: "Units that are left of the key's own limit today. Present with `daily_units`." })),
    requests_per_second: t.Optional(t.Integer({ minimum: 1, description: "The key's own limit of requests a second. Absent: it has none." })),
  },
  closed,
)

/** Response of GET /v1/usage. */
export const Usage = t.Object(
  {
    tier: t.Integer({ minimum: 0 }),
    limits: t.Object(
      {
        requests_per_second: limitSchema("Requests a second."),
        in_flight: limitSchema("Requests at the same time."),
        daily_units: limitSchema("Units a day."),
        batch_items: limitSchema("Items a batch."),
        keys: limitSchema("Active keys of the account."),
      },
      closed,
    ),
    today: t.Object(
      {
        date: dateSchema,
        used: usedSchema,
        remaining: t.Union([t.Integer({ minimum: 0 }), t.Null()], { description: "Units that are left of the account's day. Null: unlimited." }),
        publishable: t.Object(
          {
            used: countSchema("Units that the account's publishable keys used, revoked ones included."),
            remaining: countSchema("Units that are left of the day for all publishable keys together."),
          },
          { ...closed, description: `The ${LIMITS.publishableUnitsPerDay} units that all publishable keys of the account share. They are apart from the account's, since anybody can forge an origin.` },
        ),
        resets_at: t.String({ format: "date-time", description: "When the next day begins: 00:00 UTC." }),
        ...activitySchemas,
        by_key: t.Array(KeyUsageSchema, { description: "The active keys, and revoked ones that were used today. What was tried on the dashboard is part of the account's `used`, and of no key's." }),
      },
      closed,
    ),
    daily: t.Array(t.Object({ date: dateSchema, used: usedSchema, ...activitySchemas }, closed), {
      minItems: LIMITS.usageDays,
      maxItems: LIMITS.usageDays,
      description: `The last ${LIMITS.usageDays} days, newest first, today included.`,
    }),
  },
  closed,
)
export type Usage = Static<typeof Usage>
