/** @jsxImportSource preact */
import { CATEGORIES, type Category } from "../../../contract/categories.ts"
import { REPORTABLE_CATEGORIES } from "../../../contract/feedback-schema.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Feedback, FeedbackStatus } from "../../../customers/feedback/feedback.ts"
import { Choice, Done, Instant, Refused, TextArea, TextField } from "../fields.tsx"
import { Table } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"
import { DashboardLayout } from "./dashboard-layout.tsx"

/** What may have been done just before the page is shown, by its name in the page's URL. */
export const FEEDBACK_DEEDS = {
  received: "Thank you. Your report was received, and a person will look at it.",
  duplicate: `You reported the same of this domain within the last ${LIMITS.feedbackDuplicateDays} days. That report stands; nothing was added.`,
} as const satisfies Record<string, string>

/** What each state of a report means to who sent it, and the class of its mark. */
const STATES: { readonly [S in FeedbackStatus]: { readonly mark: string; readonly says: string } } = {
  received: { mark: "review", says: "waits to be looked at" },
  accepted: { mark: "allow", says: "checks say so now, or will within a minute" },
  rejected: { mark: "block", says: "the verdict stays as it is" },
}

/** What was typed into the form. */
export type FeedbackDraft = { readonly subject: string; readonly expected: string; readonly comment: string }

/** Faults by field. */
export type FeedbackFaults = { readonly [F in keyof FeedbackDraft]?: string }

type Props = {
  readonly visitor: Visitor
  readonly reports: readonly Feedback[]
  /** Where the page of older reports is; null: there are none. */
  readonly olderPath: string | null
  readonly isFirstPage: boolean
  readonly done: string | null
  readonly draft: FeedbackDraft
  readonly faults: FeedbackFaults
}

/** Reports that the account sent and what became of them, and the form for another. */
export function FeedbackPage({ visitor, reports, olderPath, isFirstPage, done, draft, faults }: Props) {
  const isFaulty = Object.keys(faults).length > 0
  return (
    <DashboardLayout route="feedback" title="Feedback" visitor={visitor}>
      <Done says={done} />
      <Refused says={isFaulty ? "Nothing was sent yet. Please mend what is marked below." : null} />
      <p class="lead">
        Tell us where a verdict is wrong. A report that is accepted corrects the verdict for everybody.
      </p>
      <h2 id="report">Report a wrong verdict</h2>
      <ReportForm draft={draft} faults={faults} />
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

const CHOOSE = { value: "", label: "Choose one" } as const

function ReportForm({ draft, faults }: Pick<Props, "draft" | "faults">) {
  return (
    <form class="form" method="post" action={ROUTES.postFeedbackForm.path}>
      <TextField
        name="subject"
        label="Domain or email address"
        value={draft.subject}
        maxLength={LIMITS.addressOctetsMax}
        required
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        fault={faults.subject ?? null}
        hint="Of an address only its domain is kept, and whether it names a role such as support."
      />
      <Choice
        name="expected"
        label="What it should be"
        chosen={draft.expected}
        fault={faults.expected ?? null}
        options={[CHOOSE, ...REPORTABLE_CATEGORIES.map(value => ({ value, label: categoryWords(value) }))]}
      />
      <TextArea
        name="comment"
        label="Why (optional)"
        value={draft.comment}
        maxLength={LIMITS.commentLengthMax}
        fault={faults.comment ?? null}
        hint={`Up to ${LIMITS.commentLengthMax} characters. Anything that looks like an email address is left out.`}
      />
      <button type="submit">Send the report</button>
    </form>
  )
}

const categoryWords = (category: Category): string => `${category}: ${CATEGORIES[category].says}`

const COLUMNS = ["Domain", "Was", "Should be", "State", "Comment", "Sent"]

function ReportTable({ reports }: Pick<Props, "reports">) {
  return (
    <Table caption="Reports that you sent" columns={COLUMNS}>
      {reports.map(({ id, domain, currentCategory, reportedCategory, status, comment, createdAtMs, decidedAtMs }) => (
        <tr key={id}>
          <th scope="row">
            <code>{domain}</code>
          </th>
          <td>{currentCategory}</td>
          <td>{reportedCategory}</td>
          <td>
            <span class={`advice ${STATES[status].mark}`}>{status}</span>
            <p class="hint">
              {STATES[status].says}
              {decidedAtMs === null ? null : (
                <>
                  {" "}
                  (<Instant atMs={decidedAtMs} />)
                </>
              )}
            </p>
          </td>
          <td>{comment ?? "–"}</td>
          <td>
            <Instant atMs={createdAtMs} />
          </td>
        </tr>
      ))}
    </Table>
  )
}
