/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { JOB_FORMATS, JOB_STATES } from "../../../../contract/jobs.ts"
import type { JobBody, ListReadingBody } from "../../../../contract/jobs-schema.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { REASONS } from "../../../../contract/reasons.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { CallbackState } from "../../../../customers/jobs/callback-queue.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"
import { ActionButton, FlashMessage, Timestamp } from "../../ui/forms.tsx"
import { DescriptionList, Prose, Table } from "../../ui/layout.tsx"
import { CATEGORY_LABELS, RECOMMENDATION_LABELS } from "../../ui/verdict/verdict-words.ts"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { ListCallbacks } from "./callbacks.tsx"
import {
  delimiterLabel,
  encodingLabel,
  FORMAT_NAMES,
  isLive,
  KIND_LABELS,
  listName,
  PART_LABELS,
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
    <DashboardLayout route="dashboardJob" title={listName(list)} user={user} scripts={isLive(list) ? [script] : []}>
      <FlashMessage message={flash} />
      <div id="progress" data-stream={pathWithId("jobProgress", list.id)}>
        <ListProgress list={list} />
      </div>
      <p class="unseen" role="status" id="progress-news" />
      <h2>This list</h2>
      <div id="list-facts">
        <ListFacts list={list} />
      </div>
      <ListCallbacks list={list} callbacks={callbacks} />
      <p class="actions">
        <a class="button small" href={ROUTES.dashboardJobs.path}>
          All lists
        </a>
        <a class="button small danger" href={pathWithId("jobDeletion", list.id)}>
          Delete this list
        </a>
      </p>
    </DashboardLayout>
  )
}

/** What changes while the list is checked. `data-state` tells the script when its state has changed. */
export function ListProgress({ list }: { readonly list: JobBody }) {
  const { state, rows, rows_per_second: rate, seconds_left: left } = list
  return (
    <div
      data-state={state}
      data-live={isLive(list) ? "yes" : "no"}
      data-news={`${STATE_LABELS[state]}. ${stateMeaning(list)}`}
    >
      <p class={state === "stopped" || state === "failed" ? "told" : "meaning"}>
        <strong>{STATE_LABELS[state]}.</strong> {stateMeaning(list)}
      </p>
      {state === "receiving" ? null : (
        <>
          <progress aria-label="Rows done" max={Math.max(1, rows.total)} value={rows.done} />
          <p class="sum-line">
            <span>{rowsDone(list)}</span>
            {left === null ? null : <span>{timeLeft(left)}</span>}
            {state !== "running" || rate === null ? null : <span>{formatCount(Math.round(rate), "row")} a second</span>}
          </p>
        </>
      )}
      {isLive(list) ? (
        <p class="actions refresh-link">
          <a class="button small" href={pathWithId("dashboardJob", list.id)}>
            Refresh
          </a>
        </p>
      ) : null}
      {JOB_STATES[state].hasResults && rows.done > 0 ? <Downloads list={list} /> : null}
      {rows.done === 0 ? null : (
        <>
          <h2 id="summary">Summary</h2>
          <RowSummary list={list} />
          <Problems problems={list.problems} />
          <Charts list={list} />
        </>
      )}
    </div>
  )
}

/** A button for all results, and one for each part of them that has rows. */
function Downloads({ list }: { readonly list: JobBody }) {
  const parts = RECOMMENDATIONS.filter(name => (list.by_recommendation[name] ?? 0) > 0)
  return (
    <section aria-labelledby="results">
      <h2 id="results">Results</h2>
      <form class="form" method="get" action={pathWithId("jobResultsFile", list.id)}>
        <div class="actions">
          <button type="submit">Download all rows</button>
          {parts.map(name => (
            <button key={name} type="submit" class="small" name="only" value={name}>
              {PART_LABELS[name]} ({formatNumber(list.by_recommendation[name] ?? 0)})
            </button>
          ))}
        </div>
        {JOB_FORMATS[list.format].results === "csv" ? (
          <label class="check">
            <input type="checkbox" name="cells" value="plain" />
            <span>For a program: leave cells as they are, also those that a spreadsheet would run as formulas.</span>
          </label>
        ) : null}
      </form>
    </section>
  )
}

function Charts({ list }: { readonly list: JobBody }) {
  const { by_category: byCategory, by_recommendation: byRecommendation } = list
  return (
    <div class="compact list-charts">
      <h2 id="advice">By recommendation</h2>
      <BarTable
        caption="Rows by recommendation"
        column="Recommendation"
        bars={RECOMMENDATIONS.map(name => ({
          id: name,
          label: <span class={`advice ${name}`}>{RECOMMENDATION_LABELS[name]}</span>,
          look: `of-${name}`,
          count: byRecommendation[name] ?? 0,
        }))}
      />
      <h2 id="categories">By category</h2>
      <BarTable
        caption="Rows by category"
        column="Category"
        bars={CATEGORY_NAMES.map(name => ({
          id: name,
          label: CATEGORY_LABELS[name],
          look: `of-${name}`,
          count: byCategory[name],
        }))
          .filter(({ count }) => count > 0)
          .sort((one, other) => other.count - one.count)}
      />
    </div>
  )
}

type BarTableProps = {
  readonly caption: string
  readonly column: string
  readonly bars: readonly {
    readonly id: string
    readonly label: ComponentChildren
    /** The class that gives the colour. */
    readonly look: string
    readonly count: number
  }[]
}

/** A table whose rows have a bar each: as long as its share of the longest. */
function BarTable({ caption, column, bars }: BarTableProps) {
  const all = bars.reduce((sum, { count }) => sum + count, 0)
  const longest = Math.max(1, ...bars.map(({ count }) => count))
  return (
    <Table caption={caption} columns={[column, "Rows", "Share", "Chart"]}>
      {bars.map(({ id, label, look, count }) => (
        <tr key={id}>
          <th scope="row" class="name">
            {label}
          </th>
          <td class="number">{formatNumber(count)}</td>
          <td class="number">{formatShare(count, all)}</td>
          <td class="bar">
            <svg class={look} width="100%" height="14" aria-hidden="true">
              <rect class="filled" width={`${((count / longest) * 100).toFixed(2)}%`} height="14" rx="3" />
            </svg>
          </td>
        </tr>
      ))}
    </Table>
  )
}

const formatShare = (count: number, all: number): string =>
  `${all === 0 ? "0" : ((count / all) * 100).toFixed(count === all || count === 0 ? 0 : 1)} %`

/** What became of the rows, in numbers. */
function RowSummary({ list: { rows, units_used: units } }: { readonly list: JobBody }) {
  const { done, skipped, cleaned, several, duplicates, wide, unreadable, degraded } = rows
  const counted: readonly (readonly [string, number, string])[] = [
    ["Skipped", skipped, "the cell is empty or says so; free, without a verdict"],
    ["Cleaned", cleaned, "what was meant is checked, and the results tell it"],
    ["Several addresses", several, "the first is checked, and the results tell the others"],
    ["Duplicates", duplicates ?? 0, "rows with the same mailbox or domain as an earlier one"],
    ["More cells than columns", wide, "their last cells stand behind all others"],
    ["Could not be read", unreadable, "they count as invalid"],
    ["From lists only", degraded, "DNS gave no answer"],
  ]
  return (
    <DescriptionList
      items={[
        ["Rows", formatNumber(done)],
        ["Judged", `${formatNumber(done - skipped)}, for ${formatCount(units, "unit")}`],
        ...counted
          .filter(([, count]) => count > 0)
          .map(([name, count, what]) => [name, <RowCount count={count} what={what} />] as const),
      ]}
    />
  )
}

/** Why rows are not simply allowed, with a row each to look at. */
function Problems({ problems }: Pick<JobBody, "problems">) {
  if (problems.length === 0) return null
  return (
    <div class="compact list-charts">
      <h2 id="problems">{problems.length === 1 ? "The commonest problem" : "The commonest problems"}</h2>
      <Table caption="The commonest problems" columns={["Problem", "Rows", "First row"]}>
        {problems.map(({ reason, rows, first_row: first }) => (
          <tr key={reason}>
            <th scope="row" class="name">
              {reason === "unreadable" ? "The row cannot be read." : <Prose text={REASONS[reason].description} />}
            </th>
            <td class="number">{formatNumber(rows)}</td>
            <td class="number">{formatNumber(first)}</td>
          </tr>
        ))}
      </Table>
    </div>
  )
}

const RowCount = ({ count, what }: { readonly count: number; readonly what: string }) => (
  <>
    {formatNumber(count)} <span class="because">({what})</span>
  </>
)

function ListFacts({ list }: { readonly list: JobBody }) {
  const { expires_at: expiresAt, ended_at: endedAt, reading } = list
  return (
    <DescriptionList
      items={[
        ["Uploaded", <Timestamp atMs={Date.parse(list.created_at)} />],
        ...(endedAt === null ? [] : [["Ended", <Timestamp atMs={Date.parse(endedAt)} />] as const]),
        ...(expiresAt === null ? [] : [["Deleted by itself", <Timestamp atMs={Date.parse(expiresAt)} />] as const]),
        ["Policy", <code>{list.policy}</code>],
        ...(reading === null ? [] : readingFacts(reading, list.column)),
      ]}
    />
  )
}

/** How a list is read, in words. */
function readingFacts(reading: ListReadingBody, column: string | null): (readonly [string, ComponentChildren])[] {
  const {
    format,
    encoding,
    delimiter,
    header_line: headerLine,
    lines_above: above,
    column_number: number,
    kind,
  } = reading
  const aboveText = above === 0 ? "" : `, ${formatCount(above, "line")} above`
  const named = column === null || column === String(number) ? "" : `. ${column}`
  const held = kind === null ? "" : `, with ${KIND_LABELS[kind]}`
  const facts: readonly (readonly [string, string | null])[] = [
    ["Format", FORMAT_NAMES[format]],
    ["Encoding", encodingLabel(encoding)],
    ["Delimiter", delimiter === null ? null : delimiterLabel(delimiter)],
    ["Header", format === "csv" ? `${headerLine === null ? "none" : `line ${headerLine}`}${aboveText}` : null],
    ["Column", number === null ? column : `${number}${named}${held}`],
  ]
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, <bdi>{value}</bdi>] as const]))
}

type ListDeletionPageProps = Pick<ListPageProps, "user" | "list">

/** Asks for confirmation before a list is deleted, which cannot be undone. */
export function ListDeletionPage({ user, list }: ListDeletionPageProps) {
  return (
    <DashboardLayout route="jobDeletion" title="Delete a list" user={user}>
      <p class="told">You cannot undo this.</p>
      <DescriptionList
        items={[
          ["Name", <bdi class="any">{listName(list)}</bdi>],
          ["State", STATE_LABELS[list.state]],
          ["Rows", rowsDone(list)],
        ]}
      />
      <p>
        The list and its results are deleted at once, and nobody can read them any more. A check that has not ended
        stops. Units that were used stay used.
      </p>
      <div class="actions">
        <ActionButton path={pathWithId("postJobDeletion", list.id)} label="Delete the list" isDangerous isPrimary />
        <a class="button small" href={pathWithId("dashboardJob", list.id)}>
          Cancel
        </a>
      </div>
    </DashboardLayout>
  )
}
