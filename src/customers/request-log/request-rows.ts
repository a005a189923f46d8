import { DAY_MS } from "../../base/time.ts"
import type { Category } from "../../contract/categories.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Recommendation } from "../../contract/policies.ts"
import { createBulkStatements } from "../store/core/sql-text.ts"
import type { Store } from "../store/core/store.ts"
import { addToSizes } from "./request-log-sizes.ts"

/** A request of an account, as it is logged. It holds no address, neither one that was checked nor that of the client. */
export type LoggedRequest = {
  readonly accountId: string
  /** The key's id, or that of `SITE_KEY`. */
  readonly keyId: string
  /** Method and path, such as `POST /v1/check`. */
  readonly route: string
  readonly status: number
  /** The problem that it was refused with; null: none. */
  readonly code: string | null
  /** The verdict; null: the request has none, or several. */
  readonly category: string | null
  readonly recommendation: string | null
  /** The reason that decided. */
  readonly reason: string | null
  /** The registrable domain that was checked; null: none, or the input is invalid. */
  readonly domain: string | null
  readonly tookMs: number
  readonly units: number
  /** The items of a batch by their category; null: the request is no batch. */
  readonly categoryCounts: ReadonlyMap<Category, number> | null
  /** The same by recommendation. Absent: the request is no batch. */
  readonly recommendationCounts?: ReadonlyMap<Recommendation, number>
}

/** A logged request before it is written. */
export type RequestRow = {
  readonly request: LoggedRequest
  readonly atMs: number
  /** Unique among the account's requests of a millisecond. */
  readonly seq: number
  /** How many of the account's requests after it were not logged. */
  readonly skippedCount: number
}

/** The place of a request in its account's log. */
export type RequestPlace = { readonly atMs: number; readonly seq: number }

/** Writes requests in the transaction of `store`. Rows that are already there stay as they are. */
export async function insertRequests(store: Store, rows: readonly RequestRow[]): Promise<void> {
  const columns = rows.map(toColumns)
  for (const { sql, params } of INSERT_REQUESTS(columns)) await store.run(sql, params)
  await addToSizes(store, columns)
}

/** The statement itself checks that the account exists and logs, since a process learns of a switch later than its requests. */
const INSERT_REQUESTS = createBulkStatements(
  [
    ...(["TEXT", "BIGINT", "BIGINT", "TEXT", "TEXT", "BIGINT", "TEXT", "TEXT"] as const),
    ...(["TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT", "BIGINT", "TEXT", "TEXT", "BIGINT"] as const),
  ],
  rows => `INSERT INTO request_log (account_id, at_ms, seq, key_id, route, status, code, category, recommendation, reason,
    domain, took_us, units, items, categories, recommendations, skipped)
  SELECT column1, column2, column3, column4, column5, column6, column7, column8, column9, column10, column11, column12,
    column13, column14, column15, column16, column17 FROM ${rows}
  WHERE EXISTS (SELECT 1 FROM accounts WHERE id = column1 AND request_log_from_ms <= column2) ORDER BY place
  ON CONFLICT (account_id, at_ms, seq) DO NOTHING`,
)

function toColumns({ request, atMs, seq, skippedCount }: RequestRow): readonly (string | number)[] {
  const { accountId, keyId, route, status, code, category, recommendation, reason, domain, tookMs, units } = request
  const counts = [...(request.categoryCounts ?? [])]
  return [
    ...[accountId, atMs, seq, keyId, route, status, code ?? "", category ?? ""],
    ...[recommendation ?? "", reason ?? "", domain ?? "", Math.max(0, Math.round(tookMs * 1000)), units],
    ...[counts.reduce((sum, [, count]) => sum + count, 0), serializeCounts(counts)],
    ...[serializeCounts([...(request.recommendationCounts ?? [])]), skippedCount],
  ]
}

type NamedCounts = readonly (readonly [name: string, count: number])[]

const serializeCounts = (counts: NamedCounts): string => counts.map(([name, count]) => `${name}:${count}`).join(" ")

/** A request as its account sees it. Another version may have written names that this one does not know. */
export type StoredRequest = RequestPlace &
  Omit<LoggedRequest, "accountId" | "categoryCounts" | "recommendationCounts"> & {
    /** Empty: the request is no batch, or was refused. */
    readonly categoryCounts: NamedCounts
    /** Absent: the request is no batch, or an earlier version logged it. */
    readonly recommendationCounts?: NamedCounts
    readonly skippedCount: number
  }

/** Which requests are read. Null: all. */
export type RequestFilter = {
  readonly keyId: string | null
  readonly route: string | null
  /** The first digit of the status. */
  readonly statusClass: number | null
  /** The category of the verdict, or of an item of a batch. */
  readonly category: string | null
  readonly recommendation: string | null
  /** A part of the domain, as A-labels in lower case. */
  readonly domainPart: string | null
  /** Whether those are left out that neither have a verdict nor were refused. */
  readonly hasOutcome: boolean
  /** From here on, and before there. */
  readonly fromMs: number | null
  readonly toMs: number | null
}

/** A page of an account's log: what is before the place, at most so many. */
export type RequestPageQuery = {
  readonly filter: Partial<RequestFilter>
  /** Null: from the latest on. */
  readonly before: RequestPlace | null
  readonly countMax: number
}

/** The account's requests that match, the newest first. Only those are there that are neither too old nor too many. */
export async function readRequests(
  store: Store,
  accountId: string,
  nowMs: number,
  { filter, before, countMax }: RequestPageQuery,
): Promise<readonly StoredRequest[]> {
  const rows = await store.all<RequestLogRow>(READ_REQUESTS, [
    ...(await firstKept(store, accountId, nowMs)),
    ...[before?.atMs ?? Number.MAX_SAFE_INTEGER, before?.seq ?? Number.MAX_SAFE_INTEGER],
    ...[filter.fromMs ?? 0, filter.toMs ?? Number.MAX_SAFE_INTEGER],
    ...[filter.keyId ?? "", filter.route ?? "", (filter.statusClass ?? 0) * 100],
    ...[filter.category ?? "", `%${filter.category ?? ""}:%`, `%${escapeLike(filter.domainPart ?? "")}%`],
    ...[filter.recommendation ?? "", filter.hasOutcome ? 1 : 0, countMax],
  ])
  return rows.map(toStoredRequest)
}

/** One request of the account; null: there is none at this place. */
export async function findRequest(
  store: Store,
  accountId: string,
  nowMs: number,
  { atMs, seq }: RequestPlace,
): Promise<StoredRequest | null> {
  const row = await store.one<RequestLogRow>(`${SELECT_KEPT} AND at_ms = $5 AND seq = $6`, [
    ...(await firstKept(store, accountId, nowMs)),
    atMs,
    seq,
  ])
  return row && toStoredRequest(row)
}

/** The first parameters of a read: the account, the oldest instant, and the place of the oldest row that counts. */
async function firstKept(store: Store, accountId: string, nowMs: number): Promise<readonly (string | number)[]> {
  const oldest = await findPlaceFromLatest(store, accountId, LIMITS.requestLogRowsMax - 1)
  return [accountId, nowMs - LIMITS.requestLogDays * DAY_MS, oldest?.atMs ?? 0, oldest?.seq ?? 0]
}

/** The place that has so many later ones in the account's log; null: there are fewer. */
export async function findPlaceFromLatest(
  store: Store,
  accountId: string,
  laterCount: number,
): Promise<RequestPlace | null> {
  return await store.one<RequestPlace>(
    `SELECT at_ms AS "atMs", seq FROM request_log WHERE account_id = $1 ORDER BY at_ms DESC, seq DESC LIMIT 1 OFFSET $2`,
    [accountId, laterCount],
  )
}

const SELECT_KEPT = `SELECT at_ms, seq, key_id, route, status, code, category, recommendation, reason, domain, took_us, units,
  categories, recommendations, skipped FROM request_log
  WHERE account_id = $1 AND at_ms >= $2 AND (at_ms, seq) >= ($3, $4)
    AND at_ms >= (SELECT request_log_from_ms FROM accounts WHERE id = $1)`

/** An account has few enough rows for the other conditions to be tried on each of them. */
export const READ_REQUESTS = `${SELECT_KEPT} AND (at_ms, seq) < ($5, $6) AND at_ms >= $7 AND at_ms < $8
    AND ($9 = '' OR key_id = $9) AND ($10 = '' OR route = $10) AND ($11 = 0 OR (status >= $11 AND status < $11 + 100))
    AND ($12 = '' OR category = $12 OR categories LIKE $13) AND domain LIKE $14 ESCAPE '!'
    AND ($15 = '' OR recommendation = $15) AND ($16 = 0 OR category <> '' OR items > 0 OR code <> '')
  ORDER BY at_ms DESC, seq DESC LIMIT $17`

const escapeLike = (text: string): string => text.replace(/[!%_]/g, character => `!${character}`)

type RequestLogRow = {
  readonly at_ms: number
  readonly seq: number
  readonly key_id: string
  readonly route: string
  readonly status: number
  readonly code: string
  readonly category: string
  readonly recommendation: string
  readonly reason: string
  readonly domain: string
  readonly took_us: number
  readonly units: number
  readonly categories: string
  readonly recommendations: string
  readonly skipped: number
}

const nullIfEmpty = (text: string): string | null => (text === "" ? null : text)

function toStoredRequest(row: RequestLogRow): StoredRequest {
  return {
    atMs: row.at_ms,
    seq: row.seq,
    keyId: row.key_id,
    route: row.route,
    status: row.status,
    code: nullIfEmpty(row.code),
    category: nullIfEmpty(row.category),
    recommendation: nullIfEmpty(row.recommendation),
    reason: nullIfEmpty(row.reason),
    domain: nullIfEmpty(row.domain),
    tookMs: row.took_us / 1000,
    units: row.units,
    categoryCounts: deserializeCounts(row.categories),
    ...(row.recommendations !== "" && { recommendationCounts: deserializeCounts(row.recommendations) }),
    skippedCount: row.skipped,
  }
}

const deserializeCounts = (text: string): NamedCounts =>
  text.split(" ").flatMap(pair => {
    const [name = "", count = ""] = pair.split(":")
    return name === "" ? [] : [[name, Number(count)] as const]
  })
