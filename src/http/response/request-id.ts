import type { Random } from "../../base/outside-world.ts"
import { flattenString } from "../../base/text.ts"

/** All values of the last digits of an id. Writing the whole count for each id would take five times as long. */
const DIGITS = 2
const LAST_DIGITS = Array.from({ length: 36 ** DIGITS }, (_, count) => count.toString(36).padStart(DIGITS, "0"))

/** Makes request ids (`req_…`) that are unique over processes and restarts: a random part drawn once, and a count. */
export function createRequestIds(random: Random): () => string {
  const randomPart = Buffer.from(random(9)).toString("base64url").replace(/[-_]/g, "0")
  // Starts at a number of four digits, so that the ids of one process keep their length for two billion requests.
  let rounds = 36 ** 3
  let index = LAST_DIGITS.length
  let prefix = ""
  return () => {
    if (index === LAST_DIGITS.length) {
      index = 0
      prefix = flattenString(`req_${randomPart}${(rounds++).toString(36)}`)
    }
    return `${prefix}${LAST_DIGITS[index++]}`
  }
}
