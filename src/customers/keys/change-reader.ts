import { readChangesSince } from "../store/changes.ts"
import type { Store } from "../store/store.ts"
import type { KeyRing } from "./key-ring.ts"

/**
 * Builds the turn in which this process learns what others changed: it reads the change log from `since` on and drops from
 * the keys that are held what the changes make stale. A turn that comes while the last one still reads does nothing. A
 * failure goes to `failed`, and the next turn tries again.
 */
export function changeReader(store: Store, keys: KeyRing, since: number, failed: (error: unknown) => void): () => void {
  let upTo = since
  let isReading = false
  const read = async (): Promise<void> => {
    const changes = await readChangesSince(store, upTo)
    if (changes.kind === "lost") keys.forget()
    else keys.apply(changes.changes)
    upTo = changes.upTo
  }
  return () => {
    if (isReading) return
    isReading = true
    read()
      .catch(failed)
      .finally(() => {
        isReading = false
      })
  }
}
