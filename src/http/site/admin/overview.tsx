import { Elysia } from "elysia"
import type { SourceOutcome } from "../../../check/refresh/refresh-state.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Health } from "../../../contract/schemas.ts"
import { countAccounts } from "../../../customers/accounts/accounts.ts"
import { countFeedback } from "../../../customers/feedback/feedback.ts"
import { countActiveKeys } from "../../../customers/keys/keys.ts"
import { type OutboxState, readOutboxState } from "../../../customers/notices/outbox.ts"
import type { ChangeLog } from "../../../customers/store/change-log/change-log.ts"
import { countUnaccepted } from "../../../customers/terms/terms.ts"
import type { Guards, SignedInUser } from "../guards.ts"
import { ListsFreshness, type ListsOverview, SourcesTable } from "../public/lists-overview.tsx"
import { Timestamp } from "../ui/forms.tsx"
import { Prose } from "../ui/layout.tsx"
import { AdminLayout, DescriptionList, formatCount, formatNumber } from "./admin-layout.tsx"

/** @jsxImportSource preact */
type OverviewPageProps = { readonly user: SignedInUser; readonly overview: ServerOverview }

/** How the server is, what needs an eye, how much there is of everything, and where the lists come from. */
function OverviewPage({ user, overview }: OverviewPageProps) {
  const { lists } = overview
  return (
    <AdminLayout route="admin" section="admin" title="Administration" user={user}>
      <TodoSection overview={overview} />
      <CountsSection overview={overview} />
      <HealthSection overview={overview} />
      <section aria-labelledby="lists">
        <h2 id="lists">Lists</h2>
        <ListsFreshness lists={lists} />
        <p>A source that is refused or fails does no harm: its last good copy serves.</p>
        <SourcesTable lists={lists} />
      </section>
    </AdminLayout>
  )
}

type OverviewSectionProps = Pick<OverviewPageProps, "overview">

function TodoSection({ overview }: OverviewSectionProps) {
  const attention = adminTodos(overview)
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">What needs an eye</h2>
      {attention.length === 0 ? (
        <p>Nothing does.</p>
      ) : (
        <ul class="told">
          {attention.map(says => (
            <li key={says}>
              <Prose text={says} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function CountsSection({ overview }: OverviewSectionProps) {
  const { accountCount, activeKeyCount, waitingReportCount, outbox, unacceptedCount } = overview
  const { waitingCount, waitingSinceMs, refusedCount, givenUpCount } = outbox
  return (
    <section aria-labelledby="counts">
      <h2 id="counts">Counts</h2>
      <DescriptionList
        items={[
          ["Accounts", <a href={ROUTES.adminAccounts.path}>{formatNumber(accountCount)}</a>],
          ["Active keys", formatNumber(activeKeyCount)],
          ["Reports waiting", <a href={ROUTES.adminFeedback.path}>{formatNumber(waitingReportCount)}</a>],
          [
            "Yet to accept terms",
            <a href={ROUTES.adminTerms.path}>{formatCount(unacceptedCount, "account", "accounts")}</a>,
          ],
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
          ["Mails not taken", `${formatNumber(refusedCount)} refused, ${formatNumber(givenUpCount)} given up`],
        ]}
      />
    </section>
  )
}

function HealthSection({ overview: { health } }: OverviewSectionProps) {
  const { status, version, uptime_seconds: uptimeS, dns, lists } = health
  const entryCount = Object.values(lists.entries).reduce((sum, count) => sum + count, 0)
  return (
    <section aria-labelledby="health">
      <h2 id="health">Health</h2>
      <DescriptionList
        items={[
          ["Status", status],
          ["Program", <>version {version}</>],
          ["Running for", formatDuration(uptimeS)],
          ["DNS", dns.status],
          ["Names on lists", formatNumber(entryCount)],
          ["Refreshing", REFRESH_LABELS[lists.refresh.status]],
        ]}
      />
    </section>
  )
}

const REFRESH_LABELS: { readonly [S in ServerOverview["health"]["lists"]["refresh"]["status"]]: string } = {
  ok: "every source gave what it should",
  failing: "some sources were of no use",
  paused: "paused: older lists were put back",
  pending: "not yet since the start of this installation",
  off: "switched off",
}

/** A span of time in its two largest units. */
export function formatDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const days = Math.floor(hours / 24)
  if (days > 0) return `${formatCount(days, "day", "days")} ${formatCount(hours % 24, "hour", "hours")}`
  if (hours > 0) return `${formatCount(hours, "hour", "hours")} ${formatCount(minutes % 60, "minute", "minutes")}`
  return minutes > 0 ? formatCount(minutes, "minute", "minutes") : "less than a minute"
}

/** How the house stands, in numbers. */
export type ServerOverview = {
  readonly health: Health
  readonly lists: ListsOverview
  readonly accountCount: number
  readonly activeKeyCount: number
  /** Reports that wait for a decision. */
  readonly waitingReportCount: number
  readonly outbox: OutboxState
  /** Accounts that have yet to accept material terms. */
  readonly unacceptedCount: number
  readonly hasMailServer: boolean
  readonly nowMs: number
}

/** How long a mail may wait before somebody should look: greylisting lets it in after minutes. */
export const MAIL_WAIT_MAX_MS = 3_600_000

/** What needs an administrator's eye, each in a sentence or two with code between backticks; empty: nothing does. */
export function adminTodos(standing: ServerOverview): readonly string[] {
  return [...dnsTodos(standing), ...listTodos(standing.lists), ...mailTodos(standing)]
}

const dnsTodos = ({ health }: ServerOverview): readonly string[] =>
  health.dns.status === "ok" ? [] : ["DNS gives no answers: every verdict rests on the lists alone."]

/** Outcomes that are worth a look, in words. */
const FAILED_OUTCOMES: { readonly [O in SourceOutcome]: string | null } = {
  taken: null,
  unchanged: null,
  refused: "was refused",
  failed: "could not be fetched",
}

function listTodos({ sources, isPaused }: ListsOverview): readonly string[] {
  const missed = sources.flatMap(({ id, refresh }) => {
    const words = refresh === null ? null : FAILED_OUTCOMES[refresh.outcome]
    if (refresh === null || words === null) return []
    return [`The source \`${id}\` ${words}, so its last good copy serves. ${refresh.why}`.trim()]
  })
  const paused = "Older lists were put back; none are refreshed until somebody runs `mailkind lists update`."
  return isPaused ? [paused, ...missed] : missed
}

function mailTodos({ outbox, hasMailServer, nowMs }: ServerOverview): readonly string[] {
  const { waitingCount, waitingSinceMs, refusedCount, givenUpCount } = outbox
  const isLate = waitingSinceMs !== null && nowMs - waitingSinceMs >= MAIL_WAIT_MAX_MS
  const since = waitingSinceMs === null ? "" : new Date(waitingSinceMs).toISOString().slice(0, 16).replace("T", " ")
  return [
    ...(hasMailServer ? [] : ["No mail server is set, so no mail is sent. Set `MAILKIND_SMTP_URL`."]),
    ...(hasMailServer && isLate ? [`Of ${waitingCount} waiting mails the oldest waits since ${since} UTC.`] : []),
    ...(refusedCount === 0 ? [] : [`${mailCountLabel(refusedCount)} refused for good by the servers they were for.`]),
    ...(givenUpCount === 0 ? [] : [`${mailCountLabel(givenUpCount)} tried for days and given up.`]),
  ]
}

const mailCountLabel = (count: number): string => (count === 1 ? "1 mail was" : `${count} mails were`)

/** @jsxImportSource preact */
/** What the overview is built from. */
export type OverviewRouteDeps = {
  readonly enter: Guards
  readonly changes: ChangeLog
  readonly health: () => Health
  readonly lists: () => ListsOverview
  /** Whether mails have a server to be sent by. */
  readonly hasMailServer: boolean
}

/** How the server is, and what needs an eye. */
export function adminOverviewRoutes(needs: OverviewRouteDeps) {
  return new Elysia({ normalize: false }).get(ROUTES.admin.path, ({ request }) =>
    needs.enter.requireAdmin.page(request, async visitor => (
      <OverviewPage user={visitor} overview={await readServerOverview(needs)} />
    )),
  )
}

async function readServerOverview({
  changes,
  health,
  lists,
  hasMailServer,
}: OverviewRouteDeps): Promise<ServerOverview> {
  const { store, clock } = changes
  return {
    health: health(),
    lists: lists(),
    accountCount: (await countAccounts(store)).all,
    activeKeyCount: await countActiveKeys(store),
    waitingReportCount: await countFeedback(store, "received"),
    outbox: await readOutboxState(store),
    unacceptedCount: await countUnaccepted(store),
    hasMailServer,
    nowMs: clock(),
  }
}
