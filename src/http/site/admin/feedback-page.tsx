/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { FEEDBACK_STATUSES, type Feedback, type FeedbackStatus } from "../../../customers/feedback/feedback.ts"
import { ReportState, reportColumns } from "../dashboard/feedback-page.tsx"
import { pathWithId, withQuery } from "../links.ts"
import { FlashMessage, LinkButton } from "../ui/forms.tsx"
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
}

/** Reports of wrong verdicts, those that wait before the others, the newest first. Equal ones that wait have one row. */
export function AdminFeedbackPage({ reports, status, isFirstPage, flash }: AdminFeedbackPageProps) {
  const { rows, lastRow } = reports
  const waiting = Map.groupBy(rows.filter(isWaiting), report => `${report.domain} ${report.reportedCategory}`)
  const equal = new Map(
    [...waiting.values()].flatMap(([first, ...others]) => (first ? [[first, others.length + 1]] : [])),
  )
  return (
    <AdminLayout
      route="adminFeedback"
      section="adminFeedback"
      title="Reports"
      action={<StatusChoice status={status} />}
    >
      <FlashMessage message={flash} />
      <Panel>
        {rows.length === 0 ? (
          <Empty>{EMPTY_MESSAGES[status] ?? `No report was ${status}.`}</Empty>
        ) : (
          <RowTable
            caption={`Reports: ${STATUS_FILTERS[status]}`}
            columns={reportColumns(report => ReportLink(report, equal.get(report) ?? 1), {
              ...{ name: "Decision", onPhone: "first" },
              cell: report => <Decision report={report} />,
            })}
            rows={[...equal.keys(), ...rows.filter(report => !isWaiting(report))]}
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

/** Of the other filters the name is in the sentence. */
const EMPTY_MESSAGES: Partial<Record<StatusFilter, string>> = {
  received: "No report is waiting for a decision.",
  all: "There are no reports.",
}

const isWaiting = ({ status }: Feedback): boolean => status === "received"

/** An element and no component, so that the cell has its text as a title. */
const ReportLink = ({ id, domain }: Feedback, count: number) => (
  <a href={pathWithId("adminReport", id)}>
    <bdi>{domain}</bdi>
    {count === 1 ? null : ` (${count} reports)`}
  </a>
)

/** What was decided, or the way to the evidence and the decision. */
const Decision = ({ report }: { readonly report: Feedback }) =>
  isWaiting(report) ? (
    <LinkButton
      path={pathWithId("adminReport", report.id)}
      label={
        <>
          Review<span class="unseen"> the report of {report.domain}</span>
        </>
      }
      look="small"
    />
  ) : (
    <ReportState report={report} />
  )

function StatusChoice({ status }: Pick<AdminFeedbackPageProps, "status">) {
  const choices = [...FEEDBACK_STATUSES, "all" as const].map(word => ({
    label: STATUS_FILTERS[word],
    href: withQuery(ROUTES.adminFeedback.path, { status: word }),
    isCurrent: word === status,
  }))
  return <Segmented label="State" choices={choices} />
}
