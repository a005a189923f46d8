import { formatCsvRecord, safeCell } from "../../../../base/csv.ts"
import { isoDate } from "../../../../base/time.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import { type KeyDayUsage, unitCount } from "../../../../customers/usage/usage-history.ts"
import { keyNameOf } from "./usage-query.ts"

type Row = { readonly usage: KeyDayUsage; readonly apiKey: ApiKey | undefined }

/** The columns of the file before those of categories and recommendations. */
const COLUMNS = {
  date: ({ usage }) => isoDate(usage.day),
  key_id: ({ usage }) => usage.keyId,
  key_name: ({ usage, apiKey }) => keyNameOf(usage.keyId, apiKey),
  key_kind: ({ apiKey }) => apiKey?.kind ?? "",
  units: ({ usage }) => unitCount(usage),
  checks: ({ usage }) => usage.checks,
  deep_checks: ({ usage }) => usage.deepChecks,
  batch_items: ({ usage }) => usage.batchItems,
  rate_limited: ({ usage }) => usage.rateLimited,
} as const satisfies Record<string, (row: Row) => string | number>

/** The usage as a CSV file (RFC 4180), a row for each day and key, the oldest day first. No cell is a formula for a spreadsheet. */
export function usageCsv(history: readonly KeyDayUsage[], keys: ReadonlyMap<string, ApiKey>): string {
  const line = (cells: readonly (string | number)[]): string =>
    `${formatCsvRecord(
      cells.map(cell => safeCell(String(cell))),
      ",",
    )}\r\n`
  const rows = history.map(usage => {
    const row = { usage, apiKey: keys.get(usage.keyId) }
    return line([
      ...Object.values(COLUMNS).map(cell => cell(row)),
      ...CATEGORY_NAMES.map(category => usage.byCategory[category]),
      ...RECOMMENDATIONS.map(name => usage.byRecommendation[name]),
    ])
  })
  return [line([...Object.keys(COLUMNS), ...CATEGORY_NAMES, ...RECOMMENDATIONS]), ...rows].join("")
}
