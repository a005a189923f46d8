/** @jsxImportSource preact */
import type { DomainExplanation } from "../../../check/explain-domain.ts"
import { REPORTABLE_CATEGORIES } from "../../../contract/feedback-schema.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Feedback, FeedbackStatus } from "../../../customers/feedback/feedback.ts"
import type { SignedInUser } from "../guards.ts"
import { DomainVerdict } from "../public/domain-lookup.tsx"
import { FlashMessage, FormError, SelectField, TextArea, TextField, Timestamp } from "../ui/forms.tsx"
import { Table, type TableColumn } from "../ui/table.tsx"
import { CATEGORY_LABELS } from "../ui/verdict/verdict-words.ts"
import { DashboardLayout } from "./dashboard-layout.tsx"

/** The flash messages of the page, by the name in its URL. */
export const FEEDBACK_FLASH = {
  received: "Thank you. Your report was received, and a person will look at it.",
  duplicate: `You sent the same report within the last ${LIMITS.feedbackDuplicateDays} days. Nothing was added.`,
} as const satisfies Record<string, string>

/** What the reporter reads of a status, and the colour of its pill. */
const STATUS_PILLS: { readonly [S in FeedbackStatus]: { readonly tone: string; readonly label: string } } = {
  received: { tone: "review", label: "waiting" },
  accepted: { tone: "allow", label: "accepted" },
  rejected: { tone: "block", label: "rejected" },
}

/** The values of the form. */
export type FeedbackFormValues = { readonly subject: string; readonly expected: string; readonly comment: string }

/** Error messages by field. */
export type FeedbackFormErrors = { readonly [F in keyof FeedbackFormValues]?: string }

type FeedbackPageProps = {
  readonly user: SignedInUser
  readonly reports: readonly Feedback[]
  /** The path of the next page; null: there are no older reports. */
  readonly olderPath: string | null
  readonly isFirstPage: boolean
  readonly flash: string | null
  readonly values: FeedbackFormValues
  readonly errors: FeedbackFormErrors
  /** What the lists say about the domain in the form. Null: it names none, or they say nothing. */
  readonly lookup: DomainExplanation | null
  /** How many sources the lists have. */
  readonly sourceCount: number
  /** Why the report was refused, whatever its fields say; null: it was not. */
  readonly refusal?: string | null
}

/** The form for a report, and the account's reports with their status. */
export function FeedbackPage(props: FeedbackPageProps) {
  const { user, reports, olderPath, isFirstPage, flash, values, errors, lookup, sourceCount, refusal = null } = props
  const isFaulty = Object.keys(errors).length > 0
  return (
    <DashboardLayout route="feedback" title="Reports" user={user}>
      <FlashMessage message={flash} />
      <FormError message={isFaulty ? "Your report was not sent. Fix the marked fields and try again." : refusal} />
      <p class="lead">Was a verdict wrong? If we accept your report, it changes for everyone. A report costs 1 unit.</p>
      {lookup === null ? null : (
        <DomainVerdict lookup={lookup} sourceCount={sourceCount} listsPath={ROUTES.docsLists.path} />
      )}
      <ReportForm values={values} errors={errors} />
      <h2 id="sent">Your reports</h2>
      {reports.length === 0 ? (
        <p>{isFirstPage ? "You have not sent any reports yet." : "There are no older reports."}</p>
      ) : (
        <ReportTable reports={reports} />
      )}
      <p class="actions">
        {isFirstPage ? null : <a href={ROUTES.feedback.path}>Latest reports</a>}
        {olderPath === null ? null : <a href={olderPath}>Older reports</a>}
      </p>
    </DashboardLayout>
  )
}

const CHOOSE_OPTION = { value: "", label: "Choose one" } as const

function ReportForm({ values, errors }: Pick<FeedbackPageProps, "values" | "errors">) {
  return (
    <form class="form" method="post" action={ROUTES.postFeedbackForm.path}>
      <TextField
        name="subject"
        label="Domain or email address"
        value={values.subject}
        maxLength={LIMITS.addressBytesMax}
        required
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
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

const REPORT_COLUMNS = [
  { name: "Domain", kind: "text" },
  { name: "State", kind: "pill", onPhone: "first" },
  { name: "Was", kind: "pill" },
  { name: "Should be", kind: "pill", onPhone: "labelled" },
  { name: "Comment", kind: "text", onPhone: "hidden" },
  { name: "Sent", kind: "time" },
] as const satisfies readonly TableColumn[]

function ReportTable({ reports }: Pick<FeedbackPageProps, "reports">) {
  return (
    <Table caption="Your reports" columns={REPORT_COLUMNS}>
      {reports.map(({ id, domain, currentCategory, reportedCategory, status, comment, createdAtMs, decidedAtMs }) => (
        <tr key={id}>
          <th scope="row">
            <code>{domain}</code>
          </th>
          <td>
            <span class={`pill ${STATUS_PILLS[status].tone}`}>{STATUS_PILLS[status].label}</span>
          </td>
          <td>{currentCategory}</td>
          <td>{reportedCategory}</td>
          <td>{comment}</td>
          <td>
            <Timestamp atMs={decidedAtMs ?? createdAtMs} />
          </td>
        </tr>
      ))}
    </Table>
  )
}
