import type { Random } from "../base/clock.ts"

/** Gives request ids (`req_…`) that no other process and no earlier run gives: a random part drawn once, and a count. */
export function requestIds(random: Random): () => string {
  const run = Buffer.from(random(9)).toString("base64url").replace(/[-_]/g, "0")
  let count = 0
  return () => `req_${run}${(count++).toString(36).padStart(6, "0")}`
}
