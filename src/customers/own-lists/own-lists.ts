import type { Pause } from "../../base/concurrency.ts"
import { LIMITS } from "../../contract/limits.ts"
import { lockAccountRow } from "../accounts/accounts.ts"
import { inTurn } from "../accounts/change-turns.ts"
import { type AuditAct, type AuditActKind, recordAct } from "../audit/audit.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import { lockChangeHead, type RecordChange, recordChanges } from "../store/change-log/change-log.ts"
import { createBulkStatements } from "../store/core/sql-text.ts"
import type { Store } from "../store/core/store.ts"
import { type EntryLabel, type OwnListEntry, parseStoredEntry } from "./entries.ts"

/** The lists of an owner. */
export const OWN_LISTS = ["block", "allow"] as const
export type OwnList = (typeof OWN_LISTS)[number]

/** The owner of lists: an account, or the operator, whose lists apply to every account. */
export type ListOwner = { readonly accountId: string } | typeof OPERATOR

/** The operator as an owner, and as the subject of a change. */
export const OPERATOR = "operator"

/** The result of adding entries: `added` has the stored forms of those that were not on the list. `too_many`: none was added. */
export type EntryAddition =
  | {
      readonly kind: "added"
      readonly added: ReadonlySet<string>
      readonly addedCount: number
      readonly presentCount: number
    }
  | { readonly kind: "too_many" }
  | { readonly kind: "unknown_account" }

/**
 * Adds entries to a list, all or none: an owner has at most `LIMITS.ownListEntriesMax` on both lists together. Entries that
 * exist stay, but get the note that is given to them. When it resolves, the entries are durable and in force in this process. `pause` is called after each
 * written entry, and `record` in the same transaction when all are written.
 */
export async function addEntries(
  log: AttributedLog,
  owner: ListOwner,
  list: OwnList,
  entries: readonly (OwnListEntry & Partial<EntryLabel>)[],
  pause: Pause = () => undefined,
  record: RecordAddition = async () => undefined,
): Promise<EntryAddition> {
  const labels = labelsOf(entries)
  const wanted = new Set(labels.keys())
  const subject = ownerId(owner)
  const work = async (store: Store, note: RecordChange): Promise<EntryAddition> => {
    if (!(await lockLists(store, owner))) return { kind: "unknown_account" }
    const added = wanted.difference(await entriesOnList(store, owner, list, wanted))
    const counts = await countEntries(store, owner)
    if (counts.block + counts.allow + added.size > LIMITS.ownListEntriesMax) return { kind: "too_many" }
    const nowMs = log.clock()
    const inserts = insertStatements(
      [...added].map(entry => [entry]),
      [subject, accountIdOf(owner) ?? "", list, nowMs],
    )
    const addedCount = await runAll(store, inserts, pause)
    await putLabels(store, owner, list, labels, pause)
    if (addedCount > 0) {
      await note("own_lists_changed", subject)
      await recordAct(log, store, listAct("entries_added", owner, list, addedCount))
    }
    const addition = { kind: "added", added, addedCount, presentCount: wanted.size - addedCount } as const
    await record(store, addition)
    return addition
  }
  const addition = await inTurn(subject, () => recordChanges(log, work))
  if (addition.kind === "added" && addition.addedCount === 0) hearOfLists(log, owner)
  return addition
}

/** Has this process read the lists of an owner again: another one may have changed them, and this one may not have read that change yet. */
export const hearOfLists = (log: AttributedLog, owner: ListOwner): void =>
  log.notify([{ kind: "own_lists_changed", subject: ownerId(owner) }])

/** The labels by stored form. Of equal entries the last one with a note gives it. */
function labelsOf(entries: readonly (OwnListEntry & Partial<EntryLabel>)[]): ReadonlyMap<string, EntryLabel> {
  const labels = new Map<string, EntryLabel>()
  for (const { storedText, shownAs, note } of entries) {
    const before = labels.get(storedText)
    labels.set(storedText, { shownAs: shownAs ?? before?.shownAs ?? null, note: note ?? before?.note ?? null })
  }
  return labels
}

/** Stores what became of an addition, in its transaction. */
export type RecordAddition = (store: Store, addition: EntryAddition & { readonly kind: "added" }) => Promise<void>

/** The stored forms of removed entries, their count, and that of those that were not on the list. */
export type EntryRemoval = {
  readonly removed: ReadonlySet<string>
  readonly removedCount: number
  readonly absentCount: number
}

/**
 * Removes entries from a list. When it resolves, the removal is durable and in force in this process. `pause` is called after
 * each entry.
 */
export async function removeEntries(
  log: AttributedLog,
  owner: ListOwner,
  list: OwnList,
  entries: readonly OwnListEntry[],
  pause: Pause = () => undefined,
): Promise<EntryRemoval> {
  const unwanted = new Set(entries.map(({ storedText }) => storedText))
  const subject = ownerId(owner)
  const work = async (store: Store, note: RecordChange): Promise<EntryRemoval> => {
    await lockLists(store, owner)
    const removed = await entriesOnList(store, owner, list, unwanted)
    const rows = [...removed].map(entry => [entry])
    const removedCount = await runAll(store, deleteStatements(rows, [subject, list]), pause)
    await runAll(store, deleteLabelStatements(rows, [subject, list]), pause)
    if (removedCount > 0) {
      await note("own_lists_changed", subject)
      await recordAct(log, store, listAct("entries_removed", owner, list, removedCount))
    }
    return { removed, removedCount, absentCount: unwanted.size - removedCount }
  }
  const removal = await inTurn(subject, () => recordChanges(log, work))
  if (removal.removedCount === 0) hearOfLists(log, owner)
  return removal
}

/** Sets the note of entries that are on a list; null: they have none any more. Resolves with the count of those that are on it. */
export async function setNotes(
  log: AttributedLog,
  owner: ListOwner,
  list: OwnList,
  entries: readonly OwnListEntry[],
  note: string | null,
): Promise<number> {
  const work = async (store: Store): Promise<number> => {
    if (!(await lockLists(store, owner))) return 0
    let changedCount = 0
    for (const { storedText } of entries) {
      const found = await store.one<{ entry: string }>(
        "SELECT entry FROM own_list_entries WHERE owner = $1 AND list = $2 AND entry = $3",
        [ownerId(owner), list, storedText],
      )
      if (found === null) continue
      changedCount++
      await store.run(
        `INSERT INTO own_list_labels (owner, account_id, list, entry, note) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (owner, list, entry) DO UPDATE SET note = excluded.note`,
        [ownerId(owner), accountIdOf(owner), list, storedText, note],
      )
    }
    if (changedCount > 0) await recordAct(log, store, listAct("entries_noted", owner, list, changedCount))
    return changedCount
  }
  return await inTurn(ownerId(owner), () => log.store.transaction(work))
}

/** An act about a list. It names no entry, since an entry may be an address. */
const listAct = (kind: AuditActKind, owner: ListOwner, list: OwnList, count: number): AuditAct => ({
  kind,
  accountId: accountIdOf(owner),
  details: `${count} on the ${list} list`,
})

/** Writes the labels that say something, in the transaction of `store`. What is known of an entry and not given stays. */
async function putLabels(
  store: Store,
  owner: ListOwner,
  list: OwnList,
  labels: ReadonlyMap<string, EntryLabel>,
  pause: Pause,
): Promise<void> {
  const rows = [...labels].filter(([, { shownAs, note }]) => shownAs !== null || note !== null)
  const upserts = labelStatements(
    rows.map(([entry, { shownAs, note }]) => [entry, shownAs ?? "", note ?? ""]),
    [ownerId(owner), accountIdOf(owner) ?? "", list],
  )
  await runAll(store, upserts, pause)
}

/** For more entries the whole list is read at once, which takes less time than naming them. */
const NAMED_ENTRIES_MAX = 512

/** Those of the entries that are on a list of the owner. */
async function entriesOnList(
  store: Store,
  owner: ListOwner,
  list: OwnList,
  entries: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (entries.size > NAMED_ENTRIES_MAX) {
    const all = await store.all<{ entry: string }>(
      "SELECT entry FROM own_list_entries WHERE owner = $1 AND list = $2",
      [ownerId(owner), list],
    )
    return entries.intersection(new Set(all.map(({ entry }) => entry)))
  }
  const found = new Set<string>()
  const rows = [...entries].map(entry => [entry])
  for (const { sql, params } of findStatements(rows, [ownerId(owner), list]))
    for (const { entry } of await store.all<{ entry: string }>(sql, params)) found.add(entry)
  return found
}

/** Locks the owner's lists against other writers until the transaction of `store` ends; false: there is no such account. */
async function lockLists(store: Store, owner: ListOwner): Promise<boolean> {
  if (owner !== OPERATOR) return await lockAccountRow(store, owner.accountId)
  await lockChangeHead(store)
  return true
}

/** An entry as its owner sees it. */
export type DatedOwnListEntry = OwnListEntry & EntryLabel & { readonly addedAtMs: number }

/**
 * The next `countMax` entries of a list after the stored form `after`, sorted by stored form, that contain the text `holding` or
 * whose note contains `noteHolding`, in lower case. An empty `noteHolding` is in no note.
 */
export async function listEntries(
  store: Store,
  owner: ListOwner,
  list: OwnList,
  after: string,
  countMax: number,
  holding = "",
  noteHolding = "",
): Promise<DatedOwnListEntry[]> {
  const rows = await store.all<ListedRow>(
    `${SELECT_LISTED} WHERE listed.owner = $1 AND listed.list = $2 AND listed.entry > $3
       AND (listed.entry LIKE $5 ESCAPE '\\' OR ($6 <> '' AND LOWER(label.note) LIKE $7 ESCAPE '\\'))
     ORDER BY listed.entry LIMIT $4`,
    [ownerId(owner), list, after, countMax, containing(holding), noteHolding, containing(noteHolding)],
  )
  return rows.map(toEntry)
}

/** The entry of a list with this stored form; null: it is not on the list. */
export async function findEntry(
  store: Store,
  owner: ListOwner,
  list: OwnList,
  storedText: string,
): Promise<DatedOwnListEntry | null> {
  const row = await store.one<ListedRow>(
    `${SELECT_LISTED} WHERE listed.owner = $1 AND listed.list = $2 AND listed.entry = $3`,
    [ownerId(owner), list, storedText],
  )
  return row === null ? null : toEntry(row)
}

const SELECT_LISTED = `SELECT listed.entry, listed.added_at_ms, label.shown_as, label.note FROM own_list_entries AS listed
  LEFT JOIN own_list_labels AS label ON label.owner = listed.owner AND label.list = listed.list AND label.entry = listed.entry`

const toEntry = ({ entry, shown_as: shownAs, note, added_at_ms: addedAtMs }: ListedRow): DatedOwnListEntry => ({
  ...parseStoredEntry(entry),
  ...{ shownAs, note, addedAtMs },
})

type ListedRow = {
  readonly entry: string
  readonly added_at_ms: number
  readonly shown_as: string | null
  readonly note: string | null
}

/** A pattern of LIKE for texts that contain this one. */
const containing = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`

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

/** Parameters: owner, account (empty: none), list. */
const labelStatements = createBulkStatements(
  ["TEXT", "TEXT", "TEXT"],
  rows => `INSERT INTO own_list_labels (owner, account_id, list, entry, shown_as, note)
    SELECT CAST($1 AS TEXT), NULLIF(CAST($2 AS TEXT), ''), CAST($3 AS TEXT), column1, NULLIF(column2, ''), NULLIF(column3, '')
    FROM ${rows} WHERE column1 <> '' ORDER BY place
    ON CONFLICT (owner, list, entry) DO UPDATE SET
      shown_as = COALESCE(own_list_labels.shown_as, excluded.shown_as), note = COALESCE(excluded.note, own_list_labels.note)`,
  3,
)

/** Parameters: owner, list. */
const findStatements = createBulkStatements(
  ["TEXT"],
  (_, entries) => `SELECT entry FROM own_list_entries WHERE owner = $1 AND list = $2 AND entry IN (${entries})`,
  2,
)

/** Parameters: owner, list. */
const deleteLabelStatements = createBulkStatements(
  ["TEXT"],
  (_, entries) => `DELETE FROM own_list_labels WHERE owner = $1 AND list = $2 AND entry IN (${entries})`,
  2,
)

/** Parameters: owner, list. */
const deleteStatements = createBulkStatements(
  ["TEXT"],
  (_, entries) => `DELETE FROM own_list_entries WHERE owner = $1 AND list = $2 AND entry IN (${entries})`,
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
