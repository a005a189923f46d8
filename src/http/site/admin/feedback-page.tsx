/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { FEEDBACK_STATUSES, type Feedback, type FeedbackStatus } from "../../../customers/feedback/feedback.ts"
import { ReportState, reportColumns } from "../dashboard/feedback-page.tsx"
import { pathWithId, withQuery } from "../links.ts"
import { ActionButton, FlashMessage } from "../ui/forms.tsx"
import { Pagination, type ResultPage } from "../ui/pagination.tsx"
import { Empty, Panel, Segmented } from "../ui/panels.tsx"
import { RowTable } from "../ui/table.tsx"
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
  /** The report that was decided on this page a moment ago; null: none. */
  readonly decided: Feedback | null
}

/** Reports of wrong verdicts, those that wait before the others, the newest first. */
export function AdminFeedbackPage({ reports, status, isFirstPage, flash, decided }: AdminFeedbackPageProps) {
  const { rows, lastRow } = reports
  const isWaiting = (report: Feedback) => report.status === "received"
  return (
    <AdminLayout
      route="adminFeedback"
      section="adminFeedback"
      title="Reports"
      action={<StatusChoice status={status} />}
    >
      <FlashMessage message={decided === null ? flash : <DecidedReport report={decided} />} />
      <Panel>
        {rows.length === 0 ? (
          <Empty>{EMPTY_MESSAGES[status]}</Empty>
        ) : (
          <RowTable
            caption={`Reports: ${STATUS_FILTERS[status]}`}
            columns={reportColumns(ReportLink, {
              name: "Decision",
              cell: report => <Decision report={report} status={status} />,
            })}
            rows={[...rows.filter(isWaiting), ...rows.filter(report => !isWaiting(report))]}
          />
        )}
        <Pagination
          path={ROUTES.adminFeedback.path}
          query={{ status }}
          after={lastRow?.id ?? null}
          isFirstPage={isFirstPage}
        />
      </Panel>
    </AdminLayout>
  )
}

const DecidedReport = ({ report }: { readonly report: Feedback }) => (
  <>
    The report of {ReportLink(report)} is {report.status}.
  </>
)

/** An element and no component, so that the cell has its text as a title. */
const ReportLink = ({ id, domain }: Feedback) => (
  <a href={pathWithId("adminReport", id)}>
    <bdi>{domain}</bdi>
  </a>
)

type DecisionProps = { readonly report: Feedback; readonly status: StatusFilter }

/** What was decided, or the buttons that decide. They lead back to this list. */
function Decision({ report, status: list }: DecisionProps) {
  const { id, domain, status } = report
  if (status !== "received") return <ReportState report={report} />
  const button = { fields: { seen: status, list }, hiddenLabel: `the report of ${domain}` }
  return (
    <>
      <ActionButton path={pathWithId("postAdminAccept", id)} label="Accept" {...button} />{" "}
      <ActionButton path={pathWithId("postAdminReject", id)} label="Reject" {...button} />
    </>
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
  return <Segmented label="State" choices={choices} />
}
