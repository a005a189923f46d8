/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { FEEDBACK_STATUSES, type Feedback, type FeedbackStatus } from "../../../customers/feedback/feedback.ts"
import type { SignedInUser } from "../guards.ts"
import { pathWithId, withQuery } from "../links.ts"
import { FlashMessage, Timestamp } from "../ui/forms.tsx"
import { Table } from "../ui/layout.tsx"
import { Pagination, type ResultPage } from "../ui/pagination.tsx"
import { AdminLayout } from "./admin-layout.tsx"

/** The flash messages of the page, by the name in its URL. */
export const QUEUE_FLASH = {
  "orphan-taken-back": "The correction is removed. Its report was deleted with its account.",
} as const satisfies Record<string, string>

/** The filters by status, by the word in the page's URL. The first is the default. */
const STATUS_FILTERS = {
  received: "Waiting",
  accepted: "Accepted",
  rejected: "Rejected",
  all: "All",
} as const satisfies { readonly [S in FeedbackStatus]: string } & Record<"all", string>

export type StatusFilter = keyof typeof STATUS_FILTERS

/** Parses the filter of the page's address; an unknown word shows the received reports. */
export const parseStatusFilter = (word: string): StatusFilter =>
  word === "all" ? word : (FEEDBACK_STATUSES.find(status => status === word) ?? "received")

type AdminFeedbackPageProps = {
  readonly user: SignedInUser
  readonly reports: ResultPage<Feedback>
  readonly status: StatusFilter
  readonly isFirstPage: boolean
  readonly flash: string | null
}

/** Reports of wrong verdicts, the newest first. */
export function AdminFeedbackPage({ user, reports, status, isFirstPage, flash }: AdminFeedbackPageProps) {
  const { rows, lastRow } = reports
  const { path } = ROUTES.adminFeedback
  return (
    <AdminLayout route="adminFeedback" section="adminFeedback" title="Reports" user={user}>
      <FlashMessage message={flash} />
      <StatusLinks status={status} />
      {rows.length === 0 ? (
        <p>{EMPTY_MESSAGES[status]}</p>
      ) : (
        <Table
          caption={`Reports: ${STATUS_FILTERS[status]}`}
          columns={["Domain", "Reported verdict", "Status", "Sent"]}
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
  received: "No report is waiting for a decision.",
  accepted: "No report was accepted.",
  rejected: "No report was rejected.",
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
      <th scope="row" class="name">
        <a href={pathWithId("adminReport", id)}>
          <code>{domain}</code>
        </a>
      </th>
      <td>
        {currentCategory}, should be {reportedCategory}
      </td>
      <td>{status}</td>
      <td>
        <Timestamp atMs={createdAtMs} />
      </td>
    </tr>
  )
}
