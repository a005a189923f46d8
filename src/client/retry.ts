import { BACKOFF_FIRST_MS, BACKOFF_MAX_MS, JITTER_MAX_MS } from "./options.ts"
import type { Failure } from "./outcome.ts"

/** Whether the same request may succeed later. A quota says so by its `Retry-After` alone. */
const RETRIED: ReadonlySet<Failure["because"]> = new Set([
  "timeout",
  "unreachable",
  "malformed",
  "rate_limited",
  "quota_exceeded",
  "server_error",
])

/**
 * After how many milliseconds to try again; null: not at all. `triesBefore` counts from 1. What the server asks for is kept,
 * but for a wait over `waitMaxMs`: then nothing waits, and the caller decides.
 */
export function retryDelayMs(
  failure: Failure,
  triesBefore: number,
  waitMaxMs: number,
  random: () => number,
): number | null {
  // The first request with the same idempotency key is still running.
  const isRunning = failure.problem?.code === "idempotency_in_progress"
  if (!RETRIED.has(failure.because) && !isRunning) return null
  if (failure.because === "quota_exceeded" && failure.retryAfterMs === undefined) return null
  const backoff = Math.min(BACKOFF_FIRST_MS * 2 ** (triesBefore - 1), BACKOFF_MAX_MS)
  const waitMs = failure.retryAfterMs ?? backoff
  if (waitMs > waitMaxMs) return null
  return Math.round(waitMs + random() * Math.min(JITTER_MAX_MS, Math.max(waitMs, BACKOFF_FIRST_MS)))
}

/** `Retry-After` in milliseconds: seconds or a date (RFC 9110 §10.2.3). Undefined: there is none that can be read. */
export function readRetryAfter(value: string | null, date: string | null): number | undefined {
  if (value === null) return undefined
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000
  if (!/^\s*[a-z]{3,}, /i.test(value)) return undefined // `Date.parse` takes "1.5" for a date too
  const [until, now] = [Date.parse(value), Date.parse(date ?? "")]
  // By the server's own clock: that of the program may be wrong.
  return Number.isNaN(until) || Number.isNaN(now) ? undefined : Math.max(0, until - now)
}
