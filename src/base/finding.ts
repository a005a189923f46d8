/** Why a question put to the outside world has no answer. */
export type FindingCause = "not_asked" | "unavailable" | "timed_out" | "pending"

/** The fate of a question put to the outside world: an answer (an empty one is an answer), or why there is none. */
export type Finding<T> =
  | { readonly known: true; readonly value: T }
  | { readonly known: false; readonly cause: FindingCause }

/** A finding that holds `value`. */
export const known = <T>(value: T): Finding<T> => ({ known: true, value })

/** A finding without an answer. */
export const unknown = (cause: FindingCause): Finding<never> => ({ known: false, cause })
