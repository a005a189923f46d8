import type { Random } from "../../base/outside-world.ts"
import { flattenString } from "../../base/text.ts"

/** The last digits of an id, as many as there are: to write a whole count anew for each id takes five times as long. */
const DIGITS = 2
const LAST_DIGITS = Array.from({ length: 36 ** DIGITS }, (_, count) => count.toString(36).padStart(DIGITS, "0"))

/** Gives request ids (`req_…`) that no other process and no earlier run gives: a random part drawn once, and a count. */
export function createRequestIds(random: Random): () => string {
  const run = Buffer.from(random(9)).toString("base64url").replace(/[-_]/g, "0")
  // Counted from a number of four digits, so that ids of one run have one length for two billion requests.
  let rounds = 36 ** 3
  let at = LAST_DIGITS.length
  let start = ""
  return () => {
    if (at === LAST_DIGITS.length) {
      at = 0
      start = flattenString(`req_${run}${(rounds++).toString(36)}`)
    }
    return `${start}${LAST_DIGITS[at++]}`
  }
}
