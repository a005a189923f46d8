/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { JOB_FORMATS, JOB_STATES } from "../../../../contract/jobs.ts"
import type { JobBody } from "../../../../contract/jobs-schema.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { REASONS } from "../../../../contract/reasons.ts"
import type { CallbackState } from "../../../../customers/jobs/callback-queue.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { Confirmation, FlashMessage, Timestamp } from "../../ui/forms.tsx"
import { DescriptionList, MoreUnitsLink, Prose, RecommendationCounts } from "../../ui/layout.tsx"
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

type ListPageProps = ListProgressProps & {
  readonly user: SignedInUser
  readonly callbacks: readonly CallbackState[]
  readonly flash: string | null
  readonly script: string
}

/** One list: how far its check is, its results, and its deletion. */
export function ListPage({ user, list, keepHours, callbacks, flash, script }: ListPageProps) {
  return (
    <DashboardLayout {...{ route: "dashboardJob", title: listName(list), user, scripts: isLive(list) ? [script] : [] }}>
      <FlashMessage message={flash} />
      <div id="progress" data-stream={pathWithId("jobProgress", list.id)}>
        <ListProgress list={list} keepHours={keepHours} />
      </div>
      <p class="unseen" role="status" id="progress-news" />
      <ListCallbacks list={list} callbacks={callbacks} />
    </DashboardLayout>
  )
}

type ListProgressProps = {
  readonly list: JobBody
  /** How long a list stays after its end. */
  readonly keepHours: number
}

/** What changes while the list is checked. `data-state` tells the script when its state has changed. */
export function ListProgress({ list, keepHours }: ListProgressProps) {
  const { state, rows, problems } = list
  return (
    <div
      data-state={state}
      data-live={isLive(list) ? "yes" : "no"}
      data-news={`${STATE_LABELS[state]} ${stateMeaning(list)}`}
    >
      <Panel title={<StateTitle list={list} />} link={<Deletion list={list} keepHours={keepHours} />}>
        {state === "stopped" || state === "failed" ? (
          <Notice
            tone={state === "failed" ? "block" : "review"}
            action={list.reason === "units_used_up" ? <MoreUnitsLink /> : undefined}
          >
            {stateMeaning(list)}
          </Notice>
        ) : null}
        {state === "receiving" ? null : <Results list={list} />}
      </Panel>
      {rows.done === 0 ? (
        <Facts list={list} />
      ) : (
        <div class="two">
          <Categories list={list} />
          {problems.length === 0 ? <Facts list={list} /> : <Problems list={list} />}
        </div>
      )}
      {problems.length === 0 ? null : <Facts list={list} />}
    </div>
  )
}

function StateTitle({ list }: { readonly list: JobBody }) {
  const { state } = list
  const isBroken = state === "stopped" || state === "failed"
  return (
    <>
      {isBroken ? `List check ${state === "failed" ? "stopped" : "paused"}` : STATE_LABELS[state]}
      {state === "done" ? "." : ""}{" "}
      <span class="because">{isBroken ? `${rowsDone(list)} checked` : stateMeaning(list)}</span>
    </>
  )
}

/** When the list is deleted by itself, and the way to do it now. Without a script the page is loaded again by hand. */
const Deletion = ({ list, keepHours }: ListProgressProps) => (
  <span class="hint">
    {isLive(list) ? (
      <span class="refresh-link">
        <a href={pathWithId("dashboardJob", list.id)}>Refresh</a>
        {" · "}
      </span>
    ) : null}
    {list.expires_at === null ? (
      `Will be deleted ${formatCount(keepHours, "hour")} after its end. `
    ) : (
      <>
        Will be deleted on{" "}
        <time dateTime={list.expires_at} data-exact>
          {deletionTime(list.expires_at)}
        </time>
        {". "}
      </>
    )}
    <a href={pathWithId("jobDeletion", list.id)}>Delete{"\u00a0"}now</a>
  </span>
)

/** How far the check is, at what speed. Nothing when it has ended. */
function Progress({ list }: { readonly list: JobBody }) {
  const { state, rows_per_second: rate, seconds_left: left } = list
  if (state !== "queued" && state !== "running") return null
  return (
    <p class="sum-line">
      <span>{rowsDone(list)} checked</span>
      {rate === null ? null : <span>{formatCount(Math.round(rate), "row")} per second</span>}
      {left === null ? null : <span>{timeLeft(left)}</span>}
    </p>
  )
}

/** One bar of all rows, what they came to so far, and the file of each part once it can be had. */
function Results({ list }: { readonly list: JobBody }) {
  const hasFile = JOB_STATES[list.state].hasResults && list.rows.done > 0
  return (
    <form class="results" method="get" action={pathWithId("jobResultsFile", list.id)}>
      <ResultBar list={list} />
      <Progress list={list} />
      {list.rows.done === 0 ? null : (
        <RecommendationCounts
          counts={list.by_recommendation}
          below={(name, count) =>
            count === 0 || !hasFile ? null : (
              <button type="submit" class="small" name="only" value={name}>
                Download<span class="unseen"> {PART_NAMES[name]}</span>
              </button>
            )
          }
        />
      )}
      {hasFile ? (
        <div class="actions">
          <button type="submit" class="small primary">
            Download all {formatNumber(list.rows.done)}
          </button>
          {JOB_FORMATS[list.format].results === "csv" ? (
            <label class="check hint">
              <input type="checkbox" name="cells" value="excel" checked />
              <span>Make it safe to open in Excel</span>
              <input type="hidden" name="cells" value="plain" />
            </label>
          ) : null}
        </div>
      ) : null}
    </form>
  )
}

/** How the rows of each recommendation are called. */
const PART_NAMES = { allow: "allowed rows", review: "rows to review", block: "blocked rows" } as const

/** The rows of a list by recommendation, as one bar. The part that is not checked yet is empty. */
export const ResultBar = ({ list }: { readonly list: JobBody }) => (
  <SplitBar
    label={`${rowsDone(list)} checked, by recommendation`}
    total={list.rows.total}
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
  { name: "First in", kind: "time", onPhone: "labelled", cell: ({ first }) => `row ${formatNumber(first)}` },
]

/** Why rows are not simply allowed, with a row each to look at. The job tells the most common reasons only. */
function Problems({ list: { problems, by_recommendation: counts } }: { readonly list: JobBody }) {
  const told = problems.map(({ reason, rows, first_row: first }): Problem => {
    const why =
      reason === "unreadable" ? (
        "The row cannot be read."
      ) : (
        <Prose text={REASONS[reason].description.replace(/ See `\w+`\.$/, "")} />
      )
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
      <Confirmation
        path={pathWithId("postJobDeletion", list.id)}
        label="Delete the list"
        cancelPath={pathWithId("dashboardJob", list.id)}
      >
        <p>
          <strong class="any">{listName(list)}</strong>
          <br />
          <span class="because">
            {rowsDone(list)} · {STATE_LABELS[list.state]}
          </span>
        </p>
        <p>
          The list and its results are deleted at once. You cannot undo this.
          {isLive(list) ? " The check stops, and units already used stay used." : null}
        </p>
      </Confirmation>
    </DashboardLayout>
  )
}
