import { assert } from "../../base/errors.ts"
import { HOUR_MS, isoInstant } from "../../base/time.ts"
import { CATEGORY_NAMES } from "../../contract/categories.ts"
import type { JobBody, ListReadingBody } from "../../contract/jobs-schema.ts"
import { RECOMMENDATIONS } from "../../contract/policies.ts"
import type { StoredReading } from "../../contract/reading.ts"
import { commonestProblems } from "../../contract/row-counts.ts"
import type { Job } from "./job-row.ts"

/** The moment at which a job is described, and for how many hours it is kept after its end. */
export type JobMoment = { readonly nowMs: number; readonly keepHours: number }

/** A job as the API and callbacks show it. */
export function jobBody(job: Job, { nowMs, keepHours }: JobMoment): JobBody {
  const { state, counts, busyMs, rowsDone, rowsTotal, endedAtMs } = job
  const rate = rowsDone > 0 && busyMs > 0 ? (rowsDone * 1000) / busyMs : null
  assert(state !== "deleted", "a deleted job is not found")
  const countsOf = <N extends string>(names: readonly N[], from: Readonly<Record<string, number>>) =>
    Object.fromEntries(names.map(name => [name, from[name] ?? 0])) as Record<N, number> // `fromEntries` loses the type of the names
  return {
    id: job.id,
    name: job.name,
    state,
    reason: job.reason,
    format: job.format,
    column: job.column,
    policy: job.policy,
    workspace: job.includesTenant,
    canonical: job.tellsCanonical,
    duplicates: job.tellsDuplicates,
    columns: job.columns === null ? null : [...job.columns],
    callback: job.callbackUrl,
    rows: {
      total: Math.max(rowsTotal, rowsDone),
      done: rowsDone,
      unreadable: counts.unreadable,
      degraded: counts.degraded,
      skipped: counts.skipped,
      cleaned: counts.cleaned,
      several: counts.several,
      wide: counts.wide,
      duplicates: job.tellsDuplicates ? counts.duplicates : null,
    },
    problems: commonestProblems(counts.problems),
    reading: job.reading === null ? null : readingBody(job.reading),
    by_category: countsOf(CATEGORY_NAMES, counts.byCategory),
    by_recommendation: countsOf(RECOMMENDATIONS, counts.byRecommendation),
    units_used: job.unitsUsed,
    results_bytes: job.resultBytes,
    rows_per_second: rate === null ? null : Math.round(rate),
    seconds_left: state === "running" && rate !== null ? Math.ceil(Math.max(0, rowsTotal - rowsDone) / rate) : null,
    created_at: isoInstant(job.createdAtMs),
    started_at: isoInstant(job.startedAtMs),
    ended_at: isoInstant(endedAtMs),
    expires_at: endedAtMs === null ? null : isoInstant(Math.max(nowMs, endedAtMs + keepHours * HOUR_MS)),
  }
}

/** How a list is read, with lines and columns that count from 1. */
export function readingBody(reading: StoredReading): ListReadingBody {
  const { format, encoding, delimiter, hasHeader, skippedLines, inputIndex, kind } = reading
  const isTable = format === "csv"
  return {
    format,
    encoding,
    delimiter: isTable ? delimiter : null,
    header_line: hasHeader ? skippedLines + 1 : null,
    lines_above: skippedLines,
    column_number: isTable ? inputIndex + 1 : null,
    kind,
  }
}
