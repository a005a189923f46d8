/** Why a look-up in the outside world has no answer. */
export type FindingCause = "not_asked" | "unavailable" | "timed_out" | "pending"

/** The result of a look-up in the outside world: an answer (which may be empty), or the cause of its absence. */
export type Finding<T> =
  | { readonly known: true; readonly value: T }
  | { readonly known: false; readonly cause: FindingCause }

/** A finding with the given answer. */
export const known = <T>(value: T): Finding<T> => ({ known: true, value })

/** A finding without an answer. */
export const unknown = (cause: FindingCause): Finding<never> => ({ known: false, cause })

/** The finding of a look-up that was not made. */
export const NOT_QUERIED: Finding<never> = unknown("not_asked")
