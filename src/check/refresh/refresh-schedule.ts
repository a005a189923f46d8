import { askedAtMs, type RefreshState } from "./refresh-state.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** The random delay after a start: a start has more urgent work, and servers that start together must not refresh together. */
const START_DELAY_MS = { min: MINUTE_MS, max: 10 * MINUTE_MS }
/** The delay before a refresh is retried if all its downloads failed. */
const RETRY_DELAY_MS = HOUR_MS
/** The random share by which intervals are longer or shorter, so that sources are not asked by all servers at once. */
const JITTER_SHARE = 0.1

/** What decides when the next refresh is due. */
export type RefreshTiming = {
  readonly intervalMs: number
  /** The id of the source bundle of this program. */
  readonly bundleId: string
  readonly nowMs: number
  readonly startedAtMs: number
  /** When this process last started a refresh, whatever its result; null: never. */
  readonly lastAttemptAtMs: number | null
  /** When files of the lists in use were found damaged that nobody could mend; null: they were not. */
  readonly damagedAtMs: number | null
  /** From 0 to below 1, drawn anew for each refresh. */
  readonly randomShare: number
}

/**
 * When the next refresh is due, in milliseconds since the Unix epoch. An overdue
 * refresh, and one that a new program version or damaged lists need, is due soon after the start. An attempt that has left no state is not
 * repeated at once.
 */
export function nextRefreshAtMs(state: RefreshState, timing: RefreshTiming): number {
  const { intervalMs, bundleId, nowMs, startedAtMs, lastAttemptAtMs, damagedAtMs, randomShare } = timing
  const jitter = 1 - JITTER_SHARE + 2 * JITTER_SHARE * randomShare
  // A time in the future was recorded before the clock was set back, and is ignored.
  const after = (atMs: number | null, delayMs: number): number => (atMs === null || atMs > nowMs ? 0 : atMs + delayMs)
  const startDelayMs = START_DELAY_MS.min + randomShare * (START_DELAY_MS.max - START_DELAY_MS.min)
  const retryDelayMs = Math.min(RETRY_DELAY_MS, intervalMs)
  const soonestMs = Math.max(after(startedAtMs, startDelayMs), after(lastAttemptAtMs, retryDelayMs * jitter))
  const askedMs = askedAtMs(state)
  const isKnown = askedMs > 0 && askedMs <= nowMs
  const isDamaged = damagedAtMs !== null && damagedAtMs > askedMs
  if (!isKnown || isDamaged || state.stock !== bundleId) return soonestMs
  const outcomes = Object.values(state.sources).map(({ outcome }) => outcome)
  const hasFailed = outcomes.length > 0 && outcomes.every(outcome => outcome === "failed")
  const delayMs = hasFailed ? retryDelayMs : intervalMs
  return Math.max(soonestMs, askedMs + delayMs * jitter)
}
