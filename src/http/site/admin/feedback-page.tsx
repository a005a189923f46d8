/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { FEEDBACK_STATUSES, type Feedback, type FeedbackStatus } from "../../../customers/feedback/feedback.ts"
import { pathWithId, withQuery } from "../links.ts"
import { FlashMessage, Timestamp } from "../ui/forms.tsx"
import { Pagination, type ResultPage } from "../ui/pagination.tsx"
import { Empty, Segmented } from "../ui/panels.tsx"
import { Table, type TableColumn } from "../ui/table.tsx"
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
  readonly reports: ResultPage<Feedback>
  readonly status: StatusFilter
  readonly isFirstPage: boolean
  readonly flash: string | null
}

/** Reports of wrong verdicts, the newest first. */
export function AdminFeedbackPage({ reports, status, isFirstPage, flash }: AdminFeedbackPageProps) {
  const { rows, lastRow } = reports
  const { path } = ROUTES.adminFeedback
  return (
    <AdminLayout
      route="adminFeedback"
      section="adminFeedback"
      title="Reports"
      action={<StatusChoice status={status} />}
    >
      <FlashMessage message={flash} />
      {rows.length === 0 ? (
        <Empty>{EMPTY_MESSAGES[status]}</Empty>
      ) : (
        <Table caption={`Reports: ${STATUS_FILTERS[status]}`} columns={REPORT_COLUMNS}>
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

function StatusChoice({ status }: Pick<AdminFeedbackPageProps, "status">) {
  const choices = [...FEEDBACK_STATUSES, "all" as const].map(word => ({
    label: STATUS_FILTERS[word],
    href: withQuery(ROUTES.adminFeedback.path, { status: word }),
    isCurrent: word === status,
  }))
  return <Segmented label="Status" choices={choices} />
}

const REPORT_COLUMNS = [
  { name: "Domain", kind: "text" },
  { name: "Verdict", kind: "text" },
  { name: "Reported as", kind: "text" },
  { name: "Status", kind: "pill", onPhone: "first" },
  { name: "Sent", kind: "time" },
] as const satisfies readonly TableColumn[]

/** The colours of the decisions. */
const STATUS_TONES: { readonly [S in FeedbackStatus]: string } = {
  received: "review",
  accepted: "allow",
  rejected: "block",
}

function ReportRow({ report }: { readonly report: Feedback }) {
  const { id, domain, currentCategory, reportedCategory, status, createdAtMs } = report
  return (
    <tr>
      <th scope="row">
        <a href={pathWithId("adminReport", id)}>
          <bdi>{domain}</bdi>
        </a>
      </th>
      <td>{currentCategory}</td>
      <td>{reportedCategory}</td>
      <td>
        <span class={`pill ${STATUS_TONES[status]}`}>{STATUS_FILTERS[status]}</span>
      </td>
      <td>
        <Timestamp atMs={createdAtMs} />
      </td>
    </tr>
  )
}
