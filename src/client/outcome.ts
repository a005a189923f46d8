import type { Problem } from "./api-types.ts"

/** Why there is no answer, or none that counts. */
export const CAUSES = {
  timeout: "The server did not answer in time.",
  unreachable:
    "There is no connection to the server. In a page also: the browser hides the answer, because the key does not allow the origin.",
  malformed: "What answered is not the API, or its answer was cut off.",
  rate_limited: "Too many requests.",
  quota_exceeded: "Today's units are used up.",
  server_error: "The server failed or is overloaded.",
  refused: "The key or the request is wrong. `problem` says what is.",
  invalid_subject:
    "The input is missing, empty, too long or not text, or has characters that no address can have. Refuse it.",
  aborted: "The `signal` of the call was aborted.",
} as const satisfies Record<string, string>

export type Cause = keyof typeof CAUSES

/** What is known of a request that got no answer that counts. */
export type Failure = {
  readonly because: Cause
  /** For people. It holds neither the key nor what was checked. */
  readonly message: string
  /** What the server said, if it did. Branch on `problem.code`. */
  readonly problem?: Problem
  /** The status of the answer, if there was one. */
  readonly status?: number
  /** After how long the server wants to be asked again. */
  readonly retryAfterMs?: number
  /** Which id the server logged the request by. All tries of a call have the same one. */
  readonly requestId: string
}

/**
 * A check without an answer. Let the person in, and check the address later. Only `invalid_subject` is about what the person
 * entered: refuse that.
 */
export type Unchecked = Failure & { readonly outcome: "unchecked" }

/** A check with its result. */
export type Checked<R> = { readonly outcome: "checked"; readonly result: R; readonly requestId: string }

/** How a check ends. */
export type Outcome<R> = Checked<R> | Unchecked

/** How another request ends. */
export type Reply<R> =
  | { readonly outcome: "answered"; readonly result: R; readonly requestId: string }
  | (Failure & { readonly outcome: "unanswered" })

/** How an item of a batch ends. `index` counts from 0, over all items. */
export type ItemOutcome<R> = Outcome<R> & { readonly index: number; readonly item: string }
