/** @jsxImportSource preact */
import { formatInstant } from "../../../base/time.ts"
import type { DomainExplanation } from "../../../check/explain-domain.ts"
import { REPORTABLE_CATEGORIES } from "../../../contract/feedback-schema.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Feedback, FeedbackStatus } from "../../../customers/feedback/feedback.ts"
import type { SignedInUser } from "../guards.ts"
import { DomainVerdict } from "../public/domain-lookup.tsx"
import { DateStamp, FlashMessage, FormError, SelectField, TextArea, TextField, VERBATIM } from "../ui/forms.tsx"
import { Pagination, type ResultPage } from "../ui/pagination.tsx"
import { Panel } from "../ui/panels.tsx"
import { type CellColumn, RowTable } from "../ui/table.tsx"
import { CATEGORY_LABELS } from "../ui/verdict/verdict-words.ts"
import { DashboardLayout } from "./dashboard-layout.tsx"

/** The flash messages of the page, by the name in its URL. */
export const FEEDBACK_FLASH = {
  received: "Thank you. Your report was received, and a person will look at it.",
  duplicate: `You sent the same report within the last ${LIMITS.feedbackDuplicateDays} days. Nothing was added.`,
} as const satisfies Record<string, string>

/** The values of the form. */
export type FeedbackFormValues = { readonly subject: string; readonly expected: string; readonly comment: string }

/** Error messages by field. */
export type FeedbackFormErrors = { readonly [F in keyof FeedbackFormValues]?: string }

type FeedbackPageProps = {
  readonly user: SignedInUser
  readonly reports: ResultPage<Feedback>
  readonly isFirstPage: boolean
  readonly flash: string | null
  readonly values: FeedbackFormValues
  readonly errors: FeedbackFormErrors
  /** What the lists say about the domain in the form. Null: it names none, or they say nothing. */
  readonly lookup: DomainExplanation | null
  /** How many sources the lists have. */
  readonly sourceCount: number
  /** Why the report was refused, whatever its fields say; null: it was not. */
  readonly refusal: string | null
}

/** The form for a report, and the account's reports with their state. */
export function FeedbackPage(props: FeedbackPageProps) {
  const { user, reports, isFirstPage, flash, values, errors, lookup, sourceCount, refusal } = props
  const { rows, lastRow } = reports
  const isFaulty = Object.keys(errors).length > 0
  return (
    <DashboardLayout route="feedback" title="Reports" user={user}>
      <FlashMessage message={flash} />
      <FormError message={isFaulty ? "Your report was not sent. Fix the marked fields and try again." : refusal} />
      {lookup === null ? null : (
        <DomainVerdict lookup={lookup} sourceCount={sourceCount} listsPath={ROUTES.docsLists.path} heading="h2" />
      )}
      <Panel title="Report a wrong verdict">
        <p>If we accept your report, the verdict changes for everyone. A report costs 1 unit.</p>
        <ReportForm values={values} errors={errors} />
      </Panel>
      <Panel title="Your reports" id="sent">
        {rows.length === 0 ? (
          <p class="because">
            {isFirstPage ? "Reports that you send appear here with our decision." : "There are no older reports."}
          </p>
        ) : (
          <RowTable caption="Your reports" columns={REPORT_COLUMNS} rows={rows} />
        )}
        {rows.some(({ status }) => status === "rejected") ? (
          <p class="hint">We reject a report when the evidence supports the present verdict.</p>
        ) : null}
        <Pagination
          path={ROUTES.feedback.path}
          query={{}}
          after={lastRow && reportCursor(lastRow)}
          isFirstPage={isFirstPage}
        />
      </Panel>
    </DashboardLayout>
  )
}

/** The position of a report in the account's list, as a query parameter. */
const reportCursor = ({ createdAtMs, id }: Feedback): string => `${createdAtMs}-${id}`

const CHOOSE_OPTION = { value: "", label: "Choose one" } as const

function ReportForm({ values, errors }: Pick<FeedbackPageProps, "values" | "errors">) {
  return (
    <form class="form" method="post" action={ROUTES.postFeedbackForm.path} noValidate>
      <TextField
        name="subject"
        label="Domain or email address"
        value={values.subject}
        maxLength={LIMITS.addressBytesMax}
        required
        {...VERBATIM}
        error={errors.subject ?? null}
        hint="We store only the domain of an address, and its role, such as support."
      />
      <SelectField
        name="expected"
        label="What it should be"
        selected={values.expected}
        error={errors.expected ?? null}
        options={[CHOOSE_OPTION, ...REPORTABLE_CATEGORIES.map(value => ({ value, label: CATEGORY_LABELS[value] }))]}
      />
      <TextArea
        name="comment"
        label="Why (optional)"
        value={values.comment}
        maxLength={LIMITS.commentLengthMax}
        error={errors.comment ?? null}
        hint={`Up to ${LIMITS.commentLengthMax} characters. We remove anything that looks like an email address.`}
      />
      <button type="submit">Send report</button>
    </form>
  )
}

/** The columns of a table of reports: what is reported and why, and what came of it. */
export const reportColumns = (
  domain: CellColumn<Feedback>["cell"],
  state: Pick<CellColumn<Feedback>, "name" | "cell" | "onPhone">,
): readonly CellColumn<Feedback>[] => [
  {
    ...{ name: "Domain", kind: "text" },
    cell: report => (
      <>
        {domain(report)}
        <Comment report={report} />
      </>
    ),
  },
  { name: "Reported", kind: "pill", cell: report => <ReportedChange report={report} /> },
  { name: "Sent", kind: "time", cell: ({ createdAtMs }) => <DateStamp atMs={createdAtMs} /> },
  { ...state, kind: "pill" },
]

/** The category that was given, and the one that it should be. */
export const ReportedChange = ({ report: { currentCategory, reportedCategory } }: { readonly report: Feedback }) => (
  <>
    {CATEGORY_LABELS[currentCategory]} <span aria-hidden="true">→</span>
    <span class="unseen">should be</span> {CATEGORY_LABELS[reportedCategory]}
  </>
)

/** A component, so that the title of its cell is the domain alone. */
const Comment = ({ report: { comment } }: { readonly report: Feedback }) =>
  comment === null || comment === "" ? null : <p dir="auto">{comment}</p>

const REPORT_COLUMNS = reportColumns(({ domain }) => <bdi>{domain}</bdi>, {
  ...{ name: "State", onPhone: "first" },
  cell: report => <ReportState report={report} />,
})

const STATE_TONES: { readonly [S in FeedbackStatus]: string } = {
  received: "review",
  accepted: "allow",
  rejected: "block",
}

/** Whether a report waits, or was accepted or rejected. The title of a decision has its time. */
export function ReportState({ report: { status, decidedAtMs } }: { readonly report: Feedback }) {
  const title = decidedAtMs === null ? undefined : formatInstant(decidedAtMs)
  return (
    <span class={`pill ${STATE_TONES[status]}`} title={title}>
      {status === "received" ? "waiting" : status}
    </span>
  )
}
