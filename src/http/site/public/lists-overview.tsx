/** @jsxImportSource preact */
import type { LoadedLists } from "../../../check/domain-lookup.ts"
import { type ExplainDomainResult, explainDomain } from "../../../check/explain-domain.ts"
import { SET_NAMES, SETS } from "../../../check/lists/sets.ts"
import type { SourceOutcome, SourceState } from "../../../check/refresh/refresh-state.ts"
import { formatNumber } from "../ui/format.ts"
import { Table } from "../ui/layout.tsx"

/** What the page tells of the lists in use. */
export type ListsOverview = {
  /** Version of the lists. */
  readonly version: string
  /** When they were built: an instant in ISO 8601, UTC. */
  readonly builtAt: string
  /** When sources were last asked for, in the same form; null: never. */
  readonly refreshedAt: string | null
  /** An operator went back to older lists, and no schedule replaces them. */
  readonly isPaused: boolean
  /** In the order of the page. */
  readonly sets: readonly {
    readonly name: string
    readonly says: string
    /** How many names the set has. */
    readonly entryCount: number
  }[]
  readonly sources: readonly SourceOverview[]
  /** What the lists say of a domain, or of that of an address or a URL. */
  readonly lookUpDomain: (text: string) => ExplainDomainResult
}

type SourceOverview = {
  readonly id: string
  /** Name of the set that the source fills. */
  readonly fills: string
  /** How far the source is believed. */
  readonly trust: string
  readonly licence: string
  /** Where it comes from, for people; it may be an address and is not made a link. */
  readonly origin: string
  /** The day that the entries are of; empty: there are none yet. */
  readonly date: string
  /** How many of its entries were kept. */
  readonly entryCount: number
  /** What became of it when it was last asked for; null: it was not. */
  readonly refresh: SourceRefresh | null
}

type SourceRefresh = {
  readonly outcome: SourceOutcome
  /** Why it was refused or failed, in a sentence; empty where it was not. */
  readonly why: string
  /** An instant in ISO 8601, UTC. */
  readonly checkedAt: string
}

type ListsOverviewProps = { readonly lists: ListsOverview }

/** Every source of the lists, how old its entries are, and what became of it when it was last asked for. */
export function SourcesTable({ lists }: ListsOverviewProps) {
  return (
    <Table caption="Sources" columns={SOURCES_COLUMNS}>
      {lists.sources.map(source => (
        <SourceRow key={source.id} source={source} />
      ))}
    </Table>
  )
}

/** Which lists are in use, and how fresh they are. */
export function ListsFreshness({ lists: { version, builtAt, refreshedAt, isPaused } }: ListsOverviewProps) {
  return (
    <dl class="facts">
      <dt>Version</dt>
      <dd>
        <code>{version}</code>
      </dd>
      <dt>Built</dt>
      <dd>
        <IsoTimestamp at={builtAt} />
      </dd>
      <dt>Refreshed</dt>
      <dd>{refreshedAt === null ? "never; these lists are built in" : <IsoTimestamp at={refreshedAt} />}</dd>
      {isPaused ? (
        <>
          <dt>Paused</dt>
          <dd>The operator went back to older lists; no schedule refreshes them until an update by hand.</dd>
        </>
      ) : null}
    </dl>
  )
}

const SOURCES_COLUMNS = ["Source", "Licence and origin", "Fills", "Date", "Entries", "Last refresh"] as const

function SourceRow({ source }: { readonly source: SourceOverview }) {
  const { id, fills, trust, licence, origin, date, entryCount } = source
  return (
    <tr id={`source-${id}`}>
      <th scope="row">
        <code>{id}</code>
      </th>
      <td class="origin">
        {licence}
        <p class="hint">{origin}</p>
      </td>
      <td>
        <code>{fills}</code>
        <p class="hint">{trust} trust</p>
      </td>
      <td class="short">{date === "" ? "–" : date}</td>
      <td class="number">{formatNumber(entryCount)}</td>
      <td class="refresh">
        <SourceRefreshCell source={source} />
      </td>
    </tr>
  )
}

/** What became of a source that was asked for. In all cases the last good copy serves. */
const OUTCOME_LABELS: { readonly [O in SourceOutcome]: string } = {
  taken: "new entries",
  unchanged: "nothing new",
  refused: "refused",
  failed: "failed",
}

function SourceRefreshCell({ source: { date, refresh } }: { readonly source: SourceOverview }) {
  if (refresh === null) return date === "" ? "not yet" : "built in"
  const { outcome, why, checkedAt } = refresh
  return (
    <>
      {OUTCOME_LABELS[outcome]}
      <p class="hint">
        <IsoTimestamp at={checkedAt} />
        {why === "" ? "" : `: ${why}`}
      </p>
    </>
  )
}

const IsoTimestamp = ({ at }: { readonly at: string }) => (
  <time dateTime={at}>{`${at.slice(0, 10)} ${at.slice(11, 16)} UTC`}</time>
)

/** What the page tells of the lists, with what they were built from and what the last refresh left. */
export function listsOverview(known: LoadedLists): ListsOverview {
  const { lists, manifest, refreshState } = known
  return {
    version: lists.pack.version,
    builtAt: lists.pack.builtAt,
    refreshedAt: refreshState.refreshed_at_ms === 0 ? null : new Date(refreshState.refreshed_at_ms).toISOString(),
    isPaused: refreshState.is_paused,
    sets: SET_NAMES.map(name => ({ name, says: SETS[name].description, entryCount: lists.pack.entryCounts[name] })),
    sources: Object.entries(manifest.sources).map(([id, { set, trust, licence, origin, date, kept }]) => ({
      ...{ id, fills: set, trust, licence, origin, date, entryCount: kept },
      refresh: toSourceRefresh(refreshState.sources[id]),
    })),
    lookUpDomain: text => explainDomain(known, text),
  }
}

const toSourceRefresh = (state: SourceState | undefined): SourceRefresh | null =>
  state === undefined
    ? null
    : { outcome: state.outcome, why: state.says, checkedAt: new Date(state.checked_at_ms).toISOString() }
