import { LIMITS } from "../../contract/limits.ts"
import { Problem, rateLimited } from "./problem.ts"

/** The visitor has used up the checks that need no pass. */
export const passRequiredProblem = (): Problem =>
  new Problem("pass_required", "The checks without a pass are used up: the page of the free checker gets one.")

/** The client's network is banned. */
export const bannedProblem = (retryAfterS: number): Problem =>
  new Problem(
    "banned",
    "Too many wrong requests came from your network, so the free checker is closed to it for a while. With a key you are not affected.",
    { retry_after: retryAfterS },
  )

/** The day's checks, which all visitors share, are used up. */
export const busyProblem = (resetsAt: string, retryAfterS: number): Problem =>
  new Problem(
    "busy",
    "The free checks of the day, which all visitors share, are used up. There are new ones at 00:00 UTC. With a key you are not affected.",
    { retry_after: retryAfterS, resets_at: resetsAt },
  )

/** The visitor sends requests too fast. */
export const rateLimitedProblem = (retryAfterS: number): Problem =>
  rateLimited("That was too fast. Wait a moment, then check again.", retryAfterS, LIMITS.freeRequestsPerSecond)
