import { formatCsvRecord, safeCell } from "../../../../base/csv.ts"
import { isoInstant } from "../../../../base/time.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import {
  type RequestFilter,
  type RequestPlace,
  readRequests,
  type StoredRequest,
} from "../../../../customers/request-log/request-rows.ts"
import type { Store } from "../../../../customers/store/core/store.ts"

/** The columns of the file, each with the text of a request's cell. */
const COLUMNS = {
  time: ({ atMs }) => isoInstant(atMs),
  key_id: ({ keyId }) => keyId,
  key_name: ({ keyId }, nameOf) => nameOf(keyId),
  route: ({ route }) => route,
  status: ({ status }) => String(status),
  code: ({ code }) => code ?? "",
  category: ({ category }) => category ?? "",
  recommendation: ({ recommendation }) => recommendation ?? "",
  reason: ({ reason }) => reason ?? "",
  domain: ({ domain }) => domain ?? "",
  took_ms: ({ tookMs }) => String(tookMs),
  units: ({ units }) => String(units),
  batch_items: ({ categoryCounts }) => categoryCounts.map(([category, count]) => `${category}:${count}`).join(" "),
  not_logged_after: ({ skippedCount }) => String(skippedCount),
} as const satisfies Record<string, (request: StoredRequest, nameOf: KeyName) => string>

/** The name of a key; empty: it has none. */
type KeyName = (keyId: string) => string

/** How many requests are read at once. */
const PAGE_ROWS = 500

/**
 * Yields the account's requests that match as a CSV file (RFC 4180), the newest first, in parts. It ends after
 * `LIMITS.requestLogRowsMax` rows, also when new requests arrive. No cell is a formula for a spreadsheet.
 */
export async function* exportRequests(
  store: Store,
  nowMs: number,
  accountId: string,
  filter: RequestFilter,
  nameOf: KeyName,
): AsyncGenerator<string> {
  yield `${formatCsvRecord(Object.keys(COLUMNS), ",")}\r\n`
  let before: RequestPlace | null = null
  for (let count = 0; count < LIMITS.requestLogRowsMax; count += PAGE_ROWS) {
    const rows: readonly StoredRequest[] = await readRequests(store, accountId, nowMs, {
      filter,
      before,
      countMax: PAGE_ROWS,
    })
    if (rows.length > 0) yield rows.map(row => toLine(row, nameOf)).join("")
    if (rows.length < PAGE_ROWS) return
    before = rows.at(-1) ?? null
  }
}

const toLine = (request: StoredRequest, nameOf: KeyName): string =>
  `${formatCsvRecord(
    Object.values(COLUMNS).map(cell => safeCell(cell(request, nameOf))),
    ",",
  )}\r\n`
