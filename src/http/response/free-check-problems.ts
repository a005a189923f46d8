import { LIMITS } from "../../contract/limits.ts"
import { Problem, rateLimited } from "./problem.ts"

/** The visitor has used up the checks that need no pass. */
export const passRequiredProblem = (): Problem =>
  new Problem(
    "pass_required",
    "Your free checks without a pass are used up. The page of the free checker gets a pass for you.",
  )

/** The client's network is banned. */
export const bannedProblem = (retryAfterS: number): Problem =>
  new Problem(
    "banned",
    "Too many wrong requests came from your network, so the free checker blocks it for a while. You can still use a key.",
    { retry_after: retryAfterS },
  )

/** The day's checks, which all visitors share, are used up. */
export const busyProblem = (resetsAt: string, retryAfterS: number): Problem =>
  new Problem(
    "busy",
    "All visitors share a number of free checks per day. They are used up until 00:00 UTC. You can still use a key.",
    { retry_after: retryAfterS, resets_at: resetsAt },
  )

/** The visitor sends requests too fast. */
export const rateLimitedProblem = (retryAfterS: number): Problem =>
  rateLimited("Rate limited. Wait a moment, then check again.", retryAfterS, LIMITS.freeRequestsPerSecond, "client")
