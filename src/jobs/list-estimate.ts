import type { Pause } from "../base/concurrency.ts"
import { JOB_LIMITS } from "../contract/jobs.ts"
import { rowSubject } from "../rows/input-rows.ts"
import type { ListFormat } from "./list-blocks.ts"
import { type ReceivedList, receiveList } from "./receive-list.ts"

/** What a check of a list would take. */
export type ListEstimate = ReceivedList & {
  /** At most `JOB_LIMITS.uniqueDomainsMax`. */
  readonly uniqueDomains: number
  readonly unitsNeeded: number
}

/** Reads a list and keeps nothing of it but hashes of its domains, until it has ended. Throws a `RefusedList`. */
export async function estimateList(
  chunks: AsyncIterable<Uint8Array>,
  format: ListFormat,
  bytesMax: number,
  testDomain: string,
  pause: Pause,
): Promise<ListEstimate> {
  const domains = new Set<bigint | number>()
  let unitsNeeded = 0
  const received = await receiveList(chunks, format, bytesMax, async ({ rows }) => {
    for (const row of rows()) {
      const { domain, isTest } = rowSubject(row, testDomain)
      if (!isTest) unitsNeeded++
      if (domain !== null && domains.size < JOB_LIMITS.uniqueDomainsMax) domains.add(Bun.hash.xxHash64(domain))
      await pause()
    }
  })
  return { ...received, uniqueDomains: domains.size, unitsNeeded }
}
