import { CLOCK_SKEW_MS_MAX, type StoredTime } from "../base/trusted-clock.ts"
import { type DiagnosticResult, failed, ok, skipped, warning } from "./diagnostics.ts"

/** What the clock is compared with. */
export type ClockReferences = {
  readonly nowMs: number
  /** The date of the newest source of the lists. */
  readonly listsAtMs: number | null
  /** When the database was last written; `null` if that is unknown. */
  readonly writtenAtMs: number | null
  /** How far the clock of the database is ahead of ours; `null`: it has none, or did not answer. */
  readonly databaseAheadMs: number | null
  /** What servers on a SQLite database have left of the time that they trust; `null`: nothing. */
  readonly trusted: (StoredTime & { readonly isServing: boolean }) | null
  /** How far the clocks of contacted servers are ahead of ours. */
  readonly serversAheadMs: readonly number[]
}

const CLOCK_REMEDY = "Set the clock, and run a time daemon (NTP)."

/** Compares the clock with times that must be in the past and with the clocks of contacted servers. */
export function diagnoseClock(references: ClockReferences): DiagnosticResult {
  const { nowMs, listsAtMs, writtenAtMs, databaseAheadMs, trusted, serversAheadMs } = references
  if (listsAtMs !== null && nowMs < listsAtMs)
    return failed(`The clock says ${isoTime(nowMs)}, but the lists are from ${isoTime(listsAtMs)}.`, CLOCK_REMEDY)
  if (writtenAtMs !== null && nowMs < writtenAtMs - CLOCK_SKEW_MS_MAX)
    return failed(
      `The clock says ${isoTime(nowMs)}, but the database was written at ${isoTime(writtenAtMs)}.`,
      CLOCK_REMEDY,
    )
  if (databaseAheadMs !== null && Math.abs(databaseAheadMs) > CLOCK_SKEW_MS_MAX)
    return failed(
      `It is ${isoTime(nowMs)}, ${distance(databaseAheadMs)} the clock of the database. ${DOUBT_EFFECT}`,
      CLOCK_REMEDY,
    )
  if (trusted !== null && isDoubted(trusted, nowMs))
    return warning(
      `It is ${isoTime(nowMs)}. The clock has jumped, or no server ran for long: servers count ${isoTime(trusted.confirmedAtMs ?? nowMs)}. ${DOUBT_EFFECT}`,
      `${CLOCK_REMEDY} If it is right, do nothing: after a day of running at most it is trusted.`,
    )
  const off = median(serversAheadMs)
  if (off === null && databaseAheadMs !== null)
    return ok(`It is ${isoTime(nowMs)}, ${distance(databaseAheadMs)} the clock of the database.`)
  if (off === null) return skipped(`It is ${isoTime(nowMs)}. No other server was asked for the time.`)
  const words = `${distance(off)} the servers that were asked`
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

const DOUBT_EFFECT = "Servers on this host delete nothing for its age, and no day begins by this clock."

/** Words for how far our clock is from one that is so far ahead of it. */
const distance = (aheadMs: number): string =>
  `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? "behind" : "ahead of"}`

/** A server stores the time that it trusts several times a minute. */
const isDoubted = ({ confirmedAtMs, heldMs, isServing }: NonNullable<ClockReferences["trusted"]>, nowMs: number) =>
  heldMs > 0 || (isServing && confirmedAtMs !== null && Math.abs(nowMs - confirmedAtMs) > 2 * CLOCK_SKEW_MS_MAX)

/** The median ignores one server with a wrong clock if there are two others. */
function median(numbers: readonly number[]): number | null {
  return [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)] ?? null
}

const isoTime = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z")
