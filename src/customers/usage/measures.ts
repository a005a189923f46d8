import type { Category } from "../../contract/categories.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Recommendation } from "../../contract/policies.ts"

type MeasureSpec = { readonly description: string }

/** What is counted besides verdicts, by the name in the store. */
export const MEASURES = {
  used: { description: "Units that secret keys used: those of the account's daily quota." },
  publishable_used: { description: "Units that publishable keys used: all such keys of an account share a quota." },
  checks: { description: "Checks that were not deep, or had no deep evidence, outside of batches." },
  deep_checks: { description: "Deep checks." },
  batch_items: { description: "Items of batches." },
  feedback: { description: "Reports of wrong verdicts." },
  dry_runs: { description: "Questions what a list would cost." },
  rate_limited: { description: "Requests that got `rate_limited`." },
} as const satisfies Record<string, MeasureSpec>

/** The measure of each category: the checks, deep checks and batch items that resulted in it. */
export const CATEGORY_MEASURES = {
  business: "category:business",
  personal: "category:personal",
  disposable: "category:disposable",
  relay: "category:relay",
  education: "category:education",
  government: "category:government",
  invalid: "category:invalid",
  unknown: "category:unknown",
} as const satisfies { readonly [C in Category]: `category:${C}` }

/** The measure of each recommendation, of the same checks. A version before did not count them. */
export const RECOMMENDATION_MEASURES = {
  allow: "recommendation:allow",
  review: "recommendation:review",
  block: "recommendation:block",
} as const satisfies { readonly [R in Recommendation]: `recommendation:${R}` }

/** A name in the column `measure` of the table `usage`. */
export type Measure =
  | keyof typeof MEASURES
  | (typeof CATEGORY_MEASURES)[Category]
  | (typeof RECOMMENDATION_MEASURES)[Recommendation]

/** What is counted of a verdict. */
export type CountedVerdict = { readonly category: Category; readonly recommendation: Recommendation }

/** What a key did. Checks and items count only when they cost units; errors and test addresses do not. */
export type UsageEvent =
  | { readonly kind: "check" | "deep_check"; readonly verdict: CountedVerdict }
  /** A batch, by the verdict of each of its items, in any order. */
  | { readonly kind: "batch"; readonly verdicts: readonly CountedVerdict[] }
  /** A report of a wrong verdict, which checks a domain. */
  | { readonly kind: "feedback" }
  /** What a list would cost was asked for. */
  | { readonly kind: "dry_run" }
  | { readonly kind: "rate_limited" }

/** The key that caused an event. Its kind decides whether the units are the account's. */
export type MeteredKey = { readonly id: string; readonly kind: "secret" | "publishable" }

/** Stands for a key in checks on our own pages by a signed-in user. No key has this id; the units are the account's (DECISIONS 35). */
export const SITE_KEY = { id: "site", kind: "secret" } as const satisfies MeteredKey

/** All measures. */
export const MEASURE_NAMES = [
  ...Object.keys(MEASURES),
  ...Object.values(CATEGORY_MEASURES),
  ...Object.values(RECOMMENDATION_MEASURES),
] as readonly Measure[] // the keys are those of MEASURES

/** The index of a measure in `MEASURE_NAMES`, by which arrays of counts are indexed. */
export const measureIndex = (measure: Measure): number => MEASURE_NAMES.indexOf(measure)

/** By how much an event increments a measure, given by its index; always more than zero. */
export type MeasureIncrement = readonly [measureIndex: number, by: number]

/** The increments of an event that a key of this kind caused. Empty for a batch without items. */
export function measureIncrements(event: UsageEvent, keyKind: MeteredKey["kind"]): readonly MeasureIncrement[] {
  switch (event.kind) {
    case "check":
    case "deep_check":
      return CHECK_INCREMENTS[keyKind][event.kind][event.verdict.category][event.verdict.recommendation]
    case "batch": {
      const units = UNITS_INDEX[keyKind]
      const items = event.verdicts.length
      if (items === 0) return []
      return [
        [BATCH_ITEMS_INDEX, items],
        [units, items * BATCH_ITEM_UNITS],
        ...event.verdicts.flatMap(({ category, recommendation }): readonly MeasureIncrement[] => [
          [CATEGORY_INDEX[category], 1],
          [RECOMMENDATION_INDEX[recommendation], 1],
        ]),
      ]
    }
    case "feedback":
    case "dry_run":
      return UNIT_INCREMENTS[event.kind][keyKind]
    case "rate_limited":
      return RATE_LIMITED_INCREMENTS
  }
}

const CHECK_UNITS = 1
const BATCH_ITEM_UNITS = 1
const UNITS_INDEX = { secret: measureIndex("used"), publishable: measureIndex("publishable_used") } as const
const BATCH_ITEMS_INDEX = measureIndex("batch_items")

/** The increments of what costs a unit and gives no category. */
const unitIncrements = (measure: Measure): { readonly [K in MeteredKey["kind"]]: readonly MeasureIncrement[] } => ({
  secret: [
    [measureIndex(measure), 1],
    [UNITS_INDEX.secret, 1],
  ],
  publishable: [
    [measureIndex(measure), 1],
    [UNITS_INDEX.publishable, 1],
  ],
})
const UNIT_INCREMENTS = { feedback: unitIncrements("feedback"), dry_run: unitIncrements("dry_runs") }
const RATE_LIMITED_INCREMENTS: readonly MeasureIncrement[] = [[measureIndex("rate_limited"), 1]]

const byRecommendation = <T>(of: (recommendation: Recommendation) => T): { readonly [R in Recommendation]: T } => ({
  allow: of("allow"),
  review: of("review"),
  block: of("block"),
})

/** The index of each category's measure, and of each recommendation's. */
const CATEGORY_INDEX = mapCategories(CATEGORY_MEASURES, measureIndex)
const RECOMMENDATION_INDEX = byRecommendation(recommendation => measureIndex(RECOMMENDATION_MEASURES[recommendation]))

const verdictIncrements = (check: MeasureIncrement, units: MeasureIncrement) =>
  mapCategories(CATEGORY_MEASURES, category =>
    byRecommendation((recommendation): readonly MeasureIncrement[] => [
      check,
      units,
      [measureIndex(category), 1],
      [RECOMMENDATION_INDEX[recommendation], 1],
    ]),
  )

const checkIncrements = (units: number) => ({
  check: verdictIncrements([measureIndex("checks"), 1], [units, CHECK_UNITS]),
  deep_check: verdictIncrements([measureIndex("deep_checks"), 1], [units, LIMITS.deepCheckUnits]),
})

/** The increments of checks, made once, since nearly every event is a check. */
const CHECK_INCREMENTS = {
  secret: checkIncrements(UNITS_INDEX.secret),
  publishable: checkIncrements(UNITS_INDEX.publishable),
}

function mapCategories<T>(
  measures: typeof CATEGORY_MEASURES,
  of: (measure: Measure) => T,
): { readonly [C in Category]: T } {
  return {
    business: of(measures.business),
    personal: of(measures.personal),
    disposable: of(measures.disposable),
    relay: of(measures.relay),
    education: of(measures.education),
    government: of(measures.government),
    invalid: of(measures.invalid),
    unknown: of(measures.unknown),
  }
}
