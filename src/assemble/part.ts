import type { LogMessage } from "../base/log-events.ts"
import type { Sample } from "../contract/metrics.ts"

/** A part of a running server, as it describes itself. Until its work is done it may need the parts before it. */
export type Part = {
  /** Starts the background work. Called once the server listens. */
  readonly start?: () => unknown
  /** Stops the background work and writes what is buffered. Never rejects. The store is still open. */
  readonly stop?: () => unknown
  /** What it measures, from memory. */
  readonly samples?: () => readonly Sample[]
  /** What takes queries to measure. */
  readonly queriedSamples?: readonly QueriedSamples[]
}

/** Samples that take queries, and what the log says when these fail; null: nothing, since another metric says it. */
export type QueriedSamples = {
  readonly read: () => Promise<readonly Sample[]>
  readonly failure: LogMessage | null
}

/** Starts parts in order. */
export function startParts(parts: readonly Part[]): void {
  for (const { start } of parts) start?.()
}

/** Stops parts in reverse order, each when the one after it has stopped. */
export async function stopParts(parts: readonly Part[]): Promise<void> {
  for (const { stop } of parts.toReversed()) await stop?.()
}
