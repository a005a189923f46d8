import { CoalescedRuns } from "../../../base/single-flight.ts"
import type { Store } from "../core/store.ts"
import { type Change, type ChangeCursor, cursorOf, type LatestChangeRow, readChangesSince } from "./change-log.ts"

/** A cache that follows the change log. */
export type ChangeListener = {
  /** Drops, or reads again, what the changes make stale. */
  readonly applyChanges: (changes: readonly Change[]) => void
  /** Drops, or reads again, everything: some changes were lost. */
  readonly invalidateAll: () => void
}

/**
 * Creates a function that reads the changes of other processes since the last call, from `since` on, and passes them to the
 * listeners; its `observe` does so if the latest change is not the one that was read last. A call during a read causes one more read after it,
 * however many calls there are. An error goes to `onError` and ends the reads; the next call tries again.
 */
export function createChangePoller(
  store: Store,
  listeners: readonly ChangeListener[],
  since: number,
  onError: (error: unknown) => void,
): (() => void) & { readonly observe: (latest: LatestChangeRow) => void } {
  let cursor: ChangeCursor = { lastId: since, lastFingerprint: null }
  const read = async (): Promise<void> => {
    const page = await readChangesSince(store, cursor.lastId, cursor.lastFingerprint)
    for (const listener of listeners) {
      if (page.kind === "lost") listener.invalidateAll()
      else listener.applyChanges(page.changes)
    }
    cursor = page
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
    else cursor = { lastId, lastFingerprint }
  }
  return Object.assign(poll, { observe })
}
