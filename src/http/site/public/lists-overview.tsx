/** @jsxImportSource preact */
import { formatDate, formatInstant, isoInstant } from "../../../base/time.ts"
import type { LoadedLists } from "../../../check/domain-lookup.ts"
import { type ExplainDomainResult, explainDomain } from "../../../check/explain-domain.ts"
import { SET_NAMES, SETS } from "../../../check/lists/sets.ts"
import type { SourceOutcome, SourceState } from "../../../check/refresh/refresh-state.ts"
import { leftOutMessages } from "../../../check/refresh/source-validation.ts"
import { FoldedRow, FoldedRows } from "../ui/folded-row.tsx"
import { formatNumber } from "../ui/format.ts"
import { DateStamp, Timestamp } from "../ui/forms.tsx"
import { DescriptionList } from "../ui/layout.tsx"
import { Tiles } from "../ui/panels.tsx"

/** The lists in use, as pages display them. */
export type ListsOverview = {
  readonly version: string
  /** When they were built (ISO 8601, UTC). */
  readonly builtAt: string
  /** When the sources were last fetched (ISO 8601, UTC). Null: never. */
  readonly refreshedAt: string | null
  /** The version that an operator has pinned; null: none is. */
  readonly pinned: string | null
  readonly sets: readonly {
    readonly name: string
    readonly description: string
    readonly entryCount: number
  }[]
  readonly sources: readonly SourceOverview[]
  /** Explains what the lists contain about a domain, or about the domain of an address or a URL. */
  readonly lookUpDomain: (text: string) => ExplainDomainResult
}

/** A source of the lists. */
export type SourceOverview = {
  readonly id: string
  /** The set to which the source contributes. */
  readonly setName: string
  /** The trust level, which decides conflicts between sources. */
  readonly trust: string
  readonly licence: string
  /** Where it comes from: a URL, or words. */
  readonly origin: string
  /** The date of its entries. Empty: it has none yet. */
  readonly date: string
  /** The number of its entries in the lists. */
  readonly entryCount: number
  /** The result of the last fetch. Null: it was never fetched. */
  readonly refresh: SourceRefresh | null
}

/** How many sources tell something about domains. The others are about the part before the `@`, or have not been fetched yet. */
export const domainSourceCount = ({ sources }: Pick<ListsOverview, "sources">): number =>
  sources.filter(({ setName, entryCount }) => entryCount > 0 && setName in SETS).length

type SourceRefresh = {
  readonly outcome: SourceOutcome
  /** Why it was refused or failed, and which of its names were left out. Empty otherwise. */
  readonly message: string
  /** ISO 8601, UTC. */
  readonly checkedAt: string
  /** When it last gave a valid list, or had nothing new (ISO 8601, UTC). Null: never. */
  readonly goodAt: string | null
  /** When its entries last changed (ISO 8601, UTC). Null: never. */
  readonly changedAt: string | null
  /** The last refusal or failure. Null: none. */
  readonly lastFault: { readonly message: string; readonly at: string } | null
}

type SourceGroup = readonly [label: string, sources: readonly SourceOverview[]]

/** Groups of sources, which are folded; those with a problem are open where they `needAttention`. A row opens for the licence, the origin and the last refresh. */
export function SourceGroups({
  groups,
  needAttention = false,
}: {
  readonly groups: readonly SourceGroup[]
  readonly needAttention?: boolean
}) {
  return (
    <>
      {groups.map(([label, sources]) => (
        <details key={label} open={needAttention && label === FAULTY}>
          <summary>
            {label} <span class="hint">{formatNumber(sources.length)}</span>
          </summary>
          <FoldedRows kind="sources">
            <div class="cells heads">
              <span>Source</span>
              <span>{label === FAULTY ? "Last refresh" : "Set"}</span>
              <span class="number">Entries</span>
              <span class="number">{label === FAULTY ? "Tried" : "As of"}</span>
            </div>
            {sources.map(source => (
              <SourceRow key={source.id} source={source} />
            ))}
          </FoldedRows>
        </details>
      ))}
    </>
  )
}

/** What the sets are about that sources fill. All others are about the part of an address before the `@`. */
const SUBJECTS: readonly (readonly [label: string, setNames: readonly string[]])[] = [
  ["Disposable domains and relays", ["disposable", "removed_disposable", "relay", "free_subdomain"]],
  ["Mailbox providers", ["personal", "not_personal", "agent_mailbox"]],
  ["Schools", ["education", "education_suffix", "open_education_suffix", "not_education"]],
  ["Government", ["government", "government_suffix"]],
  ["Organisations and popular names", ["organisation", "popular", "never_disposable"]],
]

/**
 * The sources in groups: those with a problem, those that are yet to come, and the others by what they are about or by how they
 * got here.
 */
export function sourceGroups(sources: readonly SourceOverview[], by: "subject" | "state"): readonly SourceGroup[] {
  const labelOf = ({ setName, date, refresh }: SourceOverview): string => {
    if (refresh !== null && isFault(refresh)) return FAULTY
    if (refresh === null && date === "") return AWAITED
    if (by === "state") return refresh === null ? BUILT_IN : HEALTHY
    return SUBJECTS.find(([, setNames]) => setNames.includes(setName))?.[0] ?? BEFORE_THE_AT
  }
  const groups = Map.groupBy(sources, labelOf)
  const subjects = [...SUBJECTS.map(([label]) => label), BEFORE_THE_AT, AWAITED]
  return (by === "state" ? [FAULTY, AWAITED, HEALTHY, BUILT_IN] : [...subjects, FAULTY]).flatMap(label => {
    const rows = groups.get(label)
    return rows === undefined ? [] : [[label, rows] as const]
  })
}

const FAULTY = "With a problem"
const HEALTHY = "Healthy"
const BUILT_IN = "Built in"
const BEFORE_THE_AT = "The part before the @"
const AWAITED = "Not downloaded yet"

/** The lists in three numbers: names, sources and the last refresh. */
export function ListsTiles({ lists }: { readonly lists: ListsOverview }) {
  const { version, builtAt, refreshedAt, pinned, sets, sources } = lists
  const nameCount = sets.reduce((sum, { entryCount }) => sum + entryCount, 0)
  const faultCount = sources.filter(({ refresh }) => refresh !== null && isFault(refresh)).length
  const held = pinned === null ? "" : "Pinned by the operator. "
  return (
    <Tiles
      tiles={[
        { label: "Names", value: formatNumber(nameCount), note: version },
        {
          label: "Sources",
          value: formatNumber(sources.length),
          note: `${domainSourceCount(lists)} with domains, ${faultCount === 0 ? "none" : faultCount} with a problem`,
        },
        {
          label: "Refreshed",
          value: refreshedAt === null ? "never" : <DateStamp atMs={Date.parse(refreshedAt)} />,
          note: (
            <>
              {held}built <DateStamp atMs={Date.parse(builtAt)} />
            </>
          ),
        },
      ]}
    />
  )
}

/** A source in one line, with the cause if its last refresh failed. What there is to say besides is folded. */
function SourceRow({ source }: { readonly source: SourceOverview }) {
  const { id, setName, date, entryCount, refresh } = source
  const fault = refresh !== null && isFault(refresh) ? refresh : null
  const at = fault?.checkedAt ?? date
  const row = (
    <>
      <span>
        <code>{id}</code>
        {fault === null ? null : <small>{fault.message}</small>}
      </span>
      <span class={fault === null ? undefined : "wrong"}>
        {fault === null ? setName : OUTCOME_LABELS[fault.outcome]}
      </span>
      <span class="number">{formatNumber(entryCount)}</span>
      <span class="number">{at === "" ? "–" : formatDate(Date.parse(at))}</span>
    </>
  )
  return (
    <FoldedRow id={`source-${id}`} row={row}>
      <DescriptionList items={sourceFacts(source)} />
    </FoldedRow>
  )
}

function sourceFacts({ setName, trust, licence, origin, date, refresh }: SourceOverview) {
  const refreshed = date === "" ? "the first refresh downloads it" : "never, it is built in"
  return [
    ["Refreshed", refresh === null ? refreshed : <LastRefresh refresh={refresh} />],
    ...(refresh === null ? [] : refreshHistory(refresh)),
    ["Set", <code>{setName}</code>],
    ["Trust", trust],
    ["Licence", licence],
    ["Origin", <Origin text={origin} />],
  ] as const
}

const Origin = ({ text }: { readonly text: string }) =>
  /^https?:\/\/\S+$/.test(text) ? (
    <a href={text} rel="noreferrer">
      {text}
    </a>
  ) : (
    text
  )

/** The result of a fetch. In all cases the last good copy stays in use. */
const OUTCOME_LABELS: { readonly [O in SourceOutcome]: string } = {
  taken: "new entries",
  unchanged: "nothing new",
  refused: "refused",
  failed: "failed",
}

/** A fault stands in the row itself. */
const LastRefresh = ({ refresh }: { readonly refresh: SourceRefresh }) => (
  <>
    {OUTCOME_LABELS[refresh.outcome]}, <Timestamp atMs={Date.parse(refresh.checkedAt)} />
    {refresh.message === "" || isFault(refresh) ? null : `: ${refresh.message}`}
  </>
)

/** What happened before the last refresh. */
function refreshHistory({ checkedAt, goodAt, changedAt, lastFault }: SourceRefresh) {
  const earlier = (name: string, at: string | null, more = "") =>
    at === null || at === checkedAt ? [] : [[name, `${formatInstant(Date.parse(at))}${more}`] as const]
  return [
    ...earlier("Last good copy", goodAt),
    ...earlier("Last change", changedAt),
    ...earlier("Last problem", lastFault?.at ?? null, `: ${lastFault?.message}`),
  ]
}

/** Builds the overview of the loaded lists. */
export function listsOverview(loaded: LoadedLists): ListsOverview {
  const { lists, manifest, refreshState } = loaded
  return {
    version: lists.pack.version,
    builtAt: lists.pack.builtAt,
    refreshedAt: refreshState.refreshed_at_ms === 0 ? null : new Date(refreshState.refreshed_at_ms).toISOString(),
    pinned: refreshState.pinned,
    sets: SET_NAMES.map(name => ({
      name,
      description: SETS[name].description,
      entryCount: lists.pack.entryCounts[name],
    })),
    sources: Object.entries(manifest.sources).map(([id, { set, trust, licence, origin, date, kept }]) => ({
      ...{ id, setName: set, trust, licence, origin, date, entryCount: kept },
      refresh: toSourceRefresh(refreshState.sources[id]),
    })),
    lookUpDomain: text => explainDomain(loaded, text),
  }
}

const toSourceRefresh = (state: SourceState | undefined): SourceRefresh | null =>
  state === undefined
    ? null
    : {
        outcome: state.outcome,
        message: `${state.says} ${leftOutMessages(state)}`.trim(),
        checkedAt: isoInstant(state.checked_at_ms),
        goodAt: mapNull(isFault(state) ? (state.good_at_ms ?? null) : state.checked_at_ms, isoInstant),
        changedAt: mapNull(state.changed_at_ms, isoInstant),
        lastFault: toLastFault(state),
      }

const isFault = ({ outcome }: { readonly outcome: SourceOutcome }): boolean =>
  outcome === "refused" || outcome === "failed"

const mapNull = <T, R>(value: T | null, map: (value: T) => R): R | null => (value === null ? null : map(value))

function toLastFault(state: SourceState): SourceRefresh["lastFault"] {
  if (isFault(state)) return { message: state.says, at: isoInstant(state.checked_at_ms) }
  const { last_fault: fault } = state
  return fault === undefined ? null : { message: fault.says, at: isoInstant(fault.at_ms) }
}
