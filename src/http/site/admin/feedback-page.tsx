/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { FEEDBACK_STATUSES, type Feedback, type FeedbackStatus } from "../../../customers/feedback/feedback.ts"
import type { SignedInUser } from "../guards.ts"
import { adminPaths, withQuery } from "../links.ts"
import { FlashMessage, Timestamp } from "../ui/forms.tsx"
import { Table } from "../ui/layout.tsx"
import { Pagination, type ResultPage } from "../ui/pagination.tsx"
import { AdminLayout } from "./admin-layout.tsx"

/** What may have been done just before the page is shown, by its name in the page's URL. */
export const QUEUE_FLASH = {
  "orphan-taken-back": "The report had gone with its account. The correction that it had made is taken back.",
} as const satisfies Record<string, string>

/** Which reports are shown, by the word in the page's URL; those that wait come first, and are what is shown unasked. */
const STATUS_FILTERS = {
  received: "Waiting",
  accepted: "Accepted",
  rejected: "Rejected",
  all: "All",
} as const satisfies { readonly [S in FeedbackStatus]: string } & Record<"all", string>

/** Which reports a page shows. */
export type StatusFilter = keyof typeof STATUS_FILTERS

/** The reports that the page's URL asks for. */
export const parseStatusFilter = (word: string): StatusFilter =>
  word === "all" ? word : (FEEDBACK_STATUSES.find(status => status === word) ?? "received")

type AdminFeedbackPageProps = {
  readonly visitor: SignedInUser
  readonly reports: ResultPage<Feedback>
  readonly status: StatusFilter
  readonly isFirstPage: boolean
  readonly flash: string | null
}

/** Reports of wrong verdicts, the newest first. */
export function AdminFeedbackPage({
  visitor,
  reports: { rows, lastRow },
  status,
  isFirstPage,
  flash,
}: AdminFeedbackPageProps) {
  const { path } = ROUTES.adminFeedback
  return (
    <AdminLayout route="adminFeedback" section="adminFeedback" title="Feedback" user={visitor}>
      <FlashMessage message={flash} />
      <StatusLinks status={status} />
      {rows.length === 0 ? (
        <p>{EMPTY_MESSAGES[status]}</p>
      ) : (
        <Table
          caption={`Reports: ${STATUS_FILTERS[status]}`}
          columns={["Domain", "Verdict and report", "Status", "Sent"]}
        >
          {rows.map(report => (
            <ReportRow key={report.id} report={report} />
          ))}
        </Table>
      )}
      <Pagination path={path} query={{ status }} after={lastRow?.id ?? null} isFirstPage={isFirstPage} />
    </AdminLayout>
  )
}

const EMPTY_MESSAGES: { readonly [S in StatusFilter]: string } = {
  received: "No report waits for a decision.",
  accepted: "No report is accepted.",
  rejected: "No report is rejected.",
  all: "There are no reports.",
}

function StatusLinks({ status }: Pick<AdminFeedbackPageProps, "status">) {
  return (
    <nav class="sections" aria-label="Status">
      {[...FEEDBACK_STATUSES, "all" as const].map(word => (
        <a
          key={word}
          href={withQuery(ROUTES.adminFeedback.path, { status: word })}
          {...(word === status ? { "aria-current": true as const } : {})}
        >
          {STATUS_FILTERS[word]}
        </a>
      ))}
    </nav>
  )
}

function ReportRow({ report }: { readonly report: Feedback }) {
  const { id, domain, currentCategory, reportedCategory, status, createdAtMs } = report
  return (
    <tr>
      <th scope="row">
        <a href={adminPaths.report(id)}>
          <code>{domain}</code>
        </a>
      </th>
      <td>
        said {currentCategory}, reported as {reportedCategory}
      </td>
      <td>{status}</td>
      <td>
        <Timestamp atMs={createdAtMs} />
      </td>
    </tr>
  )
}
