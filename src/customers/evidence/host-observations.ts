import { utcDay } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import type { Store } from "../store/core/store.ts"

/** Where a domain's mail was received when it was last seen, as a row. Domains are stored as hashes. */
export type StoredHostObservation = {
  /** A hash of the registrable domain, below 2^53. */
  readonly domainHash: number
  /** Null: a host that is not stored. */
  readonly host: string | null
  /** Texts without spaces. */
  readonly addresses: readonly string[]
  readonly isListed: boolean
  /** The day, UTC, counted from 1 January 1970. */
  readonly seenOn: number
}

/** A reader's position: after the row of this domain in this batch. */
export type ObservationCursor = { readonly batch: number; readonly domainHash: number }

/** The position before the first row. */
export const OBSERVATIONS_START: ObservationCursor = { batch: 0, domainHash: 0 }

/** Bounds of the table. */
export type ObservationRetention = {
  /** Rows, give or take one batch; the least recently written are deleted first. */
  readonly rowsMax: number
  /** Rows that were last seen more days ago are deleted. */
  readonly daysMax: number
}

/** Rows per batch when writing, reading and pruning; a batch blocks other writers for a few milliseconds. */
export const OBSERVATIONS_PER_WRITE_MAX = 500
export const OBSERVATIONS_PER_READ_MAX = 1000
export const OBSERVATIONS_PER_PRUNE_MAX = 1000

/**
 * Writes a batch of observations in one transaction; each replaces the earlier one of its domain. A row that is already the
 * same stays untouched, so that readers do not read it again. Rejects when the store fails; then nothing is written.
 */
export async function writeHostObservations(store: Store, sightings: readonly StoredHostObservation[]): Promise<void> {
  if (sightings.length === 0) return
  await store.transaction(async inner => {
    // The counter rises in the writing transaction, so batches become visible in order and readers miss none.
    const head = await inner.one<{ batch: number }>(
      "UPDATE host_sightings_head SET batch = batch + 1 WHERE singleton = 1 RETURNING batch",
    )
    for (const { domainHash, host, addresses, isListed, seenOn } of sightings) {
      const values = [domainHash, host ?? "", addresses.join(" "), isListed ? 1 : 0, seenOn, head?.batch ?? 0]
      await inner.run(UPSERT_OBSERVATION, values)
    }
  })
}

const UPSERT_OBSERVATION = `INSERT INTO host_sightings (domain_hash, host, addresses, is_listed, seen_on, batch)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (domain_hash) DO UPDATE
  SET host = excluded.host, addresses = excluded.addresses, is_listed = excluded.is_listed, seen_on = excluded.seen_on,
    batch = excluded.batch
  WHERE host_sightings.host <> excluded.host OR host_sightings.addresses <> excluded.addresses
    OR host_sightings.is_listed <> excluded.is_listed OR host_sightings.seen_on <> excluded.seen_on`

type HostObservationRow = {
  readonly domainHash: number
  readonly host: string
  readonly addresses: string
  readonly isListed: number
  readonly seenOn: number
  readonly batch: number
}

/**
 * Reads at most `rowsMax` observations written after `upTo`, in the order of writing, and the new position. Fewer rows
 * mean that there are no more now.
 */
export async function readHostObservations(
  store: Store,
  { batch, domainHash }: ObservationCursor,
  rowsMax = OBSERVATIONS_PER_READ_MAX,
): Promise<{ readonly observations: readonly StoredHostObservation[]; readonly cursor: ObservationCursor }> {
  const rows = await store.all<HostObservationRow>(
    `SELECT domain_hash AS "domainHash", host, addresses, is_listed AS "isListed", seen_on AS "seenOn", batch
     FROM host_sightings
     WHERE (batch, domain_hash) > ($1, $2) ORDER BY batch, domain_hash LIMIT $3`,
    [batch, domainHash, rowsMax],
  )
  const last = rows.at(-1)
  return {
    observations: rows.map(row => ({
      domainHash: row.domainHash,
      host: row.host === "" ? null : row.host,
      addresses: row.addresses.split(" ").filter(address => address !== ""),
      isListed: row.isListed === 1,
      seenOn: row.seenOn,
    })),
    cursor: last === undefined ? { batch, domainHash } : { batch: last.batch, domainHash: last.domainHash },
  }
}

/**
 * Deletes a batch of rows that have expired (`nowMs` null: none has) or are too many, and returns their count; zero: none is left, or none
 * among the oldest `prunedMax`.
 */
export async function pruneHostObservations(
  store: Store,
  nowMs: TrustedInstant | null,
  { rowsMax, daysMax }: ObservationRetention,
  prunedMax = OBSERVATIONS_PER_PRUNE_MAX,
): Promise<number> {
  const last = await store.one<{ batch: number }>(
    "SELECT batch FROM host_sightings ORDER BY batch DESC LIMIT 1 OFFSET $1",
    [rowsMax],
  )
  // Days rise with batches, so expired rows are among the first; a search by day would read the whole table.
  return await store.run(
    `DELETE FROM host_sightings WHERE domain_hash IN (
       SELECT domain_hash FROM (
         SELECT domain_hash, seen_on, batch FROM host_sightings ORDER BY batch, domain_hash LIMIT $1) AS oldest
       WHERE seen_on < $2 OR batch <= $3)`,
    [prunedMax, nowMs === null ? 0 : utcDay(nowMs) - daysMax, last?.batch ?? 0],
  )
}
