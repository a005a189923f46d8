/** @jsxImportSource preact */
import { capitalized } from "../../../base/text.ts"
import { countingSources, type DomainExplanation } from "../../../check/explain-domain.ts"
import type { Category } from "../../../contract/categories.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import type { Feedback, OtherReportCount } from "../../../customers/feedback/feedback.ts"
import { ReportedChange, ReportState } from "../dashboard/feedback-page.tsx"
import { pathWithId } from "../links.ts"
import { ListingsTable } from "../public/domain-lookup.tsx"
import { formatCount } from "../ui/format.ts"
import { ActionButton, DateStamp, FlashMessage, FormError, Timestamp } from "../ui/forms.tsx"
import { DescriptionList, Prose } from "../ui/layout.tsx"
import { Panel } from "../ui/panels.tsx"
import { type CheckedVerdict, VerdictCard } from "../ui/verdict/verdict-card.tsx"
import { AdminLayout } from "./admin-layout.tsx"

/** The flash messages of the page, by the name in its URL. */
export const REPORT_FLASH = {
  accepted: "The report is accepted. Its domain is corrected everywhere within a minute.",
  "accepted-before": "This report was accepted before. Nothing changed.",
  rejected: "The report is rejected. Its correction, if there is one, is removed everywhere within a minute.",
  "rejected-before": "This report was rejected before. Nothing changed.",
} as const satisfies Record<string, string>

/** The correction of a domain. */
export type DomainCorrection = {
  readonly category: Category
  readonly feedbackId: string
  /** The report behind it was deleted with its account. */
  readonly isOrphan: boolean
}

/** A report, and the evidence about its domain. */
export type ReportDetails = {
  readonly report: Feedback
  readonly account: Account
  /** Null: the domain itself is not corrected. */
  readonly correction: DomainCorrection | null
  readonly otherReports: readonly OtherReportCount[]
  /** Null: the lists cannot look the name up. */
  readonly lookup: DomainExplanation | null
  /** What the reporting account's own lists do with the domain. Null: nothing. */
  readonly ownList: "allows" | "blocks" | null
  /** What a check returns now to an account without own lists. */
  readonly verdict: CheckedVerdict
}

type ReportPageProps = {
  readonly details: ReportDetails
  readonly flash: string | null
  /** Why a decision was refused; null: none was. */
  readonly error: string | null
}

/** One report: what the reporter says beside the decision, then the evidence about the domain. */
export function ReportPage({ details, flash, error }: ReportPageProps) {
  const { report, lookup, verdict } = details
  return (
    <AdminLayout
      route="adminReport"
      section="adminFeedback"
      title={`Report of ${report.domain}`}
      action={<ReportState report={report} />}
    >
      <FlashMessage message={flash} />
      <FormError message={error} />
      <div class="two">
        <ReporterPanel details={details} />
        <DecisionPanel details={details} />
      </div>
      <VerdictCard verdict={verdict} />
      {lookup === null || (lookup.entry === null && countingSources(lookup) === 0) ? null : (
        <Panel title="What the lists say">
          <ListingsSummary lookup={lookup} />
        </Panel>
      )}
    </AdminLayout>
  )
}

type DetailsProps = Pick<ReportPageProps, "details">

function ReporterPanel({ details: { report, account, otherReports, ownList } }: DetailsProps) {
  const { roleWord, comment, createdAtMs } = report
  return (
    <Panel title={<ReportedChange report={report} />}>
      {comment === null ? null : <p class="any">{comment}</p>}
      <DescriptionList
        items={[
          ...(roleWord === null ? [] : [["Role word", <code>{roleWord}</code>] as const]),
          ["Sent by", <a href={pathWithId("adminAccount", account.id)}>{account.email}</a>],
          ["Sent", <DateStamp atMs={createdAtMs} />],
          ...(ownList === null ? [] : [["Own list", `${ownList} this domain`] as const]),
          ["Other accounts", otherReportsLabel(otherReports, report)],
        ]}
      />
    </Panel>
  )
}

/** How many other accounts reported which category. */
function otherReportsLabel(others: readonly OtherReportCount[], { reportedCategory }: Feedback): string {
  if (others.length === 0) return "no reports"
  return others
    .map(({ category, accountCount }) => {
      const what = category === reportedCategory ? "the same" : category
      return `${formatCount(accountCount, "says", "say")} ${what}`
    })
    .join("; ")
}

function DecisionPanel({ details: { report, correction, verdict } }: DetailsProps) {
  const { id, domain, status, reportedCategory, decidedAtMs } = report
  return (
    <Panel title="Decision" id="decision">
      <p>
        {decidedAtMs === null ? null : (
          <>
            {capitalized(status)} on <Timestamp atMs={decidedAtMs} />.{" "}
          </>
        )}
        {status !== "accepted" && verdict.result.category === reportedCategory
          ? `The verdict is already ${reportedCategory}. `
          : null}
        {status === "accepted"
          ? "If you undo this, the report is rejected and its correction is removed."
          : `If you accept the report, ${domain} and every name below it becomes ${reportedCategory} for all accounts.`}
      </p>
      {correction === null || correction.feedbackId === id ? null : (
        <p>
          {correction.isOrphan ? (
            "A report of a deleted account"
          ) : (
            <a href={pathWithId("adminReport", correction.feedbackId)}>Another report</a>
          )}{" "}
          corrects the domain to <strong>{correction.category}</strong>.
        </p>
      )}
      <DecisionButtons report={report} correction={correction} />
    </Panel>
  )
}

function DecisionButtons({ report: { id, status }, correction }: Pick<ReportDetails, "report" | "correction">) {
  // The decision applies only if the status is still the displayed one.
  const fields = { seen: status }
  const reject = { path: pathWithId("postAdminReject", id), fields, look: "quiet" } as const
  return (
    <div class="actions">
      {status === "accepted" ? null : (
        <ActionButton
          path={pathWithId("postAdminAccept", id)}
          label="Accept the report"
          fields={fields}
          look="primary"
        />
      )}
      {status === "accepted" ? <ActionButton {...reject} label="Undo: reject the report" /> : null}
      {status === "received" ? <ActionButton {...reject} label="Reject" hiddenLabel="the report" /> : null}
      {correction?.isOrphan === true ? (
        <ActionButton
          path={pathWithId("postAdminReject", correction.feedbackId)}
          fields={{ seen: "accepted" }}
          label="Remove the correction"
          look="quiet"
          isDangerous
        />
      ) : null}
    </div>
  )
}

/** What the lists contain about the domain: each entry with its source and date. */
function ListingsSummary({ lookup }: { readonly lookup: DomainExplanation }) {
  const { category, message, entry, sets } = lookup
  return (
    <>
      <p>
        {entry === null ? null : (
          <>
            The entry <code>{entry}</code> in {sets.join(", ")} makes it <strong>{category}</strong>.{" "}
          </>
        )}
        <Prose text={message} />
      </p>
      <ListingsTable lookup={lookup} sourcesPath={ROUTES.docsLists.path} />
    </>
  )
}
