import { CoalescedRuns } from "../../../base/single-flight.ts"
import type { Store } from "../core/store.ts"
import {
  CHANGES_PER_READ_MAX,
  type Change,
  type ChangeCursor,
  cursorOf,
  type LatestChangeRow,
  readChangesSince,
} from "./change-log.ts"
import type { KnownChanges } from "./known-changes.ts"

/** A cache that follows the change log. */
export type ChangeListener = {
  /** Drops, or reads again, what the changes make stale. */
  readonly applyChanges: (changes: readonly Change[]) => void
  /** Drops, or reads again, everything: some changes were lost. */
  readonly invalidateAll: () => void
}

const UNWATCHED = { now: () => 0, note: () => undefined }

/**
 * Creates a function that reads the changes of other processes since the last call, from `since` on, and passes them to the
 * listeners; its `observe` does so if the latest change is not the one that was read last. A call during a read causes one more
 * read after it, however many calls there are; `idle` waits for all of them. An error goes to `onError` and ends the reads; the next call tries again. `known`
 * is told when all changes were read.
 */
export function createChangePoller(
  store: Store,
  listeners: readonly ChangeListener[],
  since: number,
  onError: (error: unknown) => void,
  known: Pick<KnownChanges, "now" | "note"> = UNWATCHED,
) {
  let cursor: ChangeCursor = { lastId: since, lastFingerprint: null }
  const read = async (): Promise<void> => {
    const startedAtMs = known.now()
    const page = await readChangesSince(store, cursor.lastId, cursor.lastFingerprint)
    for (const listener of listeners) {
      if (page.kind === "lost") listener.invalidateAll()
      else listener.applyChanges(page.changes)
    }
    cursor = page
    // There may be more than one read returns.
    if (page.kind === "read" && page.changes.length === CHANGES_PER_READ_MAX) poll()
    else known.note(startedAtMs)
  }
  const reads = new CoalescedRuns(() =>
    read().catch(error => {
      reads.forget()
      onError(error)
    }),
  )
  const poll = (): void => reads.request()
  const observe = (latest: LatestChangeRow): void => {
    const { lastId, lastFingerprint } = cursorOf(latest)
    // Another log may have a change of the same number, after a restore.
    if (lastId !== cursor.lastId || lastFingerprint !== (cursor.lastFingerprint ?? lastFingerprint)) poll()
    else {
      cursor = { lastId, lastFingerprint }
      known.note(Number(latest.polledAtMs))
    }
  }
  return Object.assign(poll, { observe, idle: () => reads.idle() })
}
