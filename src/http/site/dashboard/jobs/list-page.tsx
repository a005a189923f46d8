/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { JOB_FORMATS, JOB_STATES } from "../../../../contract/jobs.ts"
import type { JobBody } from "../../../../contract/jobs-schema.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { REASONS } from "../../../../contract/reasons.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { CallbackState } from "../../../../customers/jobs/callback-queue.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount, formatNumber, formatShare } from "../../ui/format.ts"
import { ActionButton, FlashMessage, LinkButton, Timestamp } from "../../ui/forms.tsx"
import { DescriptionList, Prose, RecommendationBadge } from "../../ui/layout.tsx"
import { Notice, Panel, ShareTable, SplitBar } from "../../ui/panels.tsx"
import { type CellColumn, RowTable } from "../../ui/table.tsx"
import { CATEGORY_LABELS, RECOMMENDATION_LABELS } from "../../ui/verdict/verdict-words.ts"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { ListCallbacks } from "./callbacks.tsx"
import {
  deletionTime,
  isLive,
  listName,
  readingParts,
  rowsDone,
  STATE_LABELS,
  stateMeaning,
  timeLeft,
} from "./list-words.ts"

type ListPageProps = {
  readonly user: SignedInUser
  readonly list: JobBody
  readonly callbacks: readonly CallbackState[]
  readonly flash: string | null
  readonly script: string
}

/** One list: how far its check is, its results, and its deletion. */
export function ListPage({ user, list, callbacks, flash, script }: ListPageProps) {
  return (
    <DashboardLayout
      {...{ route: "dashboardJob", title: listName(list), user, scripts: isLive(list) ? [script] : [] }}
      action={<LinkButton path={ROUTES.dashboardJobs.path} label="Check another list" look="small" />}
    >
      <FlashMessage message={flash} />
      <div id="progress" data-stream={pathWithId("jobProgress", list.id)}>
        <ListProgress list={list} />
      </div>
      <p class="unseen" role="status" id="progress-news" />
      <ListCallbacks list={list} callbacks={callbacks} />
    </DashboardLayout>
  )
}

/** What changes while the list is checked. `data-state` tells the script when its state has changed. */
export function ListProgress({ list }: { readonly list: JobBody }) {
  const { state, rows } = list
  return (
    <div
      data-state={state}
      data-live={isLive(list) ? "yes" : "no"}
      data-news={`${STATE_LABELS[state]} ${stateMeaning(list)}`}
    >
      <Panel title={<StateTitle list={list} />} link={<Deletion list={list} />}>
        {state === "stopped" || state === "failed" ? (
          <Notice
            tone={state === "failed" ? "block" : "review"}
            action={
              list.reason === "units_used_up" ? (
                <LinkButton path={ROUTES.docsLimits.path} label="How limits work" look="small" />
              ) : undefined
            }
          >
            {stateMeaning(list)}
          </Notice>
        ) : null}
        {state === "receiving" || state === "done" ? null : <Progress list={list} />}
        {JOB_STATES[state].hasResults && rows.done > 0 ? <Downloads list={list} /> : <ListActions list={list} />}
      </Panel>
      {rows.done === 0 ? (
        <Facts list={list} />
      ) : (
        <div class="two">
          <Categories list={list} />
          <Facts list={list} />
        </div>
      )}
      <Problems list={list} />
    </div>
  )
}

function StateTitle({ list }: { readonly list: JobBody }) {
  const { state } = list
  if (state === "stopped" || state === "failed") return <>List check {state === "failed" ? "stopped" : "paused"}</>
  return (
    <>
      {STATE_LABELS[state]}
      {state === "done" ? "." : ""} <span class="because">{stateMeaning(list)}</span>
    </>
  )
}

function Deletion({ list: { expires_at: expiresAt } }: { readonly list: JobBody }) {
  if (expiresAt === null) return null
  return (
    <span class="hint">
      Will be deleted on{" "}
      <time dateTime={expiresAt} data-exact>
        {deletionTime(expiresAt)}
      </time>
    </span>
  )
}

function Progress({ list }: { readonly list: JobBody }) {
  const { state, rows, rows_per_second: rate, seconds_left: left } = list
  return (
    <>
      {state === "queued" || state === "running" ? (
        <progress aria-label="Rows checked" max={Math.max(1, rows.total)} value={rows.done} />
      ) : null}
      <p class="sum-line">
        <span>{rowsDone(list)} checked</span>
        {state !== "running" || rate === null ? null : <span>{formatCount(Math.round(rate), "row")} per second</span>}
        {left === null ? null : <span>{timeLeft(left)}</span>}
      </p>
    </>
  )
}

/** Loads the page again where no script does, and deletes the list. */
const ListActions = ({ list, children }: { readonly list: JobBody; readonly children?: ComponentChildren }) => (
  <div class="actions">
    {children}
    {isLive(list) ? (
      <a class="button small refresh-link" href={pathWithId("dashboardJob", list.id)}>
        Refresh
      </a>
    ) : null}
    <LinkButton path={pathWithId("jobDeletion", list.id)} label="Delete now" look="small danger" />
  </div>
)

/** One bar of all rows with results, and the file of each part of it. */
function Downloads({ list }: { readonly list: JobBody }) {
  const parts = RECOMMENDATIONS.map(name => ({ name, count: list.by_recommendation[name] ?? 0 }))
  const all = parts.reduce((sum, { count }) => sum + count, 0)
  return (
    <form class="results" method="get" action={pathWithId("jobResultsFile", list.id)}>
      <ResultBar list={list} />
      <ul class="plain parts">
        {parts.map(({ name, count }) => (
          <li key={name}>
            <RecommendationBadge recommendation={name} />
            <p>
              <b>{formatNumber(count)}</b> <span class="because">{formatShare(count, all)}</span>
            </p>
            {count === 0 ? null : (
              <button type="submit" class="small" name="only" value={name}>
                Download<span class="unseen"> {PART_NAMES[name]}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      <ListActions list={list}>
        <button type="submit" class="small primary">
          Download all {formatNumber(list.rows.done)}
        </button>
      </ListActions>
      {JOB_FORMATS[list.format].results === "csv" ? (
        <label class="check hint">
          <input type="checkbox" name="cells" value="excel" checked />
          <span>Make it safe to open in Excel</span>
          <input type="hidden" name="cells" value="plain" />
        </label>
      ) : null}
    </form>
  )
}

/** How the rows of each recommendation are called. */
const PART_NAMES = { allow: "allowed rows", review: "rows to review", block: "blocked rows" } as const

/** The rows of a list by recommendation, as one bar. */
export const ResultBar = ({ list }: { readonly list: JobBody }) => (
  <SplitBar
    label="Rows by recommendation"
    shares={RECOMMENDATIONS.map(name => ({
      label: RECOMMENDATION_LABELS[name],
      count: list.by_recommendation[name] ?? 0,
      tone: `of-${name}`,
    }))}
  />
)

function Categories({ list: { by_category: byCategory } }: { readonly list: JobBody }) {
  const shares = CATEGORY_NAMES.map(name => ({
    label: CATEGORY_LABELS[name],
    count: byCategory[name],
    tone: `of-${name}`,
  }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count)
  return (
    <Panel title="Who is on this list">
      <ShareTable caption="Rows by category" shares={shares} />
    </Panel>
  )
}

/** What became of the rows, in numbers, and how the list is read. */
function Facts({ list }: { readonly list: JobBody }) {
  const { reading, column, policy, units_used: units } = list
  const { done, skipped, cleaned, several, duplicates, wide, unreadable, degraded } = list.rows
  const counted: readonly (readonly [string, number, string])[] = [
    ["Checked", done - skipped, `${done - skipped === 1 ? "row" : "rows"}, ${formatCount(units, "unit")}`],
    ["Skipped", skipped, "nothing to check, free"],
    ["Cleaned", cleaned, "checked as they were meant"],
    ["Several addresses", several, "the first one was checked"],
    ["Duplicates", duplicates ?? 0, "repeat an earlier row"],
    ["Too many cells", wide, "the extra ones stand last"],
    ["Could not be read", unreadable, "they count as invalid"],
    ["From lists only", degraded, "DNS gave no answer"],
  ]
  const columnName = column === null || /^\d+$/.test(column) ? null : column
  return (
    <Panel title="Details">
      <DescriptionList
        items={[
          ...counted
            .filter(([, count]) => count > 0)
            .map(([name, count, what]) => [name, <RowCount count={count} what={what} />] as const),
          ["Policy", <code>{policy}</code>],
          ["Uploaded", <Timestamp atMs={Date.parse(list.created_at)} />],
          ...(reading === null
            ? []
            : [["Read as", <bdi>{readingParts(reading, columnName).join(" · ")}</bdi>] as const]),
        ]}
      />
    </Panel>
  )
}

const RowCount = ({ count, what }: { readonly count: number; readonly what: string }) => (
  <>
    {formatNumber(count)} <span class="because">{what}</span>
  </>
)

type Problem = { readonly why: ComponentChildren; readonly rows: number; readonly first: number }

const PROBLEM_COLUMNS: readonly CellColumn<Problem>[] = [
  { name: "Reason", kind: "text", cell: ({ why }) => why },
  { name: "Rows", kind: "number", onPhone: "labelled", cell: ({ rows }) => formatNumber(rows) },
  { name: "First row", kind: "number", onPhone: "labelled", cell: ({ first }) => formatNumber(first) },
]

/** Why rows are not simply allowed, with a row each to look at. The job tells the most common reasons only. */
function Problems({ list: { problems, by_recommendation: counts } }: { readonly list: JobBody }) {
  if (problems.length === 0) return null
  const told = problems.map(({ reason, rows, first_row: first }): Problem => {
    const why = reason === "unreadable" ? "The row cannot be read." : <Prose text={REASONS[reason].description} />
    return { why, rows, first }
  })
  const others = told.reduce((left, { rows }) => left - rows, (counts["review"] ?? 0) + (counts["block"] ?? 0))
  return (
    <Panel title="Why rows are not allowed" id="problems">
      <RowTable caption="The most common reasons" columns={PROBLEM_COLUMNS} rows={told} />
      {others > 0 ? <p class="hint">Other reasons: {formatCount(others, "row")}</p> : null}
    </Panel>
  )
}

type ListDeletionPageProps = Pick<ListPageProps, "user" | "list">

/** Asks for confirmation before a list is deleted, which cannot be undone. */
export function ListDeletionPage({ user, list }: ListDeletionPageProps) {
  return (
    <DashboardLayout route="jobDeletion" title="Delete this list?" user={user}>
      <Panel
        title={<bdi class="any">{listName(list)}</bdi>}
        link={
          <span class="hint">
            {rowsDone(list)} · {STATE_LABELS[list.state]}
          </span>
        }
      >
        <p>
          The list and its results are deleted at once. <strong>You cannot undo this.</strong>
          {isLive(list) ? " The check stops, and units already used stay used." : null}
        </p>
        <div class="actions">
          <ActionButton
            path={pathWithId("postJobDeletion", list.id)}
            label="Delete the list"
            isDangerous
            look="primary"
          />
          <LinkButton path={pathWithId("dashboardJob", list.id)} label="Cancel" look="quiet" />
        </div>
      </Panel>
    </DashboardLayout>
  )
}
