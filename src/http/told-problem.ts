import type { Clock } from "../base/clock.ts"
import { DAY_MS, dayOf } from "../base/utc-day.ts"
import { LIMITS } from "../contract/limits.ts"
import { testProblem } from "../contract/test-addresses.ts"
import { Problem } from "./problem.ts"

/** Throws the problem that the local part of a test address asks for, if it asks for one. */
export function refuseAsTold(localPart: string, clock: Clock): void {
  const row = testProblem(localPart)
  if (row === undefined) return
  const midnightMs = (dayOf(clock()) + 1) * DAY_MS
  const detail = "The test address asks for this problem."
  switch (row.code) {
    case "rate_limited":
      throw new Problem(row.code, detail, { retry_after: row.retryAfterSeconds, limit: LIMITS.keylessPerSecond })
    case "quota_exceeded":
      throw new Problem(row.code, detail, {
        retry_after: Math.ceil((midnightMs - clock()) / 1000),
        limit: 0,
        resets_at: new Date(midnightMs).toISOString(),
      })
    case "internal_error":
      throw new Problem(row.code, detail)
  }
}
