/** @jsxImportSource preact */
import { CATEGORIES } from "../../../contract/categories.ts"
import { REPORTABLE_CATEGORIES } from "../../../contract/feedback-schema.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Feedback, FeedbackStatus } from "../../../customers/feedback/feedback.ts"
import type { SignedInUser } from "../guards.ts"
import { FlashMessage, FormError, SelectField, TextArea, TextField, Timestamp } from "../ui/forms.tsx"
import { Table } from "../ui/layout.tsx"
import { DashboardLayout } from "./dashboard-layout.tsx"

/** The flash messages of the page, by the name in its URL. */
export const FEEDBACK_FLASH = {
  received: "Thank you. Your report was received, and a person will look at it.",
  duplicate: `You sent the same report within the last ${LIMITS.feedbackDuplicateDays} days. Nothing was added.`,
} as const satisfies Record<string, string>

/** The meaning of each status for the reporter, and the CSS class of its badge. */
const STATUS_BADGES: { readonly [S in FeedbackStatus]: { readonly mark: string; readonly meaning: string } } = {
  received: { mark: "review", meaning: "waiting for review" },
  accepted: { mark: "allow", meaning: "checks use it, within a minute" },
  rejected: { mark: "block", meaning: "the verdict stays as it is" },
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
  /** Why the report was refused, whatever its fields say; null: it was not. */
  readonly refusal?: string | null
}

/** The form for a report, and the account's reports with their status. */
export function FeedbackPage(props: FeedbackPageProps) {
  const { user, reports, olderPath, isFirstPage, flash, values, errors, refusal = null } = props
  const isFaulty = Object.keys(errors).length > 0
  return (
    <DashboardLayout route="feedback" title="Feedback" user={user}>
      <FlashMessage message={flash} />
      <FormError message={isFaulty ? "Your report was not sent. Fix the marked fields and try again." : refusal} />
      <p class="lead">
        Tell us about a wrong verdict. If we accept your report, the verdict changes for everyone. A report costs 1
        unit.
      </p>
      <h2 id="report">Report a wrong verdict</h2>
      <ReportForm values={values} errors={errors} />
      <h2 id="sent">Reports that you sent</h2>
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
        options={[CHOOSE_OPTION, ...REPORTABLE_CATEGORIES.map(value => ({ value, label: value }))]}
        hint={REPORTABLE_CATEGORIES.map(category => (
          <span key={category} class="line">
            <code>{category}</code>: {CATEGORIES[category].description}
          </span>
        ))}
      />
      <TextArea
        name="comment"
        label="Why (optional)"
        value={values.comment}
        maxLength={LIMITS.commentLengthMax}
        error={errors.comment ?? null}
        hint={`Up to ${LIMITS.commentLengthMax} characters. We remove anything that looks like an email address.`}
      />
      <button type="submit">Send the report</button>
    </form>
  )
}

const REPORT_COLUMNS = ["Domain", "Was", "Should be", "State", "Comment", "Sent"]

function ReportTable({ reports }: Pick<FeedbackPageProps, "reports">) {
  return (
    <Table caption="Reports that you sent" columns={REPORT_COLUMNS}>
      {reports.map(({ id, domain, currentCategory, reportedCategory, status, comment, createdAtMs, decidedAtMs }) => (
        <tr key={id}>
          <th scope="row" class="name">
            <code>{domain}</code>
          </th>
          <td>{currentCategory}</td>
          <td>{reportedCategory}</td>
          <td>
            <span class={`advice ${STATUS_BADGES[status].mark}`}>{status}</span>
            <p class="hint">
              {STATUS_BADGES[status].meaning}
              {decidedAtMs === null ? null : (
                <>
                  {" "}
                  (<Timestamp atMs={decidedAtMs} />)
                </>
              )}
            </p>
          </td>
          <td>{comment ?? "–"}</td>
          <td>
            <Timestamp atMs={createdAtMs} />
          </td>
        </tr>
      ))}
    </Table>
  )
}
