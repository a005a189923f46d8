/** @jsxImportSource preact */

import { SET_NAMES, SETS } from "../../check/lists/sets.ts"
import type { KnownLists } from "../../check/lists.ts"
import { type LookUp, lookUp } from "../../check/look-up.ts"
import type { SourceOutcome, SourceState } from "../../check/refresh/refresh-state.ts"
import { GuidePage } from "./docs/guide-page.tsx"
import { grouped } from "./figures.ts"
import { Table } from "./layout.tsx"
import { LookUpSection } from "./look-up-section.tsx"
import { MistakesSection } from "./mistakes-section.tsx"

/** What the page tells of the lists in use. */
export type ListsInUse = {
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
  readonly sources: readonly ShownSource[]
  /** What the lists say of a domain, or of that of an address or a URL. */
  readonly lookUp: (text: string) => LookUp
}

type ShownSource = {
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
  readonly refresh: Refresh | null
}

type Refresh = {
  readonly outcome: SourceOutcome
  /** Why it was refused or failed, in a sentence; empty where it was not. */
  readonly why: string
  /** An instant in ISO 8601, UTC. */
  readonly checkedAt: string
}

type Props = {
  readonly lists: ListsInUse
  readonly baseUrl: string
  /** What was asked about; null: nothing. */
  readonly found: LookUp | null
}

/** The lists in use: what they say of a domain, how fresh they are, how many names each set has, and every source. */
export function ListsPage({ lists, baseUrl, found }: Props) {
  return (
    <GuidePage route="docsLists">
      <p class="lead">
        Verdicts that need no network come from these lists. They lie on the server; nothing is downloaded while a
        request is answered.
      </p>
      <Freshness lists={lists} />
      <LookUpSection found={found} />
      <MistakesSection baseUrl={baseUrl} found={found} />
      <h2 id="sets">Sets</h2>
      <Table caption="Sets" columns={["Set", "Meaning", "Names"]}>
        {lists.sets.map(({ name, says, entryCount }) => (
          <tr key={name} id={`set-${name}`}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>{says}</td>
            <td class="number">{grouped(entryCount)}</td>
          </tr>
        ))}
      </Table>
      <h2 id="sources">Sources</h2>
      <p>A source that is refused or fails does no harm: its last good copy serves.</p>
      <SourcesTable lists={lists} />
    </GuidePage>
  )
}

/** Every source of the lists, how old its entries are, and what became of it when it was last asked for. */
export function SourcesTable({ lists }: Pick<Props, "lists">) {
  return (
    <Table caption="Sources" columns={SOURCE_COLUMNS}>
      {lists.sources.map(source => (
        <SourceRow key={source.id} source={source} />
      ))}
    </Table>
  )
}

/** Which lists are in use, and how fresh they are. */
export function Freshness({ lists: { version, builtAt, refreshedAt, isPaused } }: Pick<Props, "lists">) {
  return (
    <dl class="facts">
      <dt>Version</dt>
      <dd>
        <code>{version}</code>
      </dd>
      <dt>Built</dt>
      <dd>
        <Instant at={builtAt} />
      </dd>
      <dt>Refreshed</dt>
      <dd>{refreshedAt === null ? "never; these lists are built in" : <Instant at={refreshedAt} />}</dd>
      {isPaused ? (
        <>
          <dt>Paused</dt>
          <dd>The operator went back to older lists; no schedule refreshes them until an update by hand.</dd>
        </>
      ) : null}
    </dl>
  )
}

const SOURCE_COLUMNS = ["Source", "Licence and origin", "Fills", "Date", "Entries", "Last refresh"] as const

function SourceRow({ source }: { readonly source: ShownSource }) {
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
      <td class="number">{grouped(entryCount)}</td>
      <td class="refresh">
        <LastRefresh source={source} />
      </td>
    </tr>
  )
}

/** What became of a source that was asked for. In all cases the last good copy serves. */
const OUTCOMES: { readonly [O in SourceOutcome]: string } = {
  taken: "new entries",
  unchanged: "nothing new",
  refused: "refused",
  failed: "failed",
}

function LastRefresh({ source: { date, refresh } }: { readonly source: ShownSource }) {
  if (refresh === null) return date === "" ? "not yet" : "built in"
  const { outcome, why, checkedAt } = refresh
  return (
    <>
      {OUTCOMES[outcome]}
      <p class="hint">
        <Instant at={checkedAt} />
        {why === "" ? "" : `: ${why}`}
      </p>
    </>
  )
}

const Instant = ({ at }: { readonly at: string }) => (
  <time dateTime={at}>{`${at.slice(0, 10)} ${at.slice(11, 16)} UTC`}</time>
)

/** What the page tells of the lists, with what they were built from and what the last refresh left. */
export function shownLists(known: KnownLists): ListsInUse {
  const { lists, manifest, state } = known
  return {
    version: lists.pack.version,
    builtAt: lists.pack.builtAt,
    refreshedAt: state.refreshed_at_ms === 0 ? null : new Date(state.refreshed_at_ms).toISOString(),
    isPaused: state.is_paused,
    sets: SET_NAMES.map(name => ({ name, says: SETS[name].says, entryCount: lists.pack.entries[name] })),
    sources: Object.entries(manifest.sources).map(([id, { set, trust, licence, origin, date, kept }]) => ({
      ...{ id, fills: set, trust, licence, origin, date, entryCount: kept },
      refresh: shownRefresh(state.sources[id]),
    })),
    lookUp: text => lookUp(known, text),
  }
}

const shownRefresh = (state: SourceState | undefined): Refresh | null =>
  state === undefined
    ? null
    : { outcome: state.outcome, why: state.says, checkedAt: new Date(state.checked_at_ms).toISOString() }
