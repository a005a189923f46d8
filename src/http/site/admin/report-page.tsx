/** @jsxImportSource preact */
import type { DomainExplanation } from "../../../check/explain-domain.ts"
import type { Category } from "../../../contract/categories.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import type { Feedback, FeedbackStatus, OtherReportCount } from "../../../customers/feedback/feedback.ts"
import { pathWithId } from "../links.ts"
import { ListingsTable } from "../public/domain-lookup.tsx"
import { formatCount } from "../ui/format.ts"
import { ActionButton, FlashMessage, FormError, Timestamp } from "../ui/forms.tsx"
import { DescriptionList, Prose } from "../ui/layout.tsx"
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

/** One report, the decision about it, and the evidence about its domain. */
export function ReportPage({ details, flash, error }: ReportPageProps) {
  const { report, correction, lookup, verdict } = details
  return (
    <AdminLayout route="adminReport" section="adminFeedback" title={`Report of ${report.domain}`}>
      <FlashMessage message={flash} />
      <FormError message={error} />
      <ReportFacts details={details} />
      <DecisionSection report={report} />
      <CorrectionSection report={report} correction={correction} />
      <CheckSection verdict={verdict} />
      <ListsSection lookup={lookup} />
    </AdminLayout>
  )
}

function ReportFacts({ details: { report, account, otherReports } }: Pick<ReportPageProps, "details">) {
  const { id, domain, currentCategory, reportedCategory, roleWord, comment, status, createdAtMs, decidedAtMs } = report
  return (
    <DescriptionList
      items={[
        ["Id", <code>{id}</code>],
        ["Domain", <code>{domain}</code>],
        ["The verdict was", currentCategory],
        ["It should be", <strong>{reportedCategory}</strong>],
        ["Role word", roleWord === null ? "none" : <code>{roleWord}</code>],
        ["Comment", comment ?? "none"],
        ["Sent by", <a href={pathWithId("adminAccount", account.id)}>{account.email}</a>],
        ["Sent", <Timestamp atMs={createdAtMs} />],
        [
          "Status",
          <>
            {STATUS_LABELS[status]}
            {decidedAtMs === null ? null : (
              <>
                {" "}
                <Timestamp atMs={decidedAtMs} />
              </>
            )}
          </>,
        ],
        ["Other accounts", otherReportsLabel(otherReports, report)],
      ]}
    />
  )
}

const STATUS_LABELS: { readonly [S in FeedbackStatus]: string } = {
  received: "waiting for a decision",
  accepted: "accepted",
  rejected: "rejected",
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

function DecisionSection({ report: { id, domain, status, reportedCategory } }: { readonly report: Feedback }) {
  // The decision applies only if the status is still the displayed one.
  const fields = { seen: status }
  return (
    <section aria-labelledby="decision">
      <h2 id="decision">Decision</h2>
      <p>
        {status === "accepted"
          ? "You can still reject this report. This removes its correction."
          : `If you accept, ${domain} and every name below it becomes ${reportedCategory} for all accounts.`}
      </p>
      <div class="actions">
        {status === "accepted" ? null : (
          <ActionButton path={pathWithId("postAdminAccept", id)} fields={fields} label="Accept the report" isPrimary />
        )}
        {status === "rejected" ? null : (
          <ActionButton
            path={pathWithId("postAdminReject", id)}
            fields={fields}
            label="Reject the report"
            isDangerous
          />
        )}
      </div>
    </section>
  )
}

type CorrectionSectionProps = { readonly report: Feedback; readonly correction: DomainCorrection | null }

function CorrectionSection({ report, correction }: CorrectionSectionProps) {
  return (
    <section aria-labelledby="correction">
      <h2 id="correction">Correction</h2>
      {correction === null ? (
        <p>This domain has no correction.</p>
      ) : (
        <p>
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
    </section>
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

/** The verdict as the account that sent the report gets it. */
function CheckSection({ verdict }: Pick<ReportDetails, "verdict">) {
  return (
    <section aria-labelledby="check">
      <h2 id="check">The verdict that the account gets now</h2>
      <VerdictCard heading="h3" verdict={verdict} />
    </section>
  )
}

/** What the lists contain about the domain: each entry with its source and date. */
function ListsSection({ lookup }: { readonly lookup: DomainExplanation | null }) {
  return (
    <section aria-labelledby="lists">
      <h2 id="lists">What the lists say</h2>
      {lookup === null ? <p>The lists cannot look up this name.</p> : <ListingsSummary lookup={lookup} />}
    </section>
  )
}

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
