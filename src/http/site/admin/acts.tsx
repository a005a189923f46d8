/** @jsxImportSource preact */

import { DAY_MS, formatInstant, parseInstant, utcDay } from "../../../base/time.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { normalizeAccountEmail } from "../../../customers/accounts/account-email.ts"
import {
  type ActCursor,
  type ActFilter,
  AUDIT_ACTS,
  type AuditActKind,
  listOperatorActs,
  type RecordedAct,
} from "../../../customers/audit/audit.ts"
import type { ActorKind } from "../../../customers/store/change-log/actor.ts"
import { handlers } from "../../router.ts"
import { endOfDay } from "../dashboard/keys/key-settings.ts"
import { pathWithId, queryParameter } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { formatNumber, tierName } from "../ui/format.ts"
import { ANY_OPTION, DateStamp, SelectField, TextField, VERBATIM } from "../ui/forms.tsx"
import { Pagination, paginate } from "../ui/pagination.tsx"
import { Empty, Panel } from "../ui/panels.tsx"
import { type CellColumn, RowTable } from "../ui/table.tsx"
import { AdminLayout, FilterBar, foundLabel } from "./admin-layout.tsx"

/** The audit log: what administrators did, the latest first. */
export function adminActsRoutes({ guards, changes }: SiteContext) {
  return handlers({
    adminActs: exchange =>
      guards.requireAdmin.page(exchange, async () => {
        const values = readFilter(exchange.request.url)
        const after = parseCursor(queryParameter(exchange.request.url, "after"))
        const found = paginate(
          await listOperatorActs(changes.store, actFilter(values), after, ACTS_PER_PAGE + 1),
          ACTS_PER_PAGE,
        )
        const { rows, lastRow } = found
        const foundText = foundLabel(values, found, after === null, "entry", "entries")
        return (
          <AdminLayout route="adminActs" section="adminActs" title="Audit log">
            <ActFilterBar values={values} found={foundText} />
            <Panel>
              {rows.length === 0 ? (
                <Empty>
                  {after !== null
                    ? "There are no more entries."
                    : foundText !== null
                      ? "No entry matches."
                      : "Nothing yet."}
                </Empty>
              ) : (
                <ActsTable acts={rows} />
              )}
              <Pagination
                path={ROUTES.adminActs.path}
                query={values}
                after={lastRow && `${lastRow.atMs}.${lastRow.id}`}
                isFirstPage={after === null}
              />
            </Panel>
            <p class="hint">
              Changes by administrators, commands on the server and leak reports. Filter by an account to see its
              owner’s changes too. Kept for {LIMITS.auditDays} days, up to {formatNumber(LIMITS.auditEntriesMax)}{" "}
              entries. <code>mailkind audit</code> prints everything.
            </p>
          </AdminLayout>
        )
      }),
  })
}

/** How many entries a page displays. */
const ACTS_PER_PAGE = 25

/** The cursor of a page's URL; null: the first page. */
function parseCursor(text: string): ActCursor | null {
  const [, atMs = "", id = ""] = /^(\d{1,15})\.(act_[0-9A-Za-z]{20})$/.exec(text) ?? []
  return id === "" ? null : { atMs: Number(atMs), id }
}

/** The fields of the filter as they were typed, which are the parameters of the page's URL. Empty: not filtered by. */
type ActFilterValues = Readonly<Record<"by" | "act" | "account" | "from" | "to", string>>

/** What is no kind of act and no day is not filtered by. */
function readFilter(url: string): ActFilterValues {
  const field = (name: string): string => queryParameter(url, name).slice(0, LIMITS.addressBytesMax)
  const day = (name: string): string => (Number.isNaN(dayStartMs(field(name)) ?? 0) ? "" : field(name))
  return {
    by: field("by"),
    act: isKnownAct(field("act")) ? field("act") : "",
    account: field("account"),
    from: day("from"),
    to: day("to"),
  }
}

function actFilter({ by, act, account, from, to }: ActFilterValues): ActFilter {
  const [fromMs, lastMs] = [dayStartMs(from), dayStartMs(to)]
  return {
    actor: normalizeAccountEmail(by) ?? by,
    kind: act,
    account: normalizeAccountEmail(account) ?? account,
    fromMs,
    toMs: lastMs === null ? null : lastMs + DAY_MS,
  }
}

/** When a day begins that is written as `2026-01-31`. Null: none is. `NaN`: the text is no day. */
function dayStartMs(text: string): number | null {
  const endMs = endOfDay(text)
  return endMs === null ? null : endMs - DAY_MS
}

type ActFilterBarProps = { readonly values: ActFilterValues; readonly found: string | null }

const ActFilterBar = ({ values: { by, act, account, from, to }, found }: ActFilterBarProps) => (
  <FilterBar path={ROUTES.adminActs.path} found={found} isFolded>
    <TextField name="account" label="Account" value={account} placeholder="Email or id" {...VERBATIM} />
    <TextField name="by" label="By" value={by} placeholder="Email or name" {...VERBATIM} />
    <TextField name="from" label="First day" type="date" value={from} />
    <TextField name="to" label="Last day" type="date" value={to} />
    <SelectField name="act" label="Activity" options={[ANY_OPTION, ...ACT_OPTIONS]} selected={act} />
  </FilterBar>
)

const ACT_OPTIONS = Object.entries(AUDIT_ACTS).map(([value, { label }]) => ({ value, label }))

/** The columns, the first of which has the day of the acts that begin one. */
const actColumns = (firstOfDays: ReadonlySet<RecordedAct>): readonly CellColumn<RecordedAct>[] => [
  {
    ...{ name: "Day", kind: "time", onPhone: "first" },
    cell: act => (firstOfDays.has(act) ? <DateStamp atMs={act.atMs} /> : null),
  },
  {
    ...{ name: "UTC", kind: "time", onPhone: "first" },
    cell: ({ atMs }) => (
      <time dateTime={new Date(atMs).toISOString()} data-exact>
        {new Date(atMs).toISOString().slice(11, 16)}
      </time>
    ),
  },
  {
    ...{ name: "Change", kind: "text", isHeading: true },
    cell: act => (
      <>
        {actLabel(act.kind)} {actDetails(act)}
      </>
    ),
  },
  {
    ...{ name: "Account", kind: "text" },
    cell: ({ accountId, accountEmail }) => (accountId === null ? null : accountName(accountId, accountEmail)),
  },
  { name: "By", kind: "text", onPhone: "labelled", cell: actorName },
]

type ActsTableProps = {
  readonly acts: readonly RecordedAct[]
  /** Whether they are all about one account, which the page names. */
  readonly isOneAccount?: boolean
}

/** Acts by day, with who did them and about what. */
export function ActsTable({ acts, isOneAccount = false }: ActsTableProps) {
  const days = acts.map(({ atMs }) => utcDay(atMs))
  const columns = actColumns(new Set(acts.filter((_, at) => days[at] !== days[at - 1])))
  return (
    <div class="acts">
      <RowTable
        caption="Activity"
        columns={isOneAccount ? columns.filter(({ name }) => name !== "Account") : columns}
        rows={acts}
      />
    </div>
  )
}

const actLabel = (kind: string): string => (isKnownAct(kind) ? AUDIT_ACTS[kind].label : kind)

const isKnownAct = (kind: string): kind is AuditActKind => Object.hasOwn(AUDIT_ACTS, kind)

/** The account of the actor, or what they are called. */
function actorName({ actorKind, actorId, actorEmail }: RecordedAct) {
  if (actorKind === "account" || actorKind === "admin") return accountName(actorId, actorEmail)
  if (actorKind === "operator") return `${actorId || "somebody"} (command line)`
  return actorId === "" ? ACTOR_LABELS[actorKind] : `${ACTOR_LABELS[actorKind]} ${actorId}`
}

const ACTOR_LABELS = {
  leak_reporter: "Leak report",
  server: "The server",
} as const satisfies Record<Exclude<ActorKind, "account" | "admin" | "operator">, string>

/** The account's email, or the id of a deleted one. An element and no component, so that the cell has its text as a title. */
function accountName(id: string, email: string | null) {
  if (email === null) return `${id} (deleted)`
  return (
    <a href={pathWithId("adminAccount", id)}>
      <bdi>{email}</bdi>
    </a>
  )
}

/** What an entry says besides. A report is linked; other ids are shortened, and have the whole as their title. */
function actDetails({ kind, details }: RecordedAct) {
  if (details === "") return null
  if (kind === "report_accepted" || kind === "report_rejected")
    return (
      <a class="because" href={pathWithId("adminReport", details)}>
        See report
      </a>
    )
  const writtenAtMs = kind === "database_restored" ? parseInstant(details) : null
  if (writtenAtMs !== null) return <span class="because">{formatInstant(writtenAtMs)}</span>
  if (kind === "tier_set")
    return <span class="because">{details.replaceAll(/\d+/g, tier => tierName(Number(tier)))}</span>
  const [, start, rest] = /^([a-z]+_[0-9A-Za-z]{4})[0-9A-Za-z]{8,}( .*)?$/.exec(details) ?? []
  return (
    <span class="because" title={start && details}>
      {start === undefined ? details : `${start}…${rest ?? ""}`}
    </span>
  )
}
