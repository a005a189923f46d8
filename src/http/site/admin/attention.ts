import type { SourceOutcome } from "../../../check/refresh/refresh-state.ts"
import type { Health } from "../../../contract/schemas.ts"
import type { OutboxState } from "../../../customers/notices/outbox.ts"
import type { ListsInUse } from "../lists-page.tsx"

/** How the house stands, in numbers. */
export type Standing = {
  readonly health: Health
  readonly lists: ListsInUse
  readonly accountCount: number
  readonly activeKeyCount: number
  /** Reports that wait for a decision. */
  readonly reportCount: number
  readonly outbox: OutboxState
  /** Accounts that have yet to accept material terms. */
  readonly unacceptedCount: number
  readonly hasMailServer: boolean
  readonly nowMs: number
}

/** How long a mail may wait before somebody should look: greylisting lets it in after minutes. */
export const WAITING_MAX_MS = 3_600_000

/** What needs an administrator's eye, each in a sentence or two with code between backticks; empty: nothing does. */
export function attentionIn(standing: Standing): readonly string[] {
  return [...aboutDns(standing), ...aboutLists(standing.lists), ...aboutMails(standing)]
}

const aboutDns = ({ health }: Standing): readonly string[] =>
  health.dns.status === "ok" ? [] : ["DNS gives no answers: every verdict rests on the lists alone."]

/** Outcomes that are worth a look, in words. */
const MISSED: { readonly [O in SourceOutcome]: string | null } = {
  taken: null,
  unchanged: null,
  refused: "was refused",
  failed: "could not be fetched",
}

function aboutLists({ sources, isPaused }: ListsInUse): readonly string[] {
  const missed = sources.flatMap(({ id, refresh }) => {
    const words = refresh === null ? null : MISSED[refresh.outcome]
    if (refresh === null || words === null) return []
    return [`The source \`${id}\` ${words}, so its last good copy serves. ${refresh.why}`.trim()]
  })
  const paused = "Older lists were put back; none are refreshed until somebody runs `mailkind lists update`."
  return isPaused ? [paused, ...missed] : missed
}

function aboutMails({ outbox, hasMailServer, nowMs }: Standing): readonly string[] {
  const { waitingCount, waitingSinceMs, refusedCount, givenUpCount } = outbox
  const isLate = waitingSinceMs !== null && nowMs - waitingSinceMs >= WAITING_MAX_MS
  const since = waitingSinceMs === null ? "" : new Date(waitingSinceMs).toISOString().slice(0, 16).replace("T", " ")
  return [
    ...(hasMailServer ? [] : ["No mail server is set, so no mail is sent. Set `MAILKIND_SMTP_URL`."]),
    ...(hasMailServer && isLate ? [`Of ${waitingCount} waiting mails the oldest waits since ${since} UTC.`] : []),
    ...(refusedCount === 0 ? [] : [`${mails(refusedCount)} refused for good by the servers they were for.`]),
    ...(givenUpCount === 0 ? [] : [`${mails(givenUpCount)} tried for days and given up.`]),
  ]
}

const mails = (count: number): string => (count === 1 ? "1 mail was" : `${count} mails were`)
