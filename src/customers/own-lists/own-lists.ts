import type { Pause } from "../../base/concurrency.ts"
import { LIMITS } from "../../contract/limits.ts"
import { lockAccountRow } from "../accounts/accounts.ts"
import { type ChangeLog, lockChangeHead, recordChanges } from "../store/change-log/change-log.ts"
import { createBulkStatements } from "../store/core/sql-text.ts"
import type { Store } from "../store/core/store.ts"
import { type OwnListEntry, parseStoredEntry } from "./entries.ts"

/** The lists of an owner. */
export const OWN_LISTS = ["block", "allow"] as const
export type OwnList = (typeof OWN_LISTS)[number]

/** The owner of lists: an account, or the operator, whose lists apply to every account. */
export type ListOwner = { readonly accountId: string } | typeof OPERATOR

/** The operator as an owner, and as the subject of a change. */
export const OPERATOR = "operator"

/** The result of adding entries. `too_many`: none was added. */
export type EntryAddition =
  | { readonly kind: "added"; readonly addedCount: number; readonly presentCount: number }
  | { readonly kind: "too_many" }
  | { readonly kind: "unknown_account" }

/**
 * Adds entries to a list, all or none: an owner has at most `LIMITS.ownListEntriesMax` on both lists together. Entries that
 * exist stay unchanged. When it resolves, the entries are durable and in force in this process. `pause` is called after each
 * written entry.
 */
export async function addEntries(
  log: ChangeLog,
  owner: ListOwner,
  list: OwnList,
  entries: readonly OwnListEntry[],
  pause: Pause = () => undefined,
): Promise<EntryAddition> {
  const wanted = new Set(entries.map(({ storedText }) => storedText))
  return await recordChanges(log, async (store, note): Promise<EntryAddition> => {
    if (!(await lockLists(store, owner))) return { kind: "unknown_account" }
    const subject = ownerId(owner)
    const present = await store.all<{ list: OwnList; entry: string }>(
      "SELECT list, entry FROM own_list_entries WHERE owner = $1",
      [subject],
    )
    const onList = new Set(present.filter(row => row.list === list).map(({ entry }) => entry))
    const missing = wanted.difference(onList)
    if (present.length + missing.size > LIMITS.ownListEntriesMax) return { kind: "too_many" }
    const nowMs = log.clock()
    const inserts = insertStatements(
      [...missing].map(entry => [entry]),
      [subject, accountIdOf(owner) ?? "", list, nowMs],
    )
    const addedCount = await runAll(store, inserts, pause)
    if (addedCount > 0) await note("own_lists_changed", subject)
    return { kind: "added", addedCount, presentCount: wanted.size - addedCount }
  })
}

/** The count of removed entries, and of those that were not on the list. */
export type EntryRemoval = { readonly removedCount: number; readonly absentCount: number }

/**
 * Removes entries from a list. When it resolves, the removal is durable and in force in this process. `pause` is called after
 * each entry.
 */
export async function removeEntries(
  log: ChangeLog,
  owner: ListOwner,
  list: OwnList,
  entries: readonly OwnListEntry[],
  pause: Pause = () => undefined,
): Promise<EntryRemoval> {
  const unwanted = new Set(entries.map(({ storedText }) => storedText))
  return await recordChanges(log, async (store, note) => {
    const subject = ownerId(owner)
    await lockLists(store, owner)
    const removedCount = await runAll(
      store,
      deleteStatements(
        [...unwanted].map(entry => [entry]),
        [subject, list],
      ),
      pause,
    )
    if (removedCount > 0) await note("own_lists_changed", subject)
    return { removedCount, absentCount: unwanted.size - removedCount }
  })
}

/** Locks the owner's lists against other writers until the transaction of `store` ends; false: there is no such account. */
async function lockLists(store: Store, owner: ListOwner): Promise<boolean> {
  if (owner !== OPERATOR) return await lockAccountRow(store, owner.accountId)
  await lockChangeHead(store)
  return true
}

/** An entry as its owner sees it. */
export type DatedOwnListEntry = OwnListEntry & { readonly addedAtMs: number }

/** The next `countMax` entries of a list after the stored form `after` that contain the text `holding`, sorted by stored form. */
export async function listEntries(
  store: Store,
  owner: ListOwner,
  list: OwnList,
  after: string,
  countMax: number,
  holding = "",
): Promise<DatedOwnListEntry[]> {
  const rows = await store.all<{ entry: string; added_at_ms: number }>(
    `SELECT entry, added_at_ms FROM own_list_entries WHERE owner = $1 AND list = $2 AND entry > $3
     AND entry LIKE $5 ESCAPE '\\' ORDER BY entry LIMIT $4`,
    [ownerId(owner), list, after, countMax, `%${holding.replace(/[\\%_]/g, "\\$&")}%`],
  )
  return rows.map(row => ({ ...parseStoredEntry(row.entry), addedAtMs: row.added_at_ms }))
}

/** Counts the entries of an owner on each list. */
export async function countEntries(store: Store, owner: ListOwner): Promise<{ readonly [L in OwnList]: number }> {
  const rows = await store.all<{ list: OwnList; entries: number }>(
    "SELECT list, COUNT(*) AS entries FROM own_list_entries WHERE owner = $1 GROUP BY list",
    [ownerId(owner)],
  )
  const countOf = (list: OwnList): number => rows.find(row => row.list === list)?.entries ?? 0
  return { block: countOf("block"), allow: countOf("allow") }
}

/** Parameters: owner, account (empty: none), list, time. */
const insertStatements = createBulkStatements(
  ["TEXT"],
  rows => `INSERT INTO own_list_entries (owner, account_id, list, entry, added_at_ms)
    SELECT CAST($1 AS TEXT), NULLIF(CAST($2 AS TEXT), ''), CAST($3 AS TEXT), column1, CAST($4 AS BIGINT)
    FROM ${rows} WHERE column1 <> '' ORDER BY place
    ON CONFLICT (owner, list, entry) DO NOTHING`,
  4,
)

/** Parameters: owner, list. */
const deleteStatements = createBulkStatements(
  ["TEXT"],
  rows =>
    `DELETE FROM own_list_entries WHERE owner = $1 AND list = $2 AND entry IN (SELECT column1 FROM ${rows} WHERE column1 <> '')`,
  2,
)

/** Runs the statements one after the other and adds up the rows that they changed. */
async function runAll(store: Store, statements: ReturnType<typeof deleteStatements>, pause: Pause): Promise<number> {
  let changedCount = 0
  for (const { sql, params } of statements) {
    changedCount += await store.run(sql, params)
    await pause(params.length)
  }
  return changedCount
}

const accountIdOf = (owner: ListOwner): string | null => (owner === OPERATOR ? null : owner.accountId)

/** The owner as stored in the table and the change log. */
const ownerId = (owner: ListOwner): string => accountIdOf(owner) ?? OPERATOR
