import type { Clock, Random } from "../../base/clock.ts"
import { DAY_MS } from "../../base/utc-day.ts"
import { LIMITS } from "../../contract/limits.ts"
import { type Account, findAccount } from "../accounts/accounts.ts"
import { newId } from "../store/id.ts"
import type { Store } from "../store/store.ts"
import { begunBetween } from "./lasting.ts"
import { isSecret, newSecret, secretHash } from "./secret.ts"

/** A browser that is signed in. */
export type Session = {
  readonly id: string
  readonly accountId: string
  /** Which browser it is, as `agentWords` says it. */
  readonly agent: string
  readonly createdAtMs: number
  /** When it last asked for anything, give or take `SEEN_EVERY_MS`. */
  readonly seenAtMs: number
}

/** How long a session lasts from the sign-in, in milliseconds. */
export const SESSION_MS = LIMITS.sessionDays * DAY_MS

/** How often the last use of a session is written at most. */
const SEEN_EVERY_MS = 300_000

/** A session and, this once, the secret by which its browser is known. */
export type OpenedSession = { readonly session: Session; readonly secret: string }

/**
 * Opens a session, as part of a transaction: that of `store`. The account's oldest ones beyond
 * `LIMITS.sessionsPerAccountMax` end.
 */
export async function insertSession(
  store: Store,
  random: Random,
  nowMs: number,
  accountId: string,
  agent: string,
): Promise<OpenedSession> {
  const secret = newSecret(random)
  const session = { id: newId("ses", random), accountId, agent, createdAtMs: nowMs, seenAtMs: nowMs }
  await store.run(
    "INSERT INTO sessions (id, hash, account_id, agent, created_at_ms, seen_at_ms) VALUES ($1, $2, $3, $4, $5, $5)",
    [session.id, secretHash(secret), accountId, agent, nowMs],
  )
  await store.run(
    `DELETE FROM sessions WHERE account_id = $1 AND id <> $2 AND id NOT IN
       (SELECT id FROM sessions WHERE account_id = $1 AND id <> $2 ORDER BY created_at_ms DESC, id LIMIT $3)`,
    [accountId, session.id, LIMITS.sessionsPerAccountMax - 1],
  )
  return { session, secret }
}

/** Who is signed in. */
export type SignedIn = { readonly session: Session; readonly account: Account }

/** Who is signed in by a secret; null: nobody, or no longer. */
export async function findSession(store: Store, clock: Clock, secret: string): Promise<SignedIn | null> {
  if (!isSecret(secret)) return null
  const nowMs = clock()
  const row = await store.one<SessionRow>(`SELECT ${COLUMNS} FROM sessions WHERE hash = $1 AND ${OPEN}`, [
    secretHash(secret),
    ...begunBetween(nowMs, SESSION_MS),
  ])
  if (row === null) return null
  const account = await findAccount(store, row.account_id)
  if (account === null) return null
  if (nowMs - row.seen_at_ms >= SEEN_EVERY_MS)
    await store.run("UPDATE sessions SET seen_at_ms = $2 WHERE id = $1", [row.id, nowMs])
  return { session: sessionOf(row), account }
}

/** The account's sessions that have not ended, the latest first. */
export async function listSessions(store: Store, clock: Clock, accountId: string): Promise<readonly Session[]> {
  const rows = await store.all<SessionRow>(
    `SELECT ${COLUMNS} FROM sessions WHERE account_id = $1 AND ${OPEN} ORDER BY created_at_ms DESC, id LIMIT $4`,
    [accountId, ...begunBetween(clock(), SESSION_MS), LIMITS.sessionsPerAccountMax],
  )
  return rows.map(sessionOf)
}

/** Ends a session of the account; false when it has none of this id. Its browser is signed out when this resolves. */
export async function endSession(store: Store, accountId: string, id: string): Promise<boolean> {
  return (await store.run("DELETE FROM sessions WHERE id = $1 AND account_id = $2", [id, accountId])) > 0
}

/** Ends all sessions of the account but the one of this id, and gives their count. */
export async function endOtherSessions(store: Store, accountId: string, keptId: string): Promise<number> {
  return await store.run("DELETE FROM sessions WHERE account_id = $1 AND id <> $2", [accountId, keptId])
}

/** Deletes at most `countMax` sessions that are over, and gives their count. */
export async function pruneSessions(store: Store, clock: Clock, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM sessions WHERE id IN
       (SELECT id FROM sessions WHERE created_at_ms <= $1 OR created_at_ms >= $2 LIMIT $3)`,
    [...begunBetween(clock(), SESSION_MS), countMax],
  )
}

/** Between the parameters of `begunBetween`. */
const OPEN = "created_at_ms > $2 AND created_at_ms < $3"

const COLUMNS = "id, account_id, agent, created_at_ms, seen_at_ms"

type SessionRow = {
  readonly id: string
  readonly account_id: string
  readonly agent: string
  readonly created_at_ms: number
  readonly seen_at_ms: number
}

function sessionOf(row: SessionRow): Session {
  return {
    id: row.id,
    accountId: row.account_id,
    agent: row.agent,
    createdAtMs: row.created_at_ms,
    seenAtMs: row.seen_at_ms,
  }
}
