/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { FEEDBACK_STATUSES, type Feedback, type FeedbackStatus } from "../../../customers/feedback/feedback.ts"
import { Done, Instant } from "../fields.tsx"
import { Table } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"
import { AdminLayout } from "./admin-layout.tsx"
import { type PageOfRows, Pager } from "./page-of-rows.tsx"
import { adminPaths, withQuery } from "./paths.ts"

/** What may have been done just before the page is shown, by its name in the page's URL. */
export const QUEUE_DEEDS = {
  "orphan-taken-back": "The report had gone with its account. The correction that it had made is taken back.",
} as const satisfies Record<string, string>

/** Which reports are shown, by the word in the page's URL; those that wait come first, and are what is shown unasked. */
const SHOWN = {
  received: "Waiting",
  accepted: "Accepted",
  rejected: "Rejected",
  all: "All",
} as const satisfies { readonly [S in FeedbackStatus]: string } & Record<"all", string>

/** Which reports a page shows. */
export type ShownStatus = keyof typeof SHOWN

/** The reports that the page's URL asks for. */
export const shownStatus = (word: string): ShownStatus =>
  word === "all" ? word : (FEEDBACK_STATUSES.find(status => status === word) ?? "received")

type Props = {
  readonly visitor: Visitor
  readonly reports: PageOfRows<Feedback>
  readonly status: ShownStatus
  readonly isFirst: boolean
  readonly done: string | null
}

/** Reports of wrong verdicts, the newest first. */
export function FeedbackPage({ visitor, reports: { rows, last }, status, isFirst, done }: Props) {
  const { path } = ROUTES.adminFeedback
  return (
    <AdminLayout route="adminFeedback" section="adminFeedback" title="Feedback" visitor={visitor}>
      <Done says={done} />
      <StatusLinks status={status} />
      {rows.length === 0 ? (
        <p>{NONE[status]}</p>
      ) : (
        <Table caption={`Reports: ${SHOWN[status]}`} columns={["Domain", "Verdict and report", "Status", "Sent"]}>
          {rows.map(report => (
            <ReportRow key={report.id} report={report} />
          ))}
        </Table>
      )}
      <Pager path={path} parameters={{ status }} after={last?.id ?? null} isFirst={isFirst} />
    </AdminLayout>
  )
}

const NONE: { readonly [S in ShownStatus]: string } = {
  received: "No report waits for a decision.",
  accepted: "No report is accepted.",
  rejected: "No report is rejected.",
  all: "There are no reports.",
}

function StatusLinks({ status }: Pick<Props, "status">) {
  return (
    <nav class="sections" aria-label="Status">
      {[...FEEDBACK_STATUSES, "all" as const].map(word => (
        <a
          key={word}
          href={withQuery(ROUTES.adminFeedback.path, { status: word })}
          {...(word === status ? { "aria-current": true as const } : {})}
        >
          {SHOWN[word]}
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
        <Instant atMs={createdAtMs} />
      </td>
    </tr>
  )
}
