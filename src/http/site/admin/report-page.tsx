/** @jsxImportSource preact */
import type { DomainExplanation } from "../../../check/explain-domain.ts"
import type { Category } from "../../../contract/categories.ts"
import { REASONS, type Reason } from "../../../contract/reasons.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import type { Feedback, FeedbackStatus, OtherReportCount } from "../../../customers/feedback/feedback.ts"
import type { SignedInUser } from "../guards.ts"
import { pathWithId } from "../links.ts"
import { ListingsTable } from "../public/domain-lookup.tsx"
import { formatCount } from "../ui/format.ts"
import { ActionButton, FlashMessage, FormError, Timestamp } from "../ui/forms.tsx"
import { DescriptionList, Prose, Table } from "../ui/layout.tsx"
import { ReasonLink } from "../ui/verdict/verdict-evidence.tsx"
import { AdminLayout } from "./admin-layout.tsx"

/** The flash messages of the page, by the name in its URL. */
export const REPORT_FLASH = {
  accepted: "The report is accepted. Its domain is corrected everywhere within a minute.",
  "accepted-before": "The report had been accepted before; nothing changed.",
  rejected: "The report is rejected. A correction that it made is taken back everywhere within a minute.",
  "rejected-before": "The report had been rejected before; nothing changed.",
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
  readonly checkResult: CheckResult
}

type ReportPageProps = {
  readonly user: SignedInUser
  readonly details: ReportDetails
  readonly flash: string | null
  /** Why a decision was refused; null: none was. */
  readonly error: string | null
}

/** One report, the decision about it, and the evidence about its domain. */
export function ReportPage({ user, details, flash, error }: ReportPageProps) {
  const { report, correction, lookup, checkResult } = details
  return (
    <AdminLayout route="adminReport" section="adminFeedback" title={`Report of ${report.domain}`} user={user}>
      <FlashMessage message={flash} />
      <FormError message={error} />
      <ReportFacts details={details} />
      <DecisionSection report={report} />
      <CorrectionSection report={report} correction={correction} />
      <CheckSection result={checkResult} />
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
  received: "waits for a decision",
  accepted: "accepted",
  rejected: "rejected",
}

/** How many other accounts reported which category. */
function otherReportsLabel(others: readonly OtherReportCount[], { reportedCategory }: Feedback): string {
  if (others.length === 0) return "none reported this domain"
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
          ? "To reject the report after all takes back the correction that it made."
          : `To accept the report makes ${domain} and every name below it ${reportedCategory} for all accounts.`}
      </p>
      <div class="actions">
        {status === "accepted" ? null : (
          <ActionButton path={pathWithId("postAdminAccept", id)} fields={fields} label="Accept the report" />
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
        <p>The domain has no correction of its own.</p>
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
          label="Take the correction back"
          isDangerous
        />
      ) : null}
    </section>
  )
}

type CorrectionSourceProps = { readonly report: Feedback; readonly correction: DomainCorrection }

function CorrectionSource({ report, correction }: CorrectionSourceProps) {
  if (correction.feedbackId === report.id) return <>by this report.</>
  if (correction.isOrphan) return <>by a report that went with its account.</>
  return (
    <>
      by <a href={pathWithId("adminReport", correction.feedbackId)}>another report</a>.
    </>
  )
}

/** The current verdict about the domain, with its reasons. */
function CheckSection({ result }: { readonly result: CheckResult }) {
  const { category, confidence, recommendation, policy, degraded, did_you_mean: meant, is_lookalike: imitates } = result
  return (
    <section aria-labelledby="check">
      <h2 id="check">What a check says now</h2>
      <p>This is what the account that sent the report is told.</p>
      {degraded ? <p class="told">DNS gave no answer, so this rests on the lists alone.</p> : null}
      <DescriptionList
        items={[
          ["Category", <strong>{category}</strong>],
          ["Confidence", confidence.toFixed(2)],
          ["Recommendation", `${recommendation} (policy ${policy})`],
          ["Imitates another name", imitates ? "yes" : "no"],
          ["Probably meant", meant === null ? "nothing else" : <code>{meant}</code>],
          ...mailFacts(result),
        ]}
      />
      <Table caption="Reasons" columns={["Reason", "Meaning"]}>
        {result.reasons.map(reason => (
          <ReasonRow key={reason} reason={reason} />
        ))}
      </Table>
    </section>
  )
}

function mailFacts({ mail, workspace }: CheckResult) {
  const hosts = mail.mx.map(({ priority, host }) => `${priority} ${host}`).join(", ")
  const suites = [
    ...workspace.suite_a.evidence.map(found => `suite_a (${found})`),
    ...workspace.suite_b.evidence.map(found => `suite_b (${found})`),
    ...(workspace.other_suite === null ? [] : [workspace.other_suite]),
  ]
  return [
    ["Mail hosts", mail.has_mx === null ? "not known" : hosts || "none"],
    ["Mail provider", mail.provider ?? "none that is known"],
    ["Workspace", workspace.pending ? "still being looked up" : suites.join(", ") || "none found"],
  ] as const
}

function ReasonRow({ reason }: { readonly reason: Reason }) {
  return (
    <tr>
      <th scope="row">
        <ReasonLink reason={reason} />
      </th>
      <td>
        <Prose text={REASONS[reason].description} />
      </td>
    </tr>
  )
}

/** What the lists contain about the domain: each entry with its source and date. */
function ListsSection({ lookup }: { readonly lookup: DomainExplanation | null }) {
  return (
    <section aria-labelledby="lists">
      <h2 id="lists">What the lists say</h2>
      {lookup === null ? <p>The lists read no domain in this name.</p> : <ListingsSummary lookup={lookup} />}
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
