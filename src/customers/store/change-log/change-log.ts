import { assert } from "../../../base/errors.ts"
import type { Clock } from "../../../base/outside-world.ts"
import { utcDay } from "../../../base/time.ts"
import type { SqlValue, Store } from "../core/store.ts"
import type { Actor } from "./actor.ts"

/** What changed, so that other processes drop what they have cached of it. `subject` names what changed. */
export const CHANGE_KINDS = {
  account_changed: { description: "The account's tier, rules or accepted terms changed." },
  account_removed: { description: "The account and all of its keys are gone." },
  key_changed: { description: "The key's name, origins, expiry, limits or networks changed." },
  key_revoked: { description: "The key was revoked." },
  correction_changed: {
    description: "The correction of the domain that is the subject was added, changed or withdrawn.",
  },
  own_lists_changed: { description: "A block or allow list changed; the subject is its account's id, or `operator`." },
  terms_published: { description: "Terms were published or withdrawn; the subject is their version." },
} as const satisfies Record<string, { readonly description: string }>
export type ChangeKind = keyof typeof CHANGE_KINDS

/** True when this version knows the kind. */
export function isChangeKind(kind: string): kind is ChangeKind {
  return Object.hasOwn(CHANGE_KINDS, kind)
}

/** A change. Its kind is a `ChangeKind`, or unknown to this version when a later version wrote it. */
export type Change = { readonly kind: string; readonly subject: string }

/** A change in the log. Ids rise by one in the order of commits. */
export type LoggedChange = Change & { readonly id: number; readonly atMs: number }

/**
 * How far a reader has read. A database that was restored from a backup assigns ids again, so the cursor also holds a fingerprint
 * of its last change, which tells whether this is still the same log. Null: none was read yet.
 */
export type ChangeCursor = { readonly lastId: number; readonly lastFingerprint: string | null }

/**
 * The changes since a cursor, and the next cursor. `lost`: some of them are no longer in this log, or never were (it was pruned, or
 * the database was restored); the reader drops all that it has cached and continues from the new cursor.
 */
export type ChangesPage = ChangeCursor &
  ({ readonly kind: "read"; readonly changes: readonly LoggedChange[] } | { readonly kind: "lost" })

/** How many changes the log keeps. A reader that is further behind gets `lost`. */
export const CHANGES_STORED_MAX = 10_000

/** How many changes one read returns at most; the next read continues from `lastId`. */
export const CHANGES_PER_READ_MAX = 1000

/** What a write needs: the store, the time of its changes, and the listeners in this process, which are notified after the commit. */
export type ChangeLog = {
  readonly store: Store
  readonly clock: Clock
  /** The day whose bounds are used now, which a wrong clock of this host does not open. Absent: that of the clock. */
  readonly today?: (() => number) | undefined
  readonly notify: (changes: readonly Change[]) => void
}

/** The day whose bounds are used now. */
export const todayOf = ({ clock, today }: Pick<ChangeLog, "clock" | "today">): number => today?.() ?? utcDay(clock())

/** The same for changes that the audit trail has, with who makes them. */
export type AttributedLog = ChangeLog & { readonly actor: Actor }

/** Appends a change in the transaction that makes it. */
export type RecordChange = (kind: ChangeKind, subject: string) => Promise<void>

/** Runs `work` in one transaction. After the commit, and before it resolves, it notifies this process of the recorded changes. */
export async function recordChanges<T>(
  log: ChangeLog,
  work: (store: Store, record: RecordChange) => Promise<T>,
): Promise<T> {
  const { noted: changes, result } = await log.store.transaction(async store => {
    const changes: Change[] = []
    const result = await work(store, async (kind, subject) => {
      await appendChange(store, log.clock, { kind, subject })
      changes.push({ kind, subject })
    })
    return { noted: changes, result }
  })
  if (changes.length > 0) log.notify(changes)
  return result
}

/**
 * Locks the head of the log until the transaction of `store` ends, by a write that changes nothing. Transactions that begin with it
 * run one after the other in any engine, and each reads what the earlier ones have written.
 */
export async function lockChangeHead(store: Store): Promise<void> {
  await store.run("UPDATE change_head SET id = id WHERE singleton = 1")
}

/** Appends one change, in the transaction of `store`, and prunes the log. */
export async function appendChange(store: Store, clock: Clock, { kind, subject }: Change): Promise<LoggedChange> {
  const head = await store.one<{ id: number }>("UPDATE change_head SET id = id + 1 WHERE singleton = 1 RETURNING id")
  assert(head !== null, "the change log has a head")
  const change = { id: head.id, kind, subject, atMs: clock() }
  await store.run("INSERT INTO changes (id, kind, subject, at_ms) VALUES ($1, $2, $3, $4)", [
    change.id,
    kind,
    subject,
    change.atMs,
  ])
  await pruneChanges(store, CHANGES_STORED_MAX)
  return change
}

/** The id of the latest change, from which a reader with an empty cache starts. Zero when there is none. */
export async function latestChangeId(store: Store): Promise<number> {
  const head = await store.one<{ id: number }>("SELECT id FROM change_head WHERE singleton = 1")
  return head?.id ?? 0
}

/** The changes after id `since`, oldest first, at most `CHANGES_PER_READ_MAX`. `last` is the fingerprint of the cursor. */
export async function readChangesSince(
  store: Store,
  since: number,
  lastFingerprint: string | null = null,
): Promise<ChangesPage> {
  // Two statements need no transaction: a change that is appended in between is left to the next read.
  const head = await store.one<ChangeHeadRow>(
    `SELECT change_head.id, kind, subject, at_ms AS "atMs" FROM change_head
     LEFT JOIN changes ON changes.id = $1 WHERE singleton = 1`,
    [since],
  )
  const lastId = head?.id ?? 0
  const fingerprint = head === null || head.kind === null ? null : changeFingerprint(head)
  if (lastFingerprint !== null && fingerprint !== null && fingerprint !== lastFingerprint)
    return { kind: "lost", lastId, lastFingerprint: null }
  if (since === lastId) return { kind: "read", changes: [], lastId, lastFingerprint: fingerprint }
  const changes = await store.all<LoggedChange>(
    'SELECT id, kind, subject, at_ms AS "atMs" FROM changes WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3',
    [since, lastId, CHANGES_PER_READ_MAX],
  )
  const latest = changes.at(-1)
  if (changes[0]?.id !== since + 1 || latest === undefined) return { kind: "lost", lastId, lastFingerprint: null }
  return { kind: "read", changes, lastId: latest.id, lastFingerprint: changeFingerprint(latest) }
}

/** Whether this log lacks what a reader has read: it is that of an earlier state of the database. What was pruned is not lost. */
export async function hasLostChanges(store: Store, { lastId, lastFingerprint }: ChangeCursor): Promise<boolean> {
  const page = await readChangesSince(store, lastId, lastFingerprint)
  return page.kind === "lost" && page.lastId - lastId < CHANGES_STORED_MAX
}

/** What a poll of the database asks for the latest change. */
export const LATEST_CHANGE_POLLED = {
  columns: {
    changeId: "change_head.id",
    changeKind: "changes.kind",
    changeSubject: "changes.subject",
    changeAtMs: "changes.at_ms",
  },
  joins: "LEFT JOIN changes ON changes.id = change_head.id",
} as const

/** A row of a poll, as far as it tells of the latest change. */
export type LatestChangeRow = Readonly<Record<keyof typeof LATEST_CHANGE_POLLED.columns | "polledAtMs", SqlValue>>

/** The cursor of whoever has read all changes up to the latest one. */
export const cursorOf = ({ changeId, changeKind: kind, changeSubject, changeAtMs }: LatestChangeRow): ChangeCursor => ({
  lastId: Number(changeId),
  lastFingerprint:
    kind === null
      ? null
      : changeFingerprint({ kind: String(kind), subject: String(changeSubject), atMs: Number(changeAtMs) }),
})

type ChangeHeadRow = {
  readonly id: number
  readonly kind: string | null
  readonly subject: string
  readonly atMs: number
}

const changeFingerprint = ({ kind, subject, atMs }: Omit<ChangeHeadRow, "id">): string => `${atMs} ${kind} ${subject}`

/** Deletes all but the latest `storedMax` changes and returns the count of deleted ones. Ids are never used again. */
export async function pruneChanges(store: Store, storedMax: number): Promise<number> {
  return await store.run("DELETE FROM changes WHERE id <= (SELECT MAX(id) FROM change_head) - $1", [storedMax])
}
