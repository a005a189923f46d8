import type { StoredTime } from "../../base/trusted-clock.ts"
import type { Store } from "./core/store.ts"

/** What servers on this database have left of the time that they trusted. */
async function readStored(store: Store): Promise<StoredTime> {
  const row = await store.one<StoredTime>(
    `SELECT confirmed_at_ms AS "confirmedAtMs", held_ms AS "heldMs" FROM confirmed_time`,
  )
  return row ?? { confirmedAtMs: null, heldMs: 0 }
}

/** The same for a server that starts. Where servers of earlier versions have left none, it is the newest instant of their rows. */
export async function readConfirmedTime(store: Store): Promise<StoredTime> {
  const stored = await readStored(store)
  if (stored.confirmedAtMs !== null) return stored
  const row = await store.one<{ newest: number | null }>(
    `SELECT MAX(at_ms) AS newest FROM (
       SELECT MAX(at_ms) AS at_ms FROM changes UNION ALL SELECT MAX(at_ms) FROM admin_acts
       UNION ALL SELECT MAX(created_at_ms) FROM accounts UNION ALL SELECT MAX(last_used_at_ms) FROM keys
       UNION ALL SELECT MAX(created_at_ms) FROM sessions UNION ALL SELECT MAX(written_at_ms) FROM outbox) AS instants`,
  )
  return { ...stored, confirmedAtMs: row?.newest ?? null }
}

/** Stores the time that this process trusts, unless another process has stored nearly the same, at most `oldMs` earlier. */
export async function writeConfirmedTime(
  store: Store,
  { confirmedAtMs, heldMs }: StoredTime,
  oldMs: number,
): Promise<void> {
  const stored = await readStored(store)
  const ageMs = (confirmedAtMs ?? 0) - (stored.confirmedAtMs ?? 0)
  if (ageMs >= -oldMs && ageMs <= oldMs && stored.heldMs > 0 === heldMs > 0) return
  await store.run("UPDATE confirmed_time SET confirmed_at_ms = $1, held_ms = $2", [confirmedAtMs, heldMs])
}
