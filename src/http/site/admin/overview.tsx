/** @jsxImportSource preact */
import { formatInstant } from "../../../base/time.ts"
import type { SourceOutcome } from "../../../check/refresh/refresh-state.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Health } from "../../../contract/schemas.ts"
import { countAccounts } from "../../../customers/accounts/accounts.ts"
import { countSuspended } from "../../../customers/accounts/suspension.ts"
import { countFeedback } from "../../../customers/feedback/feedback.ts"
import { countFailedJobs } from "../../../customers/jobs/job-row.ts"
import { countActiveKeys } from "../../../customers/keys/keys.ts"
import { readOutboxState } from "../../../customers/notices/outbox.ts"
import { countUnaccepted } from "../../../customers/terms/terms.ts"
import { readTraffic } from "../../../customers/usage/traffic.ts"
import { handlers } from "../../router.ts"
import { pathWithId, withQuery } from "../links.ts"
import type { ListsOverview } from "../public/lists-overview.tsx"
import type { SiteContext } from "../site-context.ts"
import { formatCount, formatNumber, formatShare } from "../ui/format.ts"
import { DateStamp, LinkButton, Timestamp } from "../ui/forms.tsx"
import { DescriptionList, Prose } from "../ui/layout.tsx"
import { Change, Legend, Notice, Panel, Swatch, Tiles } from "../ui/panels.tsx"
import { AdminLayout } from "./admin-layout.tsx"
import { dayFigures, firstShownHour, TrafficPanels } from "./traffic.tsx"

/** The first page of the administration. */
export function adminOverviewRoutes(site: SiteContext) {
  return handlers({
    admin: exchange =>
      site.guards.requireAdmin.page(exchange, async () => <OverviewPage overview={await readServerOverview(site)} />),
  })
}

async function readServerOverview(site: SiteContext) {
  const { changes, health, lists, hasMailServer, nodesCount } = site
  const { store, clock } = changes
  return {
    health: health(),
    lists: lists(),
    accountCount: (await countAccounts(store)).all,
    activeKeyCount: await countActiveKeys(store, clock()),
    /** Reports that wait for a decision. */
    waitingReportCount: await countFeedback(store, "received"),
    outbox: await readOutboxState(store),
    /** Accounts that have not accepted material terms yet. */
    unacceptedCount: await countUnaccepted(store),
    hasMailServer,
    /** Servers that share the database, this one included. */
    nodeCount: nodesCount(),
    suspendedCount: await countSuspended(store),
    /** Whose whole lists have a check that stopped before its end, until they are deleted. */
    failedJobs: await countFailedJobs(store, FAILED_JOB_ACCOUNTS_MAX),
    /** The counts of the last 30 days. */
    traffic: await readTraffic(store, firstShownHour(clock())),
    nowMs: clock(),
  }
}

const FAILED_JOB_ACCOUNTS_MAX = 5

/** The state of the server and its customers. */
export type ServerOverview = Readonly<Awaited<ReturnType<typeof readServerOverview>>>

type OverviewProps = { readonly overview: ServerOverview }

/** The overview: what needs attention, how much is used, and the state of the server. */
function OverviewPage({ overview }: OverviewProps) {
  return (
    <AdminLayout route="admin" section="admin" title="Administration" action={<Legend items={statusItems(overview)} />}>
      <AttentionPanel overview={overview} />
      <Tiles tiles={overviewTiles(overview)} />
      <TrafficPanels counts={overview.traffic} nowMs={overview.nowMs} />
      <ServerPanel overview={overview} />
    </AdminLayout>
  )
}

function AttentionPanel({ overview }: OverviewProps) {
  const { broken, waiting } = adminTodos(overview)
  if (broken.length + waiting.length === 0) return <Notice tone="allow">Nothing needs attention.</Notice>
  return (
    <Panel title="Needs attention" id="attention">
      <ul class="plain todos">
        {[...broken, ...waiting].map((todo, at) => (
          <li key={at}>
            <span>
              <Swatch tone={at < broken.length ? "of-block" : "of-review"} />
              <Prose text={todo.text} />
            </span>
            {todo.link && <LinkButton {...todo.link} look="small" />}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** What works, and what does not. */
function statusItems({ health: { status, dns, lists }, hasMailServer }: ServerOverview) {
  const item = (label: string, tone: "allow" | "review" | "block" | "plain") => ({ label, tone: `of-${tone}` })
  return [
    item(`API ${status}`, status === "ok" ? "allow" : "block"),
    item(...DNS_STATUS[dns.status]),
    item(...REFRESH_STATUS[lists.refresh.status]),
    hasMailServer ? item("Email on", "allow") : item("Email off", "block"),
  ]
}

type StatusWords = readonly [label: string, tone: "allow" | "review" | "block" | "plain"]

const DNS_STATUS: { readonly [S in Health["dns"]["status"]]: StatusWords } = {
  ok: ["DNS works", "allow"],
  unavailable: ["DNS does not answer", "block"],
  off: ["DNS off", "plain"],
}

const REFRESH_STATUS: { readonly [S in Health["lists"]["refresh"]["status"]]: StatusWords } = {
  ok: ["Lists refreshed", "allow"],
  failing: ["Some sources fail", "review"],
  pinned: ["Lists pinned", "review"],
  pending: ["Lists not refreshed yet", "plain"],
  off: ["Refresh off", "plain"],
}

function overviewTiles({ accountCount, activeKeyCount, traffic: counts, nowMs }: ServerOverview) {
  const [now, before] = [false, true].map(isBefore => dayFigures({ counts, nowMs }, isBefore)) as [
    DayFigures,
    DayFigures,
  ] // two in, two out
  const change = (figure: "requests" | "units") => (
    <Change now={now[figure]} before={before[figure]} period="the day before" />
  )
  return [
    { label: "Accounts", value: formatNumber(accountCount), note: formatCount(activeKeyCount, "active key") },
    { label: "Requests, 24 hours", value: formatNumber(now.requests), note: change("requests") },
    {
      label: "Failed, 24 hours",
      value: formatNumber(now.failed),
      note: `${formatShare(now.failed, now.requests)} of requests`,
    },
    { label: "Units, 24 hours", value: formatNumber(now.units), note: change("units") },
  ]
}

type DayFigures = ReturnType<typeof dayFigures>

function ServerPanel({ overview: { health, nodeCount, outbox, lists: loaded } }: OverviewProps) {
  const { version, uptime_seconds: uptimeS, lists } = health
  const { waitingCount: count, waitingSinceMs: since } = outbox
  const entryCount = Object.values(lists.entries).reduce((sum, count) => sum + count, 0)
  return (
    <Panel
      title="Server"
      link={<a href={ROUTES.adminSources.path}>{formatCount(loaded.sources.length, "source")} and their health</a>}
    >
      <div class="two">
        <DescriptionList
          items={[
            ["Version", version],
            ["Running for", formatDuration(uptimeS)],
            ["Servers", formatNumber(nodeCount)],
            [
              "Emails waiting",
              since === null ? "none" : [formatNumber(count), ", since ", <DateStamp key="since" atMs={since} />],
            ],
          ]}
        />
        <DescriptionList
          items={[
            ["Lists", <code>{loaded.version}</code>],
            ["Entries", formatNumber(entryCount)],
            ["Built", <Timestamp atMs={Date.parse(loaded.builtAt)} />],
            ["Refreshed", loaded.refreshedAt === null ? "never" : <Timestamp atMs={Date.parse(loaded.refreshedAt)} />],
          ]}
        />
      </div>
    </Panel>
  )
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

/** How long a mail may wait before it becomes a task. Greylisting delays a mail by minutes only. */
export const MAIL_WAIT_MAX_MS = 3_600_000

/** Something to look at: a sentence or two with code in backticks, and the page where it is done. */
type Todo = { readonly text: string; readonly link?: { readonly label: string; readonly path: string } }

/** What an administrator should look at: what is broken, and what waits for somebody. */
export function adminTodos(overview: ServerOverview): { readonly [K in "broken" | "waiting"]: readonly Todo[] } {
  const broken = [
    ...dnsTodos(overview),
    ...listTodos(overview.lists, overview.health.lists.is_behind),
    ...mailTodos(overview),
  ]
  return { broken, waiting: waitingTodos(overview) }
}

/** What waits for a decision of a person. */
const waitingTodos = (overview: ServerOverview): readonly Todo[] => [
  ...WAITING.flatMap(({ counted, words: [one, many], ...link }) => {
    const count = overview[counted]
    return count === 0 ? [] : [{ text: formatCount(count, one, many), link }]
  }),
  ...failedJobTodos(overview),
]

const WAITING = [
  {
    counted: "waitingReportCount",
    words: ["report waits for a decision.", "reports wait for a decision."],
    label: "Review reports",
    path: ROUTES.adminFeedback.path,
  },
  {
    counted: "unacceptedCount",
    words: ["account has not accepted the terms.", "accounts have not accepted the terms."],
    label: "See terms",
    path: ROUTES.adminTerms.path,
  },
  {
    counted: "suspendedCount",
    words: ["account is suspended.", "accounts are suspended."],
    label: "See suspended",
    path: withQuery(ROUTES.adminAccounts.path, { state: "suspended" }),
  },
] as const

/** Each account with list checks that stopped has an entry. Why they did is on its owner's page. */
const failedJobTodos = ({ failedJobs }: ServerOverview): readonly Todo[] =>
  failedJobs.map(({ accountId, count }) => ({
    text: formatCount(count, "list check stopped before its end.", "list checks stopped before their end."),
    link: { label: "See account", path: pathWithId("adminAccount", accountId) },
  }))

const dnsTodos = ({ health }: ServerOverview): readonly Todo[] =>
  health.dns.status !== "unavailable" ? [] : [{ text: "DNS does not answer. Verdicts come from the lists alone." }]

/** Why a source is of no use is on the page of the sources. */
function listTodos({ sources, pinned }: ListsOverview, isBehind: boolean): readonly Todo[] {
  const faults = Object.entries(FAULTS).flatMap(([outcome, [one, many]]) => {
    const [first, ...others] = sources.filter(({ refresh }) => refresh?.outcome === outcome)
    if (first === undefined) return []
    const text =
      others.length === 0
        ? `The source \`${first.id}\` ${one}.`
        : `${formatNumber(others.length + 1)} sources ${many}, \`${first.id}\` among them.`
    return [
      { text, link: { label: others.length === 0 ? "See source" : "See sources", path: ROUTES.adminSources.path } },
    ]
  })
  const behind = { text: "This node does not use the lists of the other nodes. The log says why." }
  const held = { text: `The lists \`${pinned}\` are pinned. Run \`mailkind lists unpin\` to use newer ones.` }
  return [...(isBehind ? [behind] : []), ...(pinned === null ? [] : [held]), ...faults]
}

/** What to say about the outcomes that need attention, of one source and of several. */
const FAULTS = {
  refused: ["was refused", "were refused"],
  failed: ["could not be fetched", "could not be fetched"],
} as const satisfies { readonly [O in SourceOutcome]?: readonly [one: string, many: string] }

function mailTodos({ outbox, hasMailServer, nowMs }: ServerOverview): readonly Todo[] {
  const { waitingCount, waitingSinceMs, refusedCount, givenUpCount } = outbox
  const isOverdue = hasMailServer && waitingSinceMs !== null && nowMs - waitingSinceMs >= MAIL_WAIT_MAX_MS
  const texts = [
    hasMailServer ? null : "No email is sent, because no mail server is set. Set `MAILKIND_SMTP_URL`.",
    isOverdue
      ? `${mailCountLabel(waitingCount)} not sent yet. The oldest has waited since ${formatInstant(waitingSinceMs)}.`
      : null,
    refusedCount === 0 ? null : `${mailCountLabel(refusedCount)} refused by the recipient’s mail server.`,
    givenUpCount === 0 ? null : `${mailCountLabel(givenUpCount)} not delivered after days of tries.`,
  ]
  return texts.flatMap(text => (text === null ? [] : [{ text }]))
}

const mailCountLabel = (count: number): string => formatCount(count, "email was", "emails were")
