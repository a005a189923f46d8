/** @jsxImportSource preact */
import type { SourceOutcome } from "../../../check/refresh/refresh-state.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Health } from "../../../contract/schemas.ts"
import { countAccounts } from "../../../customers/accounts/accounts.ts"
import { countSuspended } from "../../../customers/accounts/suspension.ts"
import { countFeedback } from "../../../customers/feedback/feedback.ts"
import { countActiveKeys } from "../../../customers/keys/keys.ts"
import { type OutboxState, readOutboxState } from "../../../customers/notices/outbox.ts"
import { countUnaccepted } from "../../../customers/terms/terms.ts"
import { type HourCount, readTraffic } from "../../../customers/usage/traffic.ts"
import { handlers } from "../../router.ts"
import type { SignedInUser } from "../guards.ts"
import { ListsFreshness, type ListsOverview } from "../public/lists-overview.tsx"
import type { SiteContext } from "../site-context.ts"
import { formatCount, formatInstant, formatNumber } from "../ui/format.ts"
import { Timestamp } from "../ui/forms.tsx"
import { DescriptionList, Prose } from "../ui/layout.tsx"
import { AdminLayout } from "./admin-layout.tsx"
import { firstShownHour, TrafficSection } from "./traffic.tsx"

/** The first page of the administration. */
export function adminOverviewRoutes(site: SiteContext) {
  return handlers({
    admin: exchange =>
      site.guards.requireAdmin.page(exchange, async user => (
        <OverviewPage user={user} overview={await readServerOverview(site)} />
      )),
  })
}

async function readServerOverview(site: SiteContext): Promise<ServerOverview> {
  const { changes, health, lists, hasMailServer, isDnsOff, nodesCount } = site
  const { store, clock } = changes
  return {
    health: health(),
    lists: lists(),
    accountCount: (await countAccounts(store)).all,
    activeKeyCount: await countActiveKeys(store, clock()),
    waitingReportCount: await countFeedback(store, "received"),
    outbox: await readOutboxState(store),
    unacceptedCount: await countUnaccepted(store),
    hasMailServer,
    isDnsOff,
    nodeCount: nodesCount(),
    suspendedCount: await countSuspended(store),
    traffic: await readTraffic(store, firstShownHour(clock())),
    nowMs: clock(),
  }
}

type OverviewPageProps = { readonly user: SignedInUser; readonly overview: ServerOverview }

/** The overview: open tasks, counts, health, and the sources of the lists. */
function OverviewPage({ user, overview }: OverviewPageProps) {
  const { lists } = overview
  return (
    <AdminLayout route="admin" section="admin" title="Administration" user={user}>
      <TodoSection overview={overview} />
      <TrafficSection counts={overview.traffic} nowMs={overview.nowMs} />
      <CountsSection overview={overview} />
      <HealthSection overview={overview} />
      <section aria-labelledby="lists">
        <h2 id="lists">Lists</h2>
        <ListsFreshness lists={lists} />
        <p>
          <a href={ROUTES.adminSources.path}>{formatCount(lists.sources.length, "source")} and their health</a>
        </p>
      </section>
    </AdminLayout>
  )
}

type OverviewSectionProps = Pick<OverviewPageProps, "overview">

function TodoSection({ overview }: OverviewSectionProps) {
  const todos = adminTodos(overview)
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      {todos.length === 0 ? (
        <p>Nothing needs attention.</p>
      ) : (
        <ul class="told">
          {todos.map(todo => (
            <li key={todo}>
              <Prose text={todo} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function CountsSection({ overview }: OverviewSectionProps) {
  const { accountCount, activeKeyCount, suspendedCount, waitingReportCount, outbox, unacceptedCount } = overview
  const { waitingCount, waitingSinceMs, refusedCount, givenUpCount } = outbox
  return (
    <section aria-labelledby="counts">
      <h2 id="counts">Counts</h2>
      <DescriptionList
        items={[
          ["Accounts", <a href={ROUTES.adminAccounts.path}>{formatNumber(accountCount)}</a>],
          ["Suspended accounts", formatNumber(suspendedCount)],
          ["Active keys", formatNumber(activeKeyCount)],
          ["Reports waiting", <a href={ROUTES.adminFeedback.path}>{formatNumber(waitingReportCount)}</a>],
          ["Terms not accepted yet", <a href={ROUTES.adminTerms.path}>{formatCount(unacceptedCount, "account")}</a>],
          [
            "Mails waiting",
            <>
              {formatNumber(waitingCount)}
              {waitingSinceMs === null ? null : (
                <>
                  , the oldest since <Timestamp atMs={waitingSinceMs} />
                </>
              )}
            </>,
          ],
          ["Mails not delivered", `${formatNumber(refusedCount)} refused, ${formatNumber(givenUpCount)} given up`],
        ]}
      />
    </section>
  )
}

function HealthSection({ overview: { health, isDnsOff, nodeCount } }: OverviewSectionProps) {
  const { status, version, uptime_seconds: uptimeS, dns, lists } = health
  const entryCount = Object.values(lists.entries).reduce((sum, count) => sum + count, 0)
  return (
    <section aria-labelledby="health">
      <h2 id="health">Health</h2>
      <DescriptionList
        items={[
          ["Status", status],
          ["Version", version],
          ["Running for", formatDuration(uptimeS)],
          ["DNS", isDnsOff ? "switched off" : DNS_LABELS[dns.status]],
          ["Servers", formatNumber(nodeCount)],
          ["Entries on lists", formatNumber(entryCount)],
          ["Refresh of lists", REFRESH_LABELS[lists.refresh.status]],
        ]}
      />
    </section>
  )
}

const DNS_LABELS: { readonly [S in Health["dns"]["status"]]: string } = { ok: "works", unavailable: "does not answer" }

const REFRESH_LABELS: { readonly [S in ServerOverview["health"]["lists"]["refresh"]["status"]]: string } = {
  ok: "works",
  failing: "some sources have a problem",
  paused: "paused, because older lists were restored",
  pending: "not refreshed yet",
  off: "switched off",
}

/** A duration in its two largest units. */
export function formatDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const days = Math.floor(hours / 24)
  if (days > 0) return `${formatCount(days, "day")} ${formatCount(hours % 24, "hour")}`
  if (hours > 0) return `${formatCount(hours, "hour")} ${formatCount(minutes % 60, "minute")}`
  return minutes > 0 ? formatCount(minutes, "minute") : "less than a minute"
}

/** The state of the server and its customers. */
export type ServerOverview = {
  readonly health: Health
  readonly lists: ListsOverview
  readonly accountCount: number
  readonly activeKeyCount: number
  /** Reports that wait for a decision. */
  readonly waitingReportCount: number
  readonly outbox: OutboxState
  /** Accounts that have not accepted material terms yet. */
  readonly unacceptedCount: number
  readonly hasMailServer: boolean
  readonly isDnsOff: boolean
  /** Servers that share the database, this one included. */
  readonly nodeCount: number
  readonly suspendedCount: number
  /** The counts of the last 30 days. */
  readonly traffic: readonly HourCount[]
  readonly nowMs: number
}

/** How long a mail may wait before it becomes a task. Greylisting delays a mail by minutes only. */
export const MAIL_WAIT_MAX_MS = 3_600_000

/** What an administrator should look at: one or two sentences each, with code in backticks. */
export function adminTodos(overview: ServerOverview): readonly string[] {
  return [...dnsTodos(overview), ...listTodos(overview.lists), ...mailTodos(overview)]
}

const dnsTodos = ({ health, isDnsOff }: ServerOverview): readonly string[] =>
  health.dns.status === "ok" || isDnsOff ? [] : ["DNS does not answer. Verdicts come from the lists alone."]

/** What to say about an outcome; null: it needs no attention. */
const FAILED_OUTCOMES: { readonly [O in SourceOutcome]: string | null } = {
  taken: null,
  unchanged: null,
  refused: "was refused",
  failed: "could not be fetched",
}

function listTodos({ sources, isPaused }: ListsOverview): readonly string[] {
  const failures = sources.flatMap(({ id, refresh }) => {
    const failure = refresh === null ? null : FAILED_OUTCOMES[refresh.outcome]
    if (refresh === null || failure === null) return []
    return [`The source \`${id}\` ${failure}. Its last good copy is in use, if there is one. ${refresh.message}`.trim()]
  })
  const paused = "Older lists were restored. Run `mailkind lists update` to refresh lists again."
  return isPaused ? [paused, ...failures] : failures
}

function mailTodos({ outbox, hasMailServer, nowMs }: ServerOverview): readonly string[] {
  const { waitingCount, waitingSinceMs, refusedCount, givenUpCount } = outbox
  const isOverdue = waitingSinceMs !== null && nowMs - waitingSinceMs >= MAIL_WAIT_MAX_MS
  const since = waitingSinceMs === null ? "" : formatInstant(waitingSinceMs)
  return [
    ...(hasMailServer ? [] : ["No mails are sent, because no mail server is set. Set `MAILKIND_SMTP_URL`."]),
    ...(hasMailServer && isOverdue
      ? [`${mailCountLabel(waitingCount)} not sent yet. The oldest is waiting since ${since}.`]
      : []),
    ...(refusedCount === 0 ? [] : [`${mailCountLabel(refusedCount)} refused by the mail server of the recipient.`]),
    ...(givenUpCount === 0 ? [] : [`${mailCountLabel(givenUpCount)} not delivered after days of tries.`]),
  ]
}

const mailCountLabel = (count: number): string => (count === 1 ? "1 mail was" : `${count} mails were`)
