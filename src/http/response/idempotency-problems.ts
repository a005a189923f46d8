import { Problem } from "./problem.ts"

/** The header of an answer that was given before. */
export const REPLAYED_HEADER = "Idempotent-Replayed"

/** The problem 422 `idempotency_mismatch`. */
export const otherRequest = (): Problem =>
  new Problem(
    "idempotency_mismatch",
    "This `Idempotency-Key` belongs to another request: another body, other options or another path. Use a new key for each request.",
  )

/** The problem 409 `idempotency_in_progress`. */
export const stillRunning = (): Problem =>
  new Problem(
    "idempotency_in_progress",
    "A list with this `Idempotency-Key` is being uploaded, or its upload was cut off a moment ago. Try again in a minute.",
    { retry_after: RUNNING_RETRY_S },
  )

/** An upload takes a while, and one whose server has ended is noticed within a minute. */
const RUNNING_RETRY_S = 10
