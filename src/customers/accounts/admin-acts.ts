import type { Clock, Random } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import { newId } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"

/** What administrators do on their pages, by the name in the store. */
export const ADMIN_ACTS = {
  account_created: { label: "Account created" },
  account_deleted: { label: "Account deleted" },
  account_suspended: { label: "Account suspended" },
  account_resumed: { label: "Account resumed" },
  tier_set: { label: "Tier changed" },
  note_changed: { label: "Note changed" },
  key_revoked: { label: "Key revoked" },
  report_accepted: { label: "Report accepted" },
  report_rejected: { label: "Report rejected" },
  terms_published: { label: "Terms published" },
  entries_added: { label: "List entries added" },
  entries_removed: { label: "List entries removed" },
  entries_noted: { label: "Notes of list entries changed" },
} as const satisfies Record<string, { readonly label: string }>
export type AdminActKind = keyof typeof ADMIN_ACTS

/** One act. It names ids, domains and numbers, never an email address. */
export type AdminAct = {
  readonly kind: AdminActKind
  /** The account that it is about. Null: no single account. */
  readonly accountId: string | null
  /** What it changed besides, such as the id of a key, or `0 → 2`. Empty: nothing to add. */
  readonly details: string
}

/** Records an act in the transaction that does it. */
export type RecordAdminAct = (store: Store, act: AdminAct) => Promise<void>

/** For acts of nobody who has an account, such as those of the command line. */
export const RECORD_NO_ACT: RecordAdminAct = async () => undefined

/** Records acts of the administrator with this account. */
export const adminActRecorder =
  (clock: Clock, random: Random, adminId: string): RecordAdminAct =>
  async (store, { kind, accountId, details }) => {
    await store.run(
      "INSERT INTO admin_acts (id, admin_id, account_id, act, details, at_ms) VALUES ($1, $2, $3, $4, $5, $6)",
      [newId("act", random), adminId, accountId, kind, details, clock()],
    )
  }

/** A recorded act. Emails are those of accounts that still exist. */
export type RecordedAdminAct = {
  readonly id: string
  /** Another version may have recorded kinds that this one does not know. */
  readonly kind: string
  readonly adminId: string
  /** Null: the administrator's account is deleted. */
  readonly adminEmail: string | null
  readonly accountId: string | null
  /** Null: the act is about no account, or about a deleted one. */
  readonly accountEmail: string | null
  readonly details: string
  readonly atMs: number
}

/** Where a page of acts begins: after the act with this id and time. */
export type AdminActCursor = Pick<RecordedAdminAct, "id" | "atMs">

const SELECT_ACTS = `SELECT admin_acts.id, act AS kind, admin_id AS "adminId", admins.email AS "adminEmail",
  account_id AS "accountId", subjects.email AS "accountEmail", details, at_ms AS "atMs" FROM admin_acts
  LEFT JOIN accounts AS admins ON admins.id = admin_id LEFT JOIN accounts AS subjects ON subjects.id = account_id`

/** The acts of all administrators, the latest first. */
export async function listAdminActs(
  store: Store,
  after: AdminActCursor | null,
  countMax: number,
): Promise<readonly RecordedAdminAct[]> {
  return await store.all<RecordedAdminAct>(
    `${SELECT_ACTS} WHERE (at_ms, admin_acts.id) < ($1, $2) ORDER BY at_ms DESC, admin_acts.id DESC LIMIT $3`,
    [after?.atMs ?? Number.MAX_SAFE_INTEGER, after?.id ?? "", countMax],
  )
}

/** The latest acts about an account. */
export async function listActsAbout(
  store: Store,
  accountId: string,
  countMax: number,
): Promise<readonly RecordedAdminAct[]> {
  return await store.all<RecordedAdminAct>(
    `${SELECT_ACTS} WHERE account_id = $1 ORDER BY at_ms DESC, admin_acts.id DESC LIMIT $2`,
    [accountId, countMax],
  )
}

/** How many acts one call of `pruneAdminActs` deletes at most of each kind of excess. */
const PRUNED_MAX = 1000

/** Deletes acts that are older than `LIMITS.adminActDays`, and the oldest ones beyond `storedMax`. Returns their count. */
export async function pruneAdminActs(
  store: Store,
  nowMs: number,
  storedMax: number = LIMITS.adminActsMax,
): Promise<number> {
  const expiredCount = await store.run(
    "DELETE FROM admin_acts WHERE id IN (SELECT id FROM admin_acts WHERE at_ms < $1 LIMIT $2)",
    [nowMs - LIMITS.adminActDays * DAY_MS, PRUNED_MAX],
  )
  const excessCount = await store.run(
    `DELETE FROM admin_acts WHERE id IN
       (SELECT id FROM admin_acts ORDER BY at_ms DESC, id DESC LIMIT $2 OFFSET $1)`,
    [storedMax, PRUNED_MAX],
  )
  return expiredCount + excessCount
}
