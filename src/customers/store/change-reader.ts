import { type Change, type Place, readChangesSince } from "./changes.ts"
import type { Store } from "./store.ts"

/** What is held in memory and follows the change log. */
export type Follower = {
  /** Drops, or reads again, what the changes make stale. */
  readonly apply: (changes: readonly Change[]) => void
  /** Drops, or reads again, everything: some changes were lost. */
  readonly forget: () => void
}

/**
 * Builds the turn in which this process learns what others changed: it reads the change log from `since` on and tells it
 * to whatever follows the log. A turn that comes while the last one still reads is taken when that is over, once however
 * many come. A failure goes to `failed`, and the next turn tries again.
 */
export function changeReader(
  store: Store,
  followers: readonly Follower[],
  since: number,
  failed: (error: unknown) => void,
): () => void {
  let place: Place = { upTo: since, last: null }
  let isReading = false
  let isAsked = false
  const read = async (): Promise<void> => {
    const changes = await readChangesSince(store, place.upTo, place.last)
    for (const follower of followers) {
      if (changes.kind === "lost") follower.forget()
      else follower.apply(changes.changes)
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
