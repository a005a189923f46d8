import type { Pause } from "../base/concurrency.ts"
import { DistinctCounter } from "../base/distinct-count.ts"
import { readRow } from "../rows/input-rows.ts"
import { type ListBlock, type ListReading, type ReceivedList, receiveList } from "./receive-list.ts"

/** What a check of a list would take. */
export type ListEstimate = ReceivedList & {
  /** As a `DistinctCounter` counts them. */
  readonly uniqueDomains: number
  readonly unitsNeeded: number
}

/** Reads a list and keeps nothing of it but some hashes of its domains, until it has ended. Throws a `RefusedList`. */
export async function estimateList(
  chunks: AsyncIterable<Uint8Array>,
  reading: ListReading,
  bytesMax: number,
  testDomain: string,
  pause: Pause,
): Promise<ListEstimate> {
  const domains = new DistinctCounter()
  let unitsNeeded = 0
  const count = async ({ rows }: ListBlock): Promise<void> => {
    for (const row of rows()) {
      const { subject } = readRow(row, testDomain)
      if (subject !== null && !subject.isTest) unitsNeeded++
      if (subject !== null && subject.domain !== null) domains.add(subject.domain)
      const others = pause()
      if (others instanceof Promise) await others
    }
  }
  const received = await receiveList(chunks, reading, bytesMax, count, pause)
  return { ...received, uniqueDomains: domains.count, unitsNeeded }
}
