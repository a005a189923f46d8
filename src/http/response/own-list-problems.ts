import { LIMITS } from "../../contract/limits.ts"
import { Problem } from "./problem.ts"

/** The problem 409 `own_lists_full`. */
export const ownListsFull = (): Problem =>
  new Problem(
    "own_lists_full",
    `Nothing was added. Your two lists together can have ${LIMITS.ownListEntriesMax} entries. Remove some first.`,
    { limit: LIMITS.ownListEntriesMax },
  )
