import { type Static, Type as t } from "@sinclair/typebox"
import { CALLBACK_LIMITS } from "./callbacks.ts"
import { JOB_FORMAT_NAMES, JOB_LIMITS, JOB_REASON_NAMES, LISTED_JOB_STATES } from "./jobs.ts"
import { POLICY_DEFAULT, RECOMMENDATIONS } from "./policies.ts"
import { DELIMITER_NAMES } from "./reading.ts"
import { RESULT_COLUMN_NAMES, RESULT_COLUMNS } from "./result-columns.ts"
import { PolicySchema } from "./result-schema.ts"
import { ROUTES } from "./routes.ts"
import { ROW_PROBLEM_NAMES, TOLD_PROBLEMS_MAX } from "./row-counts.ts"
import { boundedText, describedAs, oneOf } from "./schema-parts.ts"
import { ByCategorySchema, ByRecommendationSchema } from "./usage-schema.ts"

const closed = ($id: string) => ({ $id, additionalProperties: false }) as const

const nullableInstant = (description: string) => t.Union([t.String({ format: "date-time" }), t.Null()], { description })
const count = (description: string) => t.Integer({ minimum: 0, description })

/** The tables of `contract/jobs.ts` as schemas. */
export const JobStateSchema = oneOf("JobState", LISTED_JOB_STATES)
export const JobReasonSchema = oneOf("JobReason", JOB_REASON_NAMES)
export const JobFormatSchema = oneOf("JobFormat", JOB_FORMAT_NAMES)

/** How a list is read. */
const ReadingSchema = t.Object(
  {
    format: JobFormatSchema,
    encoding: t.String({ description: "The encoding of the list, as the Encoding Standard names it." }),
    delimiter: t.Union([t.String(), t.Null()], { description: "The character between the cells of a CSV list. Null in other formats." }),
    header_line: t.Union([t.Integer({ minimum: 1 }), t.Null()], { description: "The line with the names of the columns. Null: there is none." }),
    lines_above: count("Lines above the header, or above the first row. They are no rows, and stand above the results as they are."),
    column_number: t.Union([t.Integer({ minimum: 1 }), t.Null()], { description: "The number of the column with the inputs. Null: the list has no columns." }),
    kind: t.Union([t.Literal("email"), t.Literal("domain"), t.Literal("url"), t.Null()], { description: "What that column holds by its name or its cells. Null: either of them." }),
  },
  { ...closed("ListReading"), description: "How a list is read." },
)
export type ListReadingBody = Static<typeof ReadingSchema>

/** A problem of the rows of a list. */
const ProblemSchema = t.Object(
  {
    reason: oneOf("RowProblem", ROW_PROBLEM_NAMES),
    rows: t.Integer({ minimum: 1, description: "How many rows have it." }),
    first_row: t.Integer({ minimum: 1, description: "The number of the first of them, without the header." }),
  },
  { ...closed("ListProblem"), description: "A reason for which rows are not `allow`: it decides their category, or raises their recommendation. `unreadable`: the row could not be read." },
)

/** A job. Response of POST /v1/jobs and GET /v1/jobs/{id}. */
export const JobBody = t.Object(
  {
    id: t.String({ description: "An id such as `job_…`." }),
    name: t.Union([t.String(), t.Null()], { description: "The name that you gave it. Null: none." }),
    state: JobStateSchema,
    reason: t.Union([JobReasonSchema, t.Null()], { description: "Why it is `stopped` or `failed`. Null in every other state." }),
    format: JobFormatSchema,
    column: t.Union([t.String(), t.Null()], { description: "The column or member that you named. Null: it is detected by its name." }),
    policy: PolicySchema,
    workspace: t.Boolean({ description: "Whether suite_b tenants are looked up." }),
    canonical: t.Boolean({ description: "Whether `canonical_email` was asked for." }),
    duplicates: t.Boolean({ description: "Whether the results have `duplicate_of`." }),
    columns: t.Union([t.Array(oneOf("ResultColumn", RESULT_COLUMN_NAMES)), t.Null()], { description: "The columns that you named for results of CSV. Null: the usual ones." }),
    callback: t.Union([t.String(), t.Null()], { description: "The URL that gets a callback when the job is done, stops or fails, as it is requested. Null: none." }),
    rows: t.Object(
      {
        total: count("Rows of the list, without the header."),
        done: count("Rows that have their results."),
        unreadable: count("Rows that could not be read. They are `invalid`."),
        degraded: count("Rows whose verdict comes from lists alone, because DNS did not answer."),
        skipped: count("Rows without an input: their cell is empty, or says so. They have no verdict and cost nothing."),
        cleaned: count("Rows whose cell is no input as it stands, and of which what is meant was checked."),
        several: count("Of the cleaned rows those with several addresses. The first was checked."),
        wide: count("Rows with more filled cells than the list has columns."),
        duplicates: t.Union([t.Integer({ minimum: 0 }), t.Null()], {
          description: `Rows with the same mailbox or domain as an earlier one. Null: you did not ask for them. Of the inputs of a list ${JOB_LIMITS.distinctInputsMax.toLocaleString("en").replaceAll(",", " ")} different ones are remembered, and fewer by a server with less than a gigabyte of memory.`,
        }),
      },
      closed("JobRows"),
    ),
    problems: t.Array(ProblemSchema, { maxItems: TOLD_PROBLEMS_MAX, description: `Why rows are not \`allow\`: the ${TOLD_PROBLEMS_MAX} commonest reasons, the commonest first.` }),
    reading: t.Union([ReadingSchema, t.Null()], { description: "How the list is read. Null: it has not arrived." }),
    by_category: describedAs(ByCategorySchema, "How many rows are of each category, without test addresses."),
    by_recommendation: ByRecommendationSchema,
    units_used: count("One unit for each row that is done. Test addresses and rows without an input cost nothing."),
    results_bytes: count("Bytes of the results so far."),
    rows_per_second: t.Union([t.Number({ minimum: 0 }), t.Null()], { description: "Rows done per second of work. Null: none is done." }),
    seconds_left: t.Union([t.Integer({ minimum: 0 }), t.Null()], { description: "About how long it still takes. Null: not known, or it is not running." }),
    created_at: t.String({ format: "date-time" }),
    started_at: nullableInstant("When its first row was checked. Null: not yet."),
    ended_at: nullableInstant("When it was `done` or `failed`. Null: not yet."),
    expires_at: nullableInstant("When the list and its results are deleted. Null: it has not ended."),
  },
  closed("Job"),
)
export type JobBody = Static<typeof JobBody>

/** Response of GET /v1/jobs. */
export const JobListBody = t.Object({ jobs: t.Array(JobBody, { description: `Your jobs, the newest first. There are at most ${JOB_LIMITS.jobsPerAccountMax}.` }) }, closed("JobList"))
export type JobListBody = Static<typeof JobListBody>

/** Response of POST /v1/jobs with `dry`. */
export const JobEstimateBody = t.Object(
  {
    rows: count("Rows of the list, without the header."),
    rows_skipped: count("Of these, rows without an input: their cell is empty, or says so. They cost nothing."),
    rows_cleaned: count("Rows whose cell is no input as it stands, and of which what is meant is checked."),
    unique_domains: count("Domains, each counted once. Exact up to 16,384. Larger counts are estimates: two of three are within 1.1%, and almost all within 3.5%."),
    units_needed: count("Units that the whole list costs: one for each row with an input that is no test address."),
    units_left: t.Union([t.Integer({ minimum: 0 }), t.Null()], { description: "Units left today, after this dry run. Null: unlimited, or not known." }),
    columns: t.Array(t.String(), { description: "The names of the columns." }),
    other_columns: t.Array(t.Integer({ minimum: 1 }), { description: "The numbers of other columns that look like the one with the inputs." }),
    reading: ReadingSchema,
  },
  closed("JobEstimate"),
)
export type JobEstimateBody = Static<typeof JobEstimateBody>

/** Query of POST /v1/jobs. */
export const JobQuery = t.Object({
  format: t.Optional(describedAs(JobFormatSchema, "The format of the list. Default: that of its file's name, or of the `Content-Type` `text/csv` or `application/x-ndjson`, else detected.")),
  column: t.Optional(boundedText(JOB_LIMITS.columnNameLengthMax, { description: "The column of a CSV list, by name or number, or the member of NDJSON, with the inputs. A name that looks like an address is refused, since it is stored. Default: detected by its name." })),
  header: t.Optional(t.Boolean({ description: "Set to false if a CSV list has no line with the names of its columns. Default: true, and the line is detected among the first 20." })),
  delimiter: t.Optional(t.String({ minLength: 1, maxLength: 9, description: `The character between the cells of a CSV list, or one of the words ${Object.keys(DELIMITER_NAMES).join(", ")}. Default: detected.` })),
  skip: t.Optional(t.Integer({ minimum: 0, maximum: JOB_LIMITS.skippedLinesMax, description: "So many lines stand above the header, or above the first row. Default: detected." })),
  encoding: t.Optional(boundedText(40, { description: "The encoding of the list, such as `utf-16le` or `windows-1252`. Default: detected by a byte order mark, else UTF-8 if that is valid, else windows-1252." })),
  sheet: t.Optional(boundedText(JOB_LIMITS.columnNameLengthMax, { minLength: 1, description: "The sheet of an .xlsx workbook, by name or number. Default: the first that is not hidden." })),
  force: t.Optional(t.Boolean({ description: "Set to true to check a list too in whose first rows nothing looks like an address, a domain or a URL. Default: false, so such a list is refused." })),
  policy: t.Optional(describedAs(PolicySchema, `How strict the recommendations are. Default: \`${POLICY_DEFAULT}\`.`)),
  workspace: t.Optional(t.Boolean({ description: "Set to false to skip the suite_b tenant look-ups. Default: true." })),
  canonical: t.Optional(t.Boolean({ description: "Set to true to get a column `canonical_email` in the results of CSV: the mailbox behind the address, as a check has it. NDJSON always has it. Default: false." })),
  duplicates: t.Optional(t.Union([t.Boolean(), t.Literal("mark")], { description: "Set to `mark` or true to get `duplicate_of` in the results: the number of the first row with the same mailbox or domain. Default: false." })),
  columns: t.Optional(
    boundedText(JOB_LIMITS.columnsTextLengthMax, {
      minLength: 1,
      description: `The columns of results of CSV beside those of the list, separated by commas: ${RESULT_COLUMN_NAMES.join(", ")}. They stand in this order. DNS is asked for what they show and the verdict needs. Default: the usual ones, ${RESULT_COLUMN_NAMES.filter(name => RESULT_COLUMNS[name].isUsual).join(", ")}.`,
    }),
  ),
  name: t.Optional(boundedText(JOB_LIMITS.nameLengthMax, { minLength: 1, description: "A name of yours for the job. Anything that looks like an address is removed." })),
  callback: t.Optional(
    boundedText(CALLBACK_LIMITS.urlLengthMax, {
      minLength: 1,
      description: `A URL of https that gets a callback when the job is done, stops or fails. It must hold no email address, since it is stored. You need a callback secret first: ${ROUTES.postCallbackSecret.method} ${ROUTES.postCallbackSecret.path}.`,
    }),
  ),
  dry: t.Optional(t.Boolean({ description: `Set to true to see what the list would cost. Nothing is stored or checked then. It costs ${JOB_LIMITS.dryRunUnits} unit, and counts as an upload while it lasts. Default: false.` })),
})
export type JobQuery = Static<typeof JobQuery>

/** Query of GET /v1/jobs/{id}/results. */
export const JobResultsQuery = t.Object({
  only: t.Optional(t.String({ description: `Only rows with one of these recommendations, separated by commas: ${RECOMMENDATIONS.join(", ")}. Default: all rows.` })),
  format: t.Optional(
    t.Literal("excel", {
      description: "For a spreadsheet: the results begin with a byte order mark, and cells that it would run as formulas begin with an apostrophe. Only where the results are a table. Default: the cells as they are, with a byte order mark if the list has one.",
    }),
  ),
})

/** Response of POST /v1/callback-secret. */
export const CallbackSecretBody = t.Object(
  {
    secret: t.String({ description: "The secret that signs your callbacks, such as `whsec_…`. It is shown here only." }),
    former_until: nullableInstant(`Until when your former secret signs too, ${CALLBACK_LIMITS.formerSecretHours} hours from now. Null: you had none.`),
  },
  closed("CallbackSecret"),
)
export type CallbackSecretBody = Static<typeof CallbackSecretBody>
