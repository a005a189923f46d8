import type { Store } from "../core/store.ts"
import { type Change, type ChangeCursor, readChangesSince } from "./change-log.ts"

/** What is held in memory and follows the change log. */
export type ChangeListener = {
  /** Drops, or reads again, what the changes make stale. */
  readonly applyChanges: (changes: readonly Change[]) => void
  /** Drops, or reads again, everything: some changes were lost. */
  readonly invalidateAll: () => void
}

/**
 * Builds the turn in which this process learns what others changed: it reads the change log from `since` on and tells it
 * to whatever follows the log. A turn that comes while the last one still reads is taken when that is over, once however
 * many come. A failure goes to `failed`, and the next turn tries again.
 */
export function createChangePoller(
  store: Store,
  followers: readonly ChangeListener[],
  since: number,
  failed: (error: unknown) => void,
): () => void {
  let place: ChangeCursor = { lastId: since, lastFingerprint: null }
  let isReading = false
  let isAsked = false
  const read = async (): Promise<void> => {
    const changes = await readChangesSince(store, place.lastId, place.lastFingerprint)
    for (const follower of followers) {
      if (changes.kind === "lost") follower.invalidateAll()
      else follower.applyChanges(changes.changes)
    }
    place = changes
  }
  const readAll = async (): Promise<void> => {
    while (isAsked) {
      isAsked = false
      await read()
    }
  }
  return () => {
    isAsked = true
    if (isReading) return
    isReading = true
    readAll()
      .catch(failed)
      .finally(() => {
        isReading = false
      })
  }
}
