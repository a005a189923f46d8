/** @jsxImportSource preact */
import type { DomainLookUp } from "../../../check/look-up.ts"
import type { Category } from "../../../contract/categories.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import type { Feedback, FeedbackStatus, OtherReports } from "../../../customers/feedback/feedback.ts"
import { ActionButton, Done, Instant, Refused } from "../fields.tsx"
import type { Visitor } from "../signed-in.ts"
import { AdminLayout, counted, Facts } from "./admin-layout.tsx"
import { adminPaths } from "./paths.ts"
import { CheckSection, ListsSection } from "./report-evidence.tsx"

/** What may have been done just before the page is shown, by its name in the page's URL. */
export const REPORT_DEEDS = {
  accepted: "The report is accepted. Its domain is corrected everywhere within a minute.",
  "accepted-before": "The report had been accepted before; nothing changed.",
  rejected: "The report is rejected. A correction that it made is taken back everywhere within a minute.",
  "rejected-before": "The report had been rejected before; nothing changed.",
} as const satisfies Record<string, string>

/** The correction that a domain has. */
export type ShownCorrection = {
  readonly category: Category
  readonly feedbackId: string
  /** The report that made it went with its account. */
  readonly isOrphan: boolean
}

/** A report and the evidence for its domain. */
export type ShownReport = {
  readonly report: Feedback
  readonly account: Account
  /** Null: the domain has none of its own. */
  readonly correction: ShownCorrection | null
  readonly others: readonly OtherReports[]
  /** Null: the lists read no domain in it. */
  readonly listed: DomainLookUp | null
  /** What the account that sent the report is told of its domain now. */
  readonly checked: CheckResult
}

type Props = {
  readonly visitor: Visitor
  readonly shown: ShownReport
  readonly done: string | null
  /** Why a decision was not taken; null: none was refused. */
  readonly refused: string | null
}

/** One report, the evidence for its domain, and the decision. */
export function ReportPage({ visitor, shown, done, refused }: Props) {
  const { report, correction, listed, checked } = shown
  return (
    <AdminLayout route="adminReport" section="adminFeedback" title={`Report of ${report.domain}`} visitor={visitor}>
      <Done says={done} />
      <Refused says={refused} />
      <ReportFacts shown={shown} />
      <DecisionSection report={report} />
      <CorrectionSection report={report} correction={correction} />
      <CheckSection checked={checked} />
      <ListsSection listed={listed} />
    </AdminLayout>
  )
}

function ReportFacts({ shown: { report, account, others } }: Pick<Props, "shown">) {
  const { id, domain, currentCategory, reportedCategory, roleWord, comment, status, createdAtMs, decidedAtMs } = report
  return (
    <Facts
      facts={[
        ["Id", <code>{id}</code>],
        ["Domain", <code>{domain}</code>],
        ["The verdict was", currentCategory],
        ["It should be", <strong>{reportedCategory}</strong>],
        ["Role word", roleWord === null ? "none" : <code>{roleWord}</code>],
        ["Comment", comment ?? "none"],
        ["Sent by", <a href={adminPaths.account(account.id)}>{account.email}</a>],
        ["Sent", <Instant atMs={createdAtMs} />],
        [
          "Status",
          <>
            {STATUS_WORDS[status]}
            {decidedAtMs === null ? null : (
              <>
                {" "}
                <Instant atMs={decidedAtMs} />
              </>
            )}
          </>,
        ],
        ["Other accounts", otherWords(others, report)],
      ]}
    />
  )
}

const STATUS_WORDS: { readonly [S in FeedbackStatus]: string } = {
  received: "waits for a decision",
  accepted: "accepted",
  rejected: "rejected",
}

/** How many other accounts say the same, and how many something else. */
function otherWords(others: readonly OtherReports[], { reportedCategory }: Feedback): string {
  if (others.length === 0) return "none reported this domain"
  const words = others.map(({ category, accountCount }) => {
    const says = category === reportedCategory ? `the same, ${category}` : category
    return `${counted(accountCount, "says", "say")} ${says}`
  })
  return words.join("; ")
}

function DecisionSection({ report: { id, domain, status, reportedCategory } }: { readonly report: Feedback }) {
  // What the page shows is what is decided about: somebody else may have decided meanwhile.
  const fields = { seen: status }
  return (
    <section aria-labelledby="decision">
      <h2 id="decision">Decision</h2>
      <p>
        {status === "accepted"
          ? "To reject the report after all takes back the correction that it made."
          : `To accept the report makes ${domain} and every name below it ${reportedCategory} for all accounts.`}
      </p>
      <div class="actions">
        {status === "accepted" ? null : (
          <ActionButton path={adminPaths.accept(id)} fields={fields} label="Accept the report" />
        )}
        {status === "rejected" ? null : (
          <ActionButton path={adminPaths.reject(id)} fields={fields} label="Reject the report" isDangerous />
        )}
      </div>
    </section>
  )
}

type CorrectionProps = { readonly report: Feedback; readonly correction: ShownCorrection | null }

function CorrectionSection({ report, correction }: CorrectionProps) {
  return (
    <section aria-labelledby="correction">
      <h2 id="correction">Correction</h2>
      {correction === null ? (
        <p>The domain has no correction of its own.</p>
      ) : (
        <p>
          The domain is corrected to <strong>{correction.category}</strong>,{" "}
          <CorrectionMaker {...{ report, correction }} />
        </p>
      )}
      {correction?.isOrphan === true ? (
        <ActionButton
          path={adminPaths.reject(correction.feedbackId)}
          fields={{ seen: "accepted" }}
          label="Take the correction back"
          isDangerous
        />
      ) : null}
    </section>
  )
}

function CorrectionMaker({ report, correction }: { readonly report: Feedback; readonly correction: ShownCorrection }) {
  if (correction.feedbackId === report.id) return <>by this report.</>
  if (correction.isOrphan) return <>by a report that went with its account.</>
  return (
    <>
      by <a href={adminPaths.report(correction.feedbackId)}>another report</a>.
    </>
  )
}
