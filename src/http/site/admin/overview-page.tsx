/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { Instant } from "../fields.tsx"
import { Prose } from "../layout.tsx"
import { Freshness, SourcesTable } from "../lists-page.tsx"
import type { Visitor } from "../signed-in.ts"
import { AdminLayout, counted, Facts, grouped } from "./admin-layout.tsx"
import { attentionIn, type Standing } from "./attention.ts"

type Props = { readonly visitor: Visitor; readonly standing: Standing }

/** How the server is, what needs an eye, how much there is of everything, and where the lists come from. */
export function OverviewPage({ visitor, standing }: Props) {
  const { lists } = standing
  return (
    <AdminLayout route="admin" section="admin" title="Administration" visitor={visitor}>
      <AttentionSection standing={standing} />
      <CountsSection standing={standing} />
      <HealthSection standing={standing} />
      <section aria-labelledby="lists">
        <h2 id="lists">Lists</h2>
        <Freshness lists={lists} />
        <p>A source that is refused or fails does no harm: its last good copy serves.</p>
        <SourcesTable lists={lists} />
      </section>
    </AdminLayout>
  )
}

type Part = Pick<Props, "standing">

function AttentionSection({ standing }: Part) {
  const attention = attentionIn(standing)
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

function CountsSection({ standing }: Part) {
  const { accountCount, activeKeyCount, reportCount, outbox, unacceptedCount } = standing
  const { waitingCount, waitingSinceMs, refusedCount, givenUpCount } = outbox
  return (
    <section aria-labelledby="counts">
      <h2 id="counts">Counts</h2>
      <Facts
        facts={[
          ["Accounts", <a href={ROUTES.adminAccounts.path}>{grouped(accountCount)}</a>],
          ["Active keys", grouped(activeKeyCount)],
          ["Reports waiting", <a href={ROUTES.adminFeedback.path}>{grouped(reportCount)}</a>],
          [
            "Yet to accept terms",
            <a href={ROUTES.adminTerms.path}>{counted(unacceptedCount, "account", "accounts")}</a>,
          ],
          [
            "Mails waiting",
            <>
              {grouped(waitingCount)}
              {waitingSinceMs === null ? null : (
                <>
                  , the oldest since <Instant atMs={waitingSinceMs} />
                </>
              )}
            </>,
          ],
          ["Mails not taken", `${grouped(refusedCount)} refused, ${grouped(givenUpCount)} given up`],
        ]}
      />
    </section>
  )
}

function HealthSection({ standing: { health } }: Part) {
  const { status, version, uptime_seconds: uptimeS, dns, lists } = health
  const entryCount = Object.values(lists.entries).reduce((sum, count) => sum + count, 0)
  return (
    <section aria-labelledby="health">
      <h2 id="health">Health</h2>
      <Facts
        facts={[
          ["Status", status],
          ["Program", <>version {version}</>],
          ["Running for", durationWords(uptimeS)],
          ["DNS", dns.status],
          ["Names on lists", grouped(entryCount)],
          ["Refreshing", REFRESHING[lists.refresh.status]],
        ]}
      />
    </section>
  )
}

const REFRESHING: { readonly [S in Standing["health"]["lists"]["refresh"]["status"]]: string } = {
  ok: "every source gave what it should",
  failing: "some sources were of no use",
  paused: "paused: older lists were put back",
  pending: "not yet since the start of this installation",
  off: "switched off",
}

/** A span of time in its two largest units. */
export function durationWords(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const days = Math.floor(hours / 24)
  if (days > 0) return `${counted(days, "day", "days")} ${counted(hours % 24, "hour", "hours")}`
  if (hours > 0) return `${counted(hours, "hour", "hours")} ${counted(minutes % 60, "minute", "minutes")}`
  return minutes > 0 ? counted(minutes, "minute", "minutes") : "less than a minute"
}
