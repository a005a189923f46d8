import { CoalescedRuns } from "../../base/single-flight.ts"
import { parseJson } from "../../base/text.ts"
import { ownMember } from "../../base/untrusted-text.ts"
import { type ChangeCursor, hasLostChanges } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"

/** The file in the data directory with the latest change of the database that this node has seen. */
export const SEEN_CHANGES_FILE = "database-seen"

/** How soon a process of the node keeps a change that is newer than the one in the file. */
const KEPT_MS = 5000

type SeenChangesDeps = {
  readonly store: Store
  readonly folder: {
    readonly read: (name: string) => Promise<Uint8Array | null>
    readonly writeAtomic: (name: string, text: string) => Promise<void>
  }
  /** Where the database is. One that is elsewhere is not compared. */
  readonly place: string
  /** Whether this process is the one of the node that keeps it, which none has within so many milliseconds. */
  readonly claim: (everyMs: number) => boolean
  /** Called when the database lacks the change of the file: it was restored while this node did not run. */
  readonly onEarlier: () => void
  readonly onError: (error: unknown) => void
}

/**
 * Keeps in the data directory which change of the database this node has seen last, and tells after a start whether the database still has it
 * (DECISIONS 171). While the node runs, its heartbeats tell.
 */
export function createSeenChanges({ store, folder, place, claim, onEarlier, onError }: SeenChangesDeps) {
  let latest: ChangeCursor | null = null
  let isCompared = false
  let kept = ""
  const keep = async (): Promise<void> => {
    const text = `${JSON.stringify({ place, ...latest })}\n`
    if (text === kept) return
    if (!isCompared) {
      const seen = parseSeen(await folder.read(SEEN_CHANGES_FILE))
      const isEarlier = seen?.place === place && (await hasLostChanges(store, seen))
      isCompared = true
      if (isEarlier) onEarlier()
    }
    await folder.writeAtomic(SEEN_CHANGES_FILE, text)
    kept = text
  }
  const runs = new CoalescedRuns(() => keep().catch(onError))
  return {
    /** Takes the latest change, and keeps it if that is due. */
    observe: (cursor: ChangeCursor): void => {
      latest = cursor
      if (claim(KEPT_MS)) runs.request()
    },
    /** Keeps what was seen last. Never rejects. */
    stop: async (): Promise<void> => {
      if (latest !== null) runs.request()
      await runs.idle()
    },
  }
}

/** What an earlier start has kept; null: nothing that can be read. */
function parseSeen(bytes: Uint8Array | null): (ChangeCursor & { readonly place: unknown }) | null {
  const json = parseJson(bytes === null ? "" : new TextDecoder().decode(bytes))
  const [lastId, fingerprint] = [ownMember(json, "lastId"), ownMember(json, "lastFingerprint")]
  if (typeof lastId !== "number" || !Number.isSafeInteger(lastId)) return null
  return {
    place: ownMember(json, "place"),
    lastId,
    lastFingerprint: typeof fingerprint === "string" ? fingerprint : null,
  }
}
