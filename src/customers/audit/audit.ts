import { secureRandom } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { ActorKind, ActSource } from "../store/change-log/actor.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import { newId } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"

/** What people, commands and reports change, by the name in the store. `details`: what an entry says besides; empty: nothing. */
export const AUDIT_ACTS = {
  account_created: { label: "Account created", details: "" },
  account_deleted: { label: "Account deleted", details: "" },
  account_suspended: { label: "Account suspended", details: "" },
  account_resumed: { label: "Account resumed", details: "" },
  tier_set: { label: "Tier changed", details: "the tiers before and after" },
  note_changed: { label: "Note changed", details: "" },
  account_invited: { label: "Person invited", details: "the invitation" },
  invitation_revoked: { label: "Invitation revoked", details: "the invitation" },
  invitation_accepted: { label: "Invitation accepted", details: "" },
  signed_in: { label: "Signed in", details: "the session" },
  session_ended: { label: "Session ended", details: "the session" },
  other_sessions_ended: { label: "Other sessions ended", details: "how many" },
  mails_switched: { label: "Emails switched on or off", details: "the chosen emails" },
  request_log_switched: { label: "Request log switched on or off", details: "on or off" },
  key_created: { label: "Key created", details: "the key" },
  key_renamed: { label: "Key renamed", details: "the key" },
  key_limited: { label: "Limits of a key changed", details: "the key, and the limits before and after" },
  key_moved: { label: "Origins of a key changed", details: "the key" },
  key_revoked: { label: "Key revoked", details: "the key" },
  callback_secret_made: { label: "Callback secret created", details: "" },
  list_uploaded: { label: "List uploaded", details: "the job" },
  list_deleted: { label: "List deleted", details: "the job" },
  report_made: { label: "Report sent", details: "the report" },
  report_accepted: { label: "Report accepted", details: "the report" },
  report_rejected: { label: "Report rejected", details: "the report" },
  terms_published: { label: "Terms published", details: "the version" },
  terms_withdrawn: { label: "Terms withdrawn", details: "the version" },
  terms_accepted: { label: "Terms accepted", details: "the version" },
  entries_added: { label: "List entries added", details: "how many, and to which list" },
  entries_removed: { label: "List entries removed", details: "how many, and from which list" },
  rules_changed: { label: "Rules changed", details: "the rules after" },
  database_restored: { label: "Database restored", details: "when the backup was written" },
  entries_noted: { label: "Notes of list entries changed", details: "how many, and on which list" },
} as const satisfies Record<string, { readonly label: string; readonly details: string }>
export type AuditActKind = keyof typeof AUDIT_ACTS

/** One act. It names ids, domains and numbers, never an email address. */
export type AuditAct = {
  readonly kind: AuditActKind
  /** The account that it is about. Null: no single account. */
  readonly accountId: string | null
  /** What it changed besides, such as the id of a key, or `0 → 2`. Empty: nothing to add. */
  readonly details: string
}

/** Records an act with its actor, in the transaction of `store` that does it. */
export async function recordAct(
  { clock, actor }: Pick<AttributedLog, "clock" | "actor">,
  store: Store,
  { kind, accountId, details }: AuditAct,
): Promise<void> {
  // `admin_id` is the id of any actor. The table had only administrators once, and servers of that version may still write to it.
  await store.run(
    `INSERT INTO admin_acts (id, admin_id, account_id, act, details, at_ms, actor_kind, source, key_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [newId("act", secureRandom), actor.id, accountId, kind, details, clock(), actor.kind, actor.source, actor.keyId],
  )
}

/** A recorded act. Emails are those of accounts that still exist. */
export type RecordedAct = {
  readonly id: string
  /** Another version may have recorded kinds that this one does not know. */
  readonly kind: string
  readonly actorKind: ActorKind
  readonly actorId: string
  /** Null: the actor has no account, or it is deleted. */
  readonly actorEmail: string | null
  readonly source: ActSource
  readonly keyId: string | null
  readonly accountId: string | null
  /** Null: the act is about no account, or about a deleted one. */
  readonly accountEmail: string | null
  readonly details: string
  readonly atMs: number
}

/** Where a page of acts begins: after the act with this id and time. */
export type ActCursor = Pick<RecordedAct, "id" | "atMs">

const SELECT_ACTS = `SELECT admin_acts.id, act AS kind, actor_kind AS "actorKind", admin_id AS "actorId",
  actors.email AS "actorEmail", source, key_id AS "keyId", account_id AS "accountId",
  subjects.email AS "accountEmail", details, at_ms AS "atMs" FROM admin_acts
  LEFT JOIN accounts AS actors ON actors.id = admin_id LEFT JOIN accounts AS subjects ON subjects.id = account_id`

/** Which acts are displayed. Empty: all. */
export type ActFilter = {
  /** The email or the id of who did it. */
  readonly actor: string
  readonly kind: string
  /** The email or the id of the account that it is about. */
  readonly account: string
  /** From here on, and before there. Null: at any time. */
  readonly fromMs: number | null
  readonly toMs: number | null
}

/** All acts. */
export const ALL_ACTS: ActFilter = { actor: "", kind: "", account: "", fromMs: null, toMs: null }

/** The latest acts first: those of all but accounts on themselves, and of an account that is filtered by its own too. */
export async function listOperatorActs(
  store: Store,
  { actor, kind, account, fromMs, toMs }: ActFilter,
  after: ActCursor | null,
  countMax: number,
): Promise<readonly RecordedAct[]> {
  // A filter that is not set adds no condition, so that SQLite and PostgreSQL can choose the index of the filters that are set.
  const wanted: readonly (readonly [condition: string, value: string])[] = [
    ["admin_id IN ($n, (SELECT id FROM accounts WHERE email = $n))", actor],
    ["act = $n", kind],
    ["account_id IN ($n, (SELECT id FROM accounts WHERE email = $n))", account],
  ]
  const given = wanted.filter(([, value]) => value !== "")
  const conditions = given.map(([condition], at) => condition.replaceAll("$n", `$${at + 6}`))
  if (account === "") conditions.push("actor_kind <> 'account'")
  return await store.all<RecordedAct>(
    `${SELECT_ACTS} WHERE (at_ms, admin_acts.id) < ($1, $2) AND at_ms >= $3 AND at_ms < $4 AND ${conditions.join(" AND ")}
     ORDER BY at_ms DESC, admin_acts.id DESC LIMIT $5`,
    [
      ...[after?.atMs ?? Number.MAX_SAFE_INTEGER, after?.id ?? "", fromMs ?? 0, toMs ?? Number.MAX_SAFE_INTEGER],
      ...[countMax, ...given.map(([, value]) => value)],
    ],
  )
}

/** The latest acts about an account. */
export async function listActsAbout(
  store: Store,
  accountId: string,
  countMax: number,
): Promise<readonly RecordedAct[]> {
  return await store.all<RecordedAct>(
    `${SELECT_ACTS} WHERE account_id = $1 ORDER BY at_ms DESC, admin_acts.id DESC LIMIT $2`,
    [accountId, countMax],
  )
}

/** Which acts are wanted. Null: all. */
export type ActQuery = {
  readonly sinceMs: number
  /** Absent: up to now. */
  readonly untilMs?: number
  readonly accountId: string | null
  readonly kind: AuditActKind | null
  /** The id of who did them: an account, or a user of the operating system. Absent: anybody. */
  readonly actorId?: string
}

/** The next acts of a query in the order of their time, after a cursor; null: from the first one on. */
export async function listActsSince(
  store: Store,
  { sinceMs, untilMs = Number.MAX_SAFE_INTEGER, accountId, kind, actorId = "" }: ActQuery,
  after: ActCursor | null,
  countMax: number,
): Promise<readonly RecordedAct[]> {
  return await store.all<RecordedAct>(
    `${SELECT_ACTS} WHERE (at_ms, admin_acts.id) > ($1, $2) AND ($3 = '' OR account_id = $3 OR admin_id = $3)
       AND ($4 = '' OR act = $4) AND at_ms < $5 AND ($6 = '' OR admin_id = $6) ORDER BY at_ms, admin_acts.id LIMIT $7`,
    [after?.atMs ?? sinceMs, after?.id ?? "", accountId ?? "", kind ?? "", untilMs, actorId, countMax],
  )
}

/**
 * Deletes acts, and returns their count: those older than `LIMITS.auditDays` (`nowMs` null: none for its age), the oldest acts of each account beyond
 * `LIMITS.auditEntriesPerActorMax`, so that no account can displace the acts of others, and the oldest of all beyond `storedMax`. It deletes at most
 * `countMax` for each of these reasons.
 */
export async function pruneActs(
  store: Store,
  nowMs: TrustedInstant | null,
  countMax: number,
  storedMax: number = LIMITS.auditEntriesMax,
  perActorMax: number = LIMITS.auditEntriesPerActorMax,
): Promise<number> {
  const expiredCount =
    nowMs === null
      ? 0
      : await store.run("DELETE FROM admin_acts WHERE id IN (SELECT id FROM admin_acts WHERE at_ms < $1 LIMIT $2)", [
          nowMs - LIMITS.auditDays * DAY_MS,
          countMax,
        ])
  const busiest = await store.one<{ actor: string }>(
    "SELECT admin_id AS actor FROM admin_acts WHERE actor_kind = 'account' GROUP BY admin_id HAVING COUNT(*) > $1 ORDER BY COUNT(*) DESC LIMIT 1",
    [perActorMax],
  )
  const excessOfActor =
    busiest === null
      ? 0
      : await store.run(
          `DELETE FROM admin_acts WHERE id IN
             (SELECT id FROM admin_acts WHERE admin_id = $1 AND actor_kind = 'account' ORDER BY at_ms DESC, id DESC LIMIT $3 OFFSET $2)`,
          [busiest.actor, perActorMax, countMax],
        )
  const excessCount = await store.run(
    `DELETE FROM admin_acts WHERE id IN
       (SELECT id FROM admin_acts ORDER BY at_ms DESC, id DESC LIMIT $2 OFFSET $1)`,
    [storedMax, countMax],
  )
  return expiredCount + excessOfActor + excessCount
}
