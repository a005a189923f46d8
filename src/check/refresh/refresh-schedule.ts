import type { RefreshState } from "./refresh-state.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** A server that has just started has better things to do; and many that start together must not ask together. */
const START_DELAY_MS = { least: MINUTE_MS, most: 10 * MINUTE_MS }
/** How soon a refresh is tried again of which nothing was of use. */
const RETRY_DELAY_MS = HOUR_MS
/** How far a time is put off from what is wanted, as a share of it: nobody's sources are asked on the hour by all. */
const JITTER_SHARE = 0.1

/** What decides when the next refresh is due. */
export type RefreshTiming = {
  /** How long lies between two refreshes. */
  readonly intervalMs: number
  /** The stock that the program carries. */
  readonly stockId: string
  readonly nowMs: number
  readonly startedAtMs: number
  /** When a refresh was last begun here, whatever came of it; null: never. */
  readonly triedAtMs: number | null
  /** From 0 up to 1, drawn anew for each refresh. */
  readonly chance: number
}

/**
 * When the next refresh is due, in milliseconds since the Unix epoch; null: not until somebody asks for one. One that is
 * late, or that a new program needs, is due soon after the start; and one that left no trace is not tried again at once.
 */
export function nextRefreshAtMs(state: RefreshState, due: RefreshTiming): number | null {
  const { intervalMs, stockId, nowMs, startedAtMs, triedAtMs, chance } = due
  if (state.is_paused) return null
  const spread = 1 - JITTER_SHARE + 2 * JITTER_SHARE * chance
  // A clock that was ahead and was set back has told times that say nothing: nobody waits until they come again.
  const after = (atMs: number | null, waitMs: number): number => (atMs === null || atMs > nowMs ? 0 : atMs + waitMs)
  const afterStartMs = after(startedAtMs, START_DELAY_MS.least + chance * (START_DELAY_MS.most - START_DELAY_MS.least))
  const soonestMs = Math.max(afterStartMs, after(triedAtMs, Math.min(RETRY_DELAY_MS, intervalMs) * spread))
  const isKnown = state.refreshed_at_ms > 0 && state.refreshed_at_ms <= nowMs
  if (!isKnown || state.stock !== stockId) return soonestMs
  const outcomes = Object.values(state.sources).map(({ outcome }) => outcome)
  const isInVain = outcomes.length > 0 && outcomes.every(outcome => outcome === "failed")
  const waitMs = isInVain ? Math.min(RETRY_DELAY_MS, intervalMs) : intervalMs
  return Math.max(soonestMs, state.refreshed_at_ms + waitMs * spread)
}
