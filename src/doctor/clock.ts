import { type DiagnosticResult, failed, ok, skipped, warning } from "./diagnostics.ts"

/** The tolerated clock skew. Neither daily quotas nor certificates depend on less. */
export const CLOCK_SKEW_MS_MAX = 60_000

/** What the clock is compared with. */
export type ClockReferences = {
  readonly nowMs: number
  /** The date of the newest source of the lists. */
  readonly listsAtMs: number | null
  /** When the database was last written; `null` if that is unknown. */
  readonly writtenAtMs: number | null
  /** How far the clocks of contacted servers are ahead of ours. */
  readonly serversAheadMs: readonly number[]
}

const CLOCK_REMEDY = "Set the clock, and run a time daemon (NTP)."

/** Compares the clock with times that must be in the past and with the clocks of contacted servers. */
export function diagnoseClock({ nowMs, listsAtMs, writtenAtMs, serversAheadMs }: ClockReferences): DiagnosticResult {
  if (listsAtMs !== null && nowMs < listsAtMs)
    return failed(`The clock says ${isoTime(nowMs)}, but the lists are from ${isoTime(listsAtMs)}.`, CLOCK_REMEDY)
  if (writtenAtMs !== null && nowMs < writtenAtMs - CLOCK_SKEW_MS_MAX)
    return failed(
      `The clock says ${isoTime(nowMs)}, but the database was written at ${isoTime(writtenAtMs)}.`,
      CLOCK_REMEDY,
    )
  const off = median(serversAheadMs)
  if (off === null) return skipped(`It is ${isoTime(nowMs)}. No other server was asked for the time.`)
  const words = `${Math.round(Math.abs(off) / 1000)} s ${off > 0 ? "behind" : "ahead of"} the servers that were asked`
  if (Math.abs(off) > CLOCK_SKEW_MS_MAX) return warning(`It is ${isoTime(nowMs)}, ${words}.`, CLOCK_REMEDY)
  return ok(`It is ${isoTime(nowMs)}, ${words}.`)
}

/**
 * How far the clock of a server is ahead of ours, from the Date of its response (RFC 9110 §6.6.1) and the Age that a cache added
 * (RFC 9111 §5.1); `null` if there is no Date.
 */
export function serverAheadMs(headers: Headers, nowMs: number): number | null {
  const date = Date.parse(headers.get("date") ?? "")
  if (Number.isNaN(date)) return null
  const age = headers.get("age") ?? "0"
  return date + (/^\d{1,9}$/.test(age) ? Number(age) * 1000 : 0) - nowMs
}

/** The median ignores one server with a wrong clock if there are two others. */
function median(numbers: readonly number[]): number | null {
  return [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)] ?? null
}

const isoTime = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z")
