import { type Static, Type as t } from "@sinclair/typebox"
import { CATEGORY_NAMES, type Category } from "./categories.ts"
import { LIMITS } from "./limits.ts"
import { CategorySchema } from "./result-schema.ts"
import { boundedText, describedAs, oneOf } from "./schema-parts.ts"

/** The categories that a report can name: all but `unknown`. */
export type ReportableCategory = Exclude<Category, "unknown">

const isReportable = (category: Category): category is ReportableCategory => category !== "unknown"

/** In the order of `CATEGORIES`. */
export const REPORTABLE_CATEGORIES: readonly ReportableCategory[] = CATEGORY_NAMES.filter(isReportable)

/** `duplicate`: the account sent the same report before. */
export const RECEIPT_STATUSES = ["received", "duplicate"] as const
export type ReceiptStatus = (typeof RECEIPT_STATUSES)[number]

const ReportableCategorySchema = oneOf("ReportableCategory", REPORTABLE_CATEGORIES)

/** Body of POST /v1/feedback. Unknown members are ignored. */
export const FeedbackBody = t.Object(
  {
    expected_category: describedAs(ReportableCategorySchema, "What the verdict should have been."),
    email: t.Optional(t.String({ description: "The address. Send exactly one of `email` and `domain`. Only the domain and the role word are stored." })),
    domain: t.Optional(t.String({ description: "A domain name." })),
    comment: t.Optional(boundedText(LIMITS.commentLengthMax, { description: "Why, in your own words. Anything that looks like an address is removed." })),
  },
  { $id: "FeedbackBody", examples: [{ domain: "example.com", expected_category: "business" }] },
)
export type FeedbackBody = Static<typeof FeedbackBody>

/** Response of POST /v1/feedback, with status 202. */
export const FeedbackReceipt = t.Object(
  {
    id: t.String({ description: "An id such as `fb_…`. A duplicate has the id of the first report." }),
    status: describedAs(oneOf("ReceiptStatus", RECEIPT_STATUSES), `\`duplicate\`: the account reported the same within ${LIMITS.feedbackDuplicateDays} days.`),
    domain: t.String(),
    current_category: describedAs(CategorySchema, "The category that a check gives now."),
    reported_category: describedAs(ReportableCategorySchema, "What the verdict should have been, as sent."),
  },
  { $id: "FeedbackReceipt", additionalProperties: false },
)
export type FeedbackReceipt = Static<typeof FeedbackReceipt>
