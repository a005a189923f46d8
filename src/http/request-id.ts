import type { Random } from "../base/clock.ts"

/** Gives request ids (`req_…`) that no other process and no earlier run gives: a random part drawn once, and a count. */
export function requestIds(random: Random): () => string {
  const run = Buffer.from(random(9)).toString("base64url").replace(/[-_]/g, "0")
  // Counted from a number of six digits, so that ids of one run have one length for a billion requests.
  let count = 36 ** 5
  return () => `req_${run}${(count++).toString(36)}`
}
