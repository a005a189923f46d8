import { parseJson } from "../../base/text.ts"
import { type JobFormat, type JobReason, type JobState, LISTED_JOB_STATES } from "../../contract/jobs.ts"
import type { Policy } from "../../contract/policies.ts"
import type { StoredReading } from "../../contract/reading.ts"
import { parseResultColumns, type ResultColumn } from "../../contract/result-columns.ts"
import { NO_ROW_COUNTS, type RowCounts } from "../../contract/row-counts.ts"
import type { Store } from "../store/core/store.ts"

/** What the owner of a job asked for. */
export type JobOptions = {
  readonly name: string | null
  readonly format: JobFormat
  /** The name or number of the column with the inputs; null: it is found by its name. */
  readonly column: string | null
  readonly hasHeader: boolean
  readonly policy: Policy
  readonly includesTenant: boolean
  /** Whether results have the canonical form of each address, and the first row with the same input. */
  readonly tellsCanonical: boolean
  readonly tellsDuplicates: boolean
  /** The columns of results of CSV; null: the usual ones. */
  readonly columns: readonly ResultColumn[] | null
  /** The URL that gets its callbacks; null: none. */
  readonly callbackUrl: string | null
}

/** A file with results: the lease under which it was written, and how many of its bytes count. */
export type ResultPart = { readonly lease: number; readonly bytes: number }

/** How far a job is. */
export type JobProgress = {
  /** The byte of the input's file where the block with the next row begins, and how many rows of that block are done. */
  readonly inputOffset: number
  readonly inputSkipped: number
  readonly rowsDone: number
  readonly unitsUsed: number
  readonly busyMs: number
  readonly parts: readonly ResultPart[]
  /** The bytes of all results, without what encryption adds. */
  readonly resultBytes: number
  readonly counts: JobCounts
  /** Claims that have begun since the job last got further, without those that ended in good order (DECISIONS 108). */
  readonly stalledClaims: number
  /** From this row on, counted from zero, one of a block has ended a process; null: none is suspected. */
  readonly suspectRow: number | null
}

/** Counts of the rows that are done. */
export type JobCounts = Omit<RowCounts, "rows"> & {
  /** Rows with the same input as an earlier one, if they are told. */
  readonly duplicates: number
  /** The bytes of the results by recommendation, and of the header. */
  readonly bytesBy: Readonly<Record<string, number>>
}

const { rows: _, ...NO_ROWS } = NO_ROW_COUNTS

/** Nothing is done yet. */
export const NO_COUNTS: JobCounts = { ...NO_ROWS, duplicates: 0, bytesBy: {} }

/** A job. */
export type Job = JobOptions &
  JobProgress & {
    readonly id: string
    readonly accountId: string
    readonly keyId: string
    readonly state: JobState
    readonly reason: JobReason | null
    /** The key of its files; null: it is deleted. */
    readonly fileKey: Uint8Array | null
    readonly createdAtMs: number
    readonly startedAtMs: number | null
    readonly endedAtMs: number | null
    readonly lease: number
    readonly holder: string | null
    readonly beat: number
    readonly inputBytes: number
    readonly rowsTotal: number
    /** How its list is read; null: it was not read yet, or by a version that stored nothing of that. */
    readonly reading: StoredReading | null
  }

/** The columns of a job, as `toJob` reads them. */
export const JOB_COLUMNS = `id, account_id AS "accountId", key_id AS "keyId", state, reason, name, format, input_column AS "column",
  has_header AS "hasHeader", policy, includes_tenant AS "includesTenant", callback_url AS "callbackUrl", file_key AS "fileKey", created_at_ms AS "createdAtMs",
  started_at_ms AS "startedAtMs", ended_at_ms AS "endedAtMs", lease, holder, beat, input_bytes AS "inputBytes",
  rows_total AS "rowsTotal", input_offset AS "inputOffset", input_skipped AS "inputSkipped", rows_done AS "rowsDone",
  units_used AS "unitsUsed", busy_ms AS "busyMs", parts, result_bytes AS "resultBytes", counts,
  stalled_claims AS "stalledClaims", suspect_row AS "suspectRow", reading, tells_canonical AS "tellsCanonical",
  tells_duplicates AS "tellsDuplicates", result_columns AS "columns"`

/** What a column has as 0 or 1. */
type JobFlag = "hasHeader" | "includesTenant" | "tellsCanonical" | "tellsDuplicates"

/** A row with `JOB_COLUMNS`. */
export type JobRow = Omit<Job, JobFlag | "fileKey" | "parts" | "counts" | "reading" | "columns"> & {
  readonly [F in JobFlag]: number
} & {
  readonly fileKey: string | null
  readonly parts: string
  readonly counts: string
  readonly reading: string | null
  readonly columns: string | null
}

/** The job of a row. */
export function toJob(row: JobRow): Job {
  return {
    ...row,
    hasHeader: row.hasHeader === 1,
    includesTenant: row.includesTenant === 1,
    tellsCanonical: row.tellsCanonical === 1,
    tellsDuplicates: row.tellsDuplicates === 1,
    columns: row.columns === null ? null : parseResultColumns(row.columns), // written by `createJob`
    fileKey: row.fileKey === null ? null : Buffer.from(row.fileKey, "base64"),
    parts: parseParts(row.parts),
    reading: row.reading === null ? null : JSON.parse(row.reading), // written by `queueJob`
    counts: { ...NO_COUNTS, ...(parseJson(row.counts) as Partial<JobCounts> | undefined) }, // written by `formatCounts`
  }
}

function parseParts(text: string): readonly ResultPart[] {
  if (text === "") return []
  return text.split(" ").map(part => {
    const [lease, bytes] = part.split(":")
    return { lease: Number(lease), bytes: Number(bytes) }
  })
}

/** The parts as their column has them. */
export const formatParts = (parts: readonly ResultPart[]): string =>
  parts.map(({ lease, bytes }) => `${lease}:${bytes}`).join(" ")

/** The counts as their column has them. */
export const formatCounts = (counts: JobCounts): string => JSON.stringify(counts)

const LISTED = LISTED_JOB_STATES.map(state => `'${state}'`).join(", ")

/** A job of an account; null: it has none with this id, or the job is deleted. */
export async function findJob(store: Store, accountId: string, id: string): Promise<Job | null> {
  const row = await store.one<JobRow>(
    `SELECT ${JOB_COLUMNS} FROM jobs WHERE id = $1 AND account_id = $2 AND state IN (${LISTED})`,
    [id, accountId],
  )
  return row === null ? null : toJob(row)
}

/** The jobs of an account, the newest first. They are few. */
export async function listJobs(store: Store, accountId: string): Promise<readonly Job[]> {
  const rows = await store.all<JobRow>(
    `SELECT ${JOB_COLUMNS} FROM jobs WHERE account_id = $1 AND state IN (${LISTED}) ORDER BY created_at_ms DESC, id DESC`,
    [accountId],
  )
  return rows.map(toJob)
}

/** How many jobs of all accounts are in each state. */
export const countJobs = (store: Store): Promise<readonly { readonly state: JobState; readonly count: number }[]> =>
  store.all<{ state: JobState; count: number }>("SELECT state, COUNT(*) AS count FROM jobs GROUP BY state")

/** An account, and how many of its jobs failed. */
export type FailedJobCount = { readonly accountId: string; readonly count: number }

/** The accounts whose jobs failed, until those are deleted: the `countMax` latest ones. */
export const countFailedJobs = (store: Store, countMax: number): Promise<readonly FailedJobCount[]> =>
  store.all<FailedJobCount>(
    `SELECT account_id AS "accountId", COUNT(*) AS count FROM jobs WHERE state = 'failed'
     GROUP BY account_id ORDER BY MAX(created_at_ms) DESC LIMIT $1`,
    [countMax],
  )
