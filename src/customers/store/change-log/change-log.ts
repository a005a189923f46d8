import { assert } from "../../../base/errors.ts"
import type { Clock } from "../../../base/outside-world.ts"
import type { Store } from "../core/store.ts"

/** What a change makes stale in the memory of other processes; the subject names what changed. */
export const CHANGE_KINDS = {
  account_changed: { description: "The account's tier or accepted terms changed." },
  account_removed: { description: "The account and all of its keys are gone." },
  key_changed: { description: "The key's name or origins changed." },
  key_revoked: { description: "The key was revoked." },
  correction_changed: {
    description: "The correction of the domain that is the subject was made, changed or taken back.",
  },
  own_lists_changed: { description: "A block or allow list changed; the subject is its account's id, or `operator`." },
  terms_published: { description: "Terms were published; the subject is their version." },
} as const satisfies Record<string, { readonly description: string }>
export type ChangeKind = keyof typeof CHANGE_KINDS

/** True when this version knows what the kind of a change means. */
export function isChangeKind(kind: string): kind is ChangeKind {
  return Object.hasOwn(CHANGE_KINDS, kind)
}

/** A change as it is told. A later version may write kinds that this one does not know: the kind may be no `ChangeKind`. */
export type Change = { readonly kind: string; readonly subject: string }

/** A change as it stands in the log. Numbers rise by one, in the order in which changes became durable. */
export type LoggedChange = Change & { readonly id: number; readonly atMs: number }

/**
 * How far somebody has read. A database that was restored from an older copy gives numbers once more: what the last change that was
 * read is, beside its number, tells whether this is still the log that it was read in; null: none was read yet.
 */
export type ChangeCursor = { readonly lastId: number; readonly lastFingerprint: string | null }

/**
 * What has happened since a reader last looked. `lost` means that some of it is no longer, or never was, in this log
 * (it was cut, or the database was restored): the reader drops all that it holds, then goes on from there.
 */
export type ChangesPage = ChangeCursor &
  ({ readonly kind: "read"; readonly changes: readonly LoggedChange[] } | { readonly kind: "lost" })

/** How many changes the log keeps; a reader that is further behind has lost some. */
export const CHANGES_STORED_MAX = 10_000

/** How many changes one read gives at most; the next read goes on from `upTo`. */
export const CHANGES_PER_READ_MAX = 1000

/** What a write needs: the store, the time of its changes, and who in this process is told of them once they are durable. */
export type ChangeLog = {
  readonly store: Store
  readonly clock: Clock
  readonly notify: (changes: readonly Change[]) => void
}

/** Appends a change in the transaction of the write it tells of. */
export type RecordChange = (kind: ChangeKind, subject: string) => Promise<void>

/** Runs `work` in one transaction; when that is durable, tells `hear` of the changes that it noted, then resolves. */
export async function recordChanges<T>(
  log: ChangeLog,
  work: (store: Store, note: RecordChange) => Promise<T>,
): Promise<T> {
  const { noted, result } = await log.store.transaction(async store => {
    const noted: Change[] = []
    const result = await work(store, async (kind, subject) => {
      await appendChange(store, log.clock, { kind, subject })
      noted.push({ kind, subject })
    })
    return { noted, result }
  })
  if (noted.length > 0) log.notify(noted)
  return result
}

/**
 * Takes the log's head by a write that changes nothing, until the transaction of `store` is over: of transactions that begin with
 * it one follows the other, in any engine, and each reads what those before have written.
 */
export async function lockChangeHead(store: Store): Promise<void> {
  await store.run("UPDATE change_head SET id = id WHERE singleton = 1")
}

/** Appends one change and cuts the log to its bound. `store` is that of the transaction that makes the change. */
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

/** The number of the latest change: where a reader that holds nothing yet begins. Zero when there has been none. */
export async function latestChangeId(store: Store): Promise<number> {
  const head = await store.one<{ id: number }>("SELECT id FROM change_head WHERE singleton = 1")
  return head?.id ?? 0
}

/** The changes after number `since`, oldest first, at most `CHANGES_READ_MAX` of them; `last` is what a reading up to there gave. */
export async function readChangesSince(store: Store, since: number, last: string | null = null): Promise<ChangesPage> {
  // Two statements that need no transaction: what is appended in between is left to the next read.
  const head = await store.one<ChangeHeadRow>(
    `SELECT change_head.id, kind, subject, at_ms AS "atMs" FROM change_head
     LEFT JOIN changes ON changes.id = $1 WHERE singleton = 1`,
    [since],
  )
  const lastId = head?.id ?? 0
  const found = head === null || head.kind === null ? null : changeFingerprint(head)
  if (last !== null && found !== null && found !== last) return { kind: "lost", lastId, lastFingerprint: null }
  if (since === lastId) return { kind: "read", changes: [], lastId, lastFingerprint: found }
  const changes = await store.all<LoggedChange>(
    'SELECT id, kind, subject, at_ms AS "atMs" FROM changes WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3',
    [since, lastId, CHANGES_PER_READ_MAX],
  )
  const latest = changes.at(-1)
  if (changes[0]?.id !== since + 1 || latest === undefined) return { kind: "lost", lastId, lastFingerprint: null }
  return { kind: "read", changes, lastId: latest.id, lastFingerprint: changeFingerprint(latest) }
}

type ChangeHeadRow = {
  readonly id: number
  readonly kind: string | null
  readonly subject: string
  readonly atMs: number
}

const changeFingerprint = ({ kind, subject, atMs }: Omit<ChangeHeadRow, "id">): string => `${atMs} ${kind} ${subject}`

/** Cuts the log to its latest `keptMax` changes and gives the count of those that went. Numbers are never used again. */
export async function pruneChanges(store: Store, keptMax: number): Promise<number> {
  return await store.run("DELETE FROM changes WHERE id <= (SELECT MAX(id) FROM change_head) - $1", [keptMax])
}
