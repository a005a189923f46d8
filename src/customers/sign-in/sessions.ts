import type { Clock, Random } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import { type Account, findAccount } from "../accounts/accounts.ts"
import { recordAct } from "../audit/audit.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import { newId } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"
import { hashSecret, isSecret, newSecret, validStartRange } from "./secrets.ts"

/** A session: a browser that is signed in. */
export type Session = {
  readonly id: string
  readonly accountId: string
  /** The browser, as returned by `userAgentLabel`. */
  readonly agent: string
  readonly createdAtMs: number
  /** When it last sent a request, to `SEEN_EVERY_MS`. */
  readonly seenAtMs: number
}

/** How long a session lasts from the sign-in, in milliseconds. */
export const SESSION_MS = LIMITS.sessionDays * DAY_MS

/** The last use of a session is written at most this often. */
const SEEN_UPDATE_MS = 300_000

/** A session with its secret, available only here. */
export type NewSession = { readonly session: Session; readonly secret: string }

/**
 * Creates a session within the transaction of `store`. The account's oldest sessions beyond `LIMITS.sessionsPerAccountMax`
 * end.
 */
export async function insertSession(
  store: Store,
  random: Random,
  nowMs: number,
  accountId: string,
  agent: string,
): Promise<NewSession> {
  const secret = newSecret(random)
  const session = { id: newId("ses", random), accountId, agent, createdAtMs: nowMs, seenAtMs: nowMs }
  await store.run(
    "INSERT INTO sessions (id, hash, account_id, agent, created_at_ms, seen_at_ms) VALUES ($1, $2, $3, $4, $5, $5)",
    [session.id, hashSecret(secret), accountId, agent, nowMs],
  )
  await store.run(
    `DELETE FROM sessions WHERE account_id = $1 AND id <> $2 AND id NOT IN
       (SELECT id FROM sessions WHERE account_id = $1 AND id <> $2 ORDER BY created_at_ms DESC, id LIMIT $3)`,
    [accountId, session.id, LIMITS.sessionsPerAccountMax - 1],
  )
  return { session, secret }
}

/** The account and session of a request. */
export type ActiveSession = { readonly session: Session; readonly account: Account }

/** The session of a secret; null: none, or it has ended. */
export async function findSession(store: Store, clock: Clock, secret: string): Promise<ActiveSession | null> {
  if (!isSecret(secret)) return null
  const nowMs = clock()
  const row = await store.one<SessionRow>(`SELECT ${COLUMNS} FROM sessions WHERE hash = $1 AND ${IS_VALID}`, [
    hashSecret(secret),
    ...validStartRange(nowMs, SESSION_MS),
  ])
  if (row === null) return null
  const account = await findAccount(store, row.account_id)
  if (account === null) return null
  if (nowMs - row.seen_at_ms >= SEEN_UPDATE_MS)
    await store.run("UPDATE sessions SET seen_at_ms = $2 WHERE id = $1", [row.id, nowMs])
  return { session: toSession(row), account }
}

/** The account's running sessions, latest first. */
export async function listSessions(store: Store, clock: Clock, accountId: string): Promise<readonly Session[]> {
  const rows = await store.all<SessionRow>(
    `SELECT ${COLUMNS} FROM sessions WHERE account_id = $1 AND ${IS_VALID} ORDER BY created_at_ms DESC, id LIMIT $4`,
    [accountId, ...validStartRange(clock(), SESSION_MS), LIMITS.sessionsPerAccountMax],
  )
  return rows.map(toSession)
}

/** Ends a session of the account; false when it has none with this id. When it resolves, the browser is signed out. */
export async function endSession(log: SessionLog, accountId: string, id: string): Promise<boolean> {
  return await log.store.transaction(async store => {
    if ((await store.run("DELETE FROM sessions WHERE id = $1 AND account_id = $2", [id, accountId])) === 0) return false
    await recordAct(log, store, { kind: "session_ended", accountId, details: id })
    return true
  })
}

type SessionLog = Pick<AttributedLog, "store" | "clock" | "actor">

/** Ends all sessions of the account except this one, and returns their count. */
export async function endOtherSessions(log: SessionLog, accountId: string, keptId: string): Promise<number> {
  return await log.store.transaction(async store => {
    const count = await store.run("DELETE FROM sessions WHERE account_id = $1 AND id <> $2", [accountId, keptId])
    if (count > 0) await recordAct(log, store, { kind: "other_sessions_ended", accountId, details: String(count) })
    return count
  })
}

/** Deletes at most `countMax` ended sessions and returns their count. */
export async function pruneSessions(store: Store, nowMs: TrustedInstant, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM sessions WHERE id IN
       (SELECT id FROM sessions WHERE created_at_ms <= $1 OR created_at_ms >= $2 LIMIT $3)`,
    [...validStartRange(nowMs, SESSION_MS), countMax],
  )
}

/** SQL condition on the parameters of `validStartRange`. */
const IS_VALID = "created_at_ms > $2 AND created_at_ms < $3"

const COLUMNS = "id, account_id, agent, created_at_ms, seen_at_ms"

type SessionRow = {
  readonly id: string
  readonly account_id: string
  readonly agent: string
  readonly created_at_ms: number
  readonly seen_at_ms: number
}

function toSession(row: SessionRow): Session {
  return {
    id: row.id,
    accountId: row.account_id,
    agent: row.agent,
    createdAtMs: row.created_at_ms,
    seenAtMs: row.seen_at_ms,
  }
}

/** Browsers, more specific names first: most `User-Agent` texts also contain the names of others. */
const BROWSERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Edge", /\bEdgA?\//],
  ["Opera", /\bOPR\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ["Safari", /\bSafari\//],
]

const SYSTEMS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Android", /\bAndroid\b/],
  ["iOS", /\b(?:iPhone|iPad|iPod)\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
]

/** How many characters of a `User-Agent` are read. */
const USER_AGENT_LENGTH_MAX = 512

/** A label for a `User-Agent` (RFC 9110 §10.1.5) from a fixed set of words: `Firefox on Linux`. */
export function userAgentLabel(userAgent: string | null): string {
  const text = (userAgent ?? "").slice(0, USER_AGENT_LENGTH_MAX)
  const named = (table: typeof BROWSERS): string | null => table.find(([, pattern]) => pattern.test(text))?.[0] ?? null
  const browser = named(BROWSERS) ?? "Unknown browser"
  const system = named(SYSTEMS)
  return system === null ? browser : `${browser} on ${system}`
}
