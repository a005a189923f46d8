/** @jsxImportSource preact */
import type { DomainExplanation } from "../../../check/explain-domain.ts"
import type { Category } from "../../../contract/categories.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import type { Feedback, OtherReportCount } from "../../../customers/feedback/feedback.ts"
import { ReportState } from "../dashboard/feedback-page.tsx"
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
  /** What a check by the reporting account returns now. */
  readonly verdict: CheckedVerdict
}

type ReportPageProps = {
  readonly details: ReportDetails
  readonly flash: string | null
  /** Why a decision was refused; null: none was. */
  readonly error: string | null
}

/** One report: the verdict as the account gets it, what the reporter says, the decision, and the evidence about the domain. */
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
      <VerdictCard verdict={verdict} />
      <div class="two">
        <ReporterPanel details={details} />
        <DecisionPanel details={details} />
      </div>
      <Panel title="What the lists say">
        {lookup === null ? <p>The lists cannot look up this name.</p> : <ListingsSummary lookup={lookup} />}
      </Panel>
    </AdminLayout>
  )
}

type DetailsProps = Pick<ReportPageProps, "details">

function ReporterPanel({ details: { report, account, otherReports } }: DetailsProps) {
  const { id, currentCategory, reportedCategory, roleWord, comment, createdAtMs } = report
  return (
    <Panel title="What the reporter says">
      <DescriptionList
        items={[
          ["Should be", <strong>{reportedCategory}</strong>],
          ["Was", currentCategory],
          ...(comment === null ? [] : [["Comment", <span class="any">{comment}</span>] as const]),
          ...(roleWord === null ? [] : [["Role word", <code>{roleWord}</code>] as const]),
          ["Other accounts", otherReportsLabel(otherReports, report)],
          ["Sent by", <a href={pathWithId("adminAccount", account.id)}>{account.email}</a>],
          ["Sent", <DateStamp atMs={createdAtMs} />],
          ["Id", <code>{id}</code>],
        ]}
      />
    </Panel>
  )
}

/** How many other accounts reported which category. */
function otherReportsLabel(others: readonly OtherReportCount[], { reportedCategory }: Feedback): string {
  if (others.length === 0) return "no reports of this domain"
  return others
    .map(({ category, accountCount }) => {
      const what = category === reportedCategory ? `the same, ${category}` : category
      return `${formatCount(accountCount, "says", "say")} ${what}`
    })
    .join("; ")
}

function DecisionPanel({ details: { report, correction, verdict } }: DetailsProps) {
  const { id, domain, status, reportedCategory, decidedAtMs } = report
  // The decision applies only if the status is still the displayed one.
  const button = { fields: { seen: status }, hiddenLabel: "the report", look: "primary" } as const
  return (
    <Panel title="Decision" id="decision">
      <p>
        {decidedAtMs === null ? null : (
          <>
            This report was {status} on <Timestamp atMs={decidedAtMs} />.{" "}
          </>
        )}
        {status !== "accepted" && verdict.result.category === reportedCategory
          ? `The verdict is already ${reportedCategory}. `
          : null}
        {status === "accepted"
          ? "If you reject the report now, its correction is removed."
          : `If you accept the report, ${domain} and every name below it becomes ${reportedCategory} for all accounts.`}
      </p>
      <div class="actions">
        {status === "accepted" ? null : (
          <ActionButton path={pathWithId("postAdminAccept", id)} label="Accept" {...button} />
        )}
        {status === "rejected" ? null : (
          <ActionButton path={pathWithId("postAdminReject", id)} label="Reject" isDangerous {...button} />
        )}
      </div>
      {correction === null ? (
        <p class="hint">This domain has no correction.</p>
      ) : (
        <p class="hint">
          The domain is corrected to <strong>{correction.category}</strong>,{" "}
          <CorrectionSource report={report} correction={correction} />
        </p>
      )}
      {correction?.isOrphan === true ? (
        <ActionButton
          path={pathWithId("postAdminReject", correction.feedbackId)}
          fields={{ seen: "accepted" }}
          label="Remove the correction"
          isDangerous
        />
      ) : null}
    </Panel>
  )
}

type CorrectionSourceProps = { readonly report: Feedback; readonly correction: DomainCorrection }

function CorrectionSource({ report, correction }: CorrectionSourceProps) {
  if (correction.feedbackId === report.id) return <>by this report.</>
  if (correction.isOrphan) return <>by a report of an account that is deleted.</>
  return (
    <>
      by <a href={pathWithId("adminReport", correction.feedbackId)}>another report</a>.
    </>
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
