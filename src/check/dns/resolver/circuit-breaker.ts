import { type Finding, unknown } from "../../../base/finding.ts"
import type { SetTimer } from "../../../base/outside-world.ts"
import type { DnsAnswer, DnsQuestion, Resolver } from "../dns-types.ts"

/** How many timeouts in a row open the breaker: about the questions of one check. */
export const CONSECUTIVE_TIMEOUTS_MAX = 4

/** How many failures in a row open the breaker. It is more, because single names fail by their own fault. */
export const CONSECUTIVE_FAILURES_MAX = 25

/** The pause between the end of one probe and the next. */
export const PROBE_INTERVAL_MS = 2_000

/** A circuit breaker in front of a resolver. */
export type DnsCircuitBreaker = {
  /** While the breaker is open, every question is `unavailable` at once. */
  readonly resolver: Resolver
  readonly isOpen: () => boolean
  /** Ends the probes. */
  readonly stop: () => void
}

type DnsCircuitBreakerDeps = {
  /** A question that every working server can answer. */
  readonly probeQuestion: DnsQuestion
  readonly setTimer: SetTimer
}

/**
 * Stops queries to dead servers. After a run of failures it opens and sends two probes, again and again: `probeQuestion`, and
 * the last question that failed, because a server may know only some zones. It closes with the first probe that shows a
 * working server: if timeouts opened it, by any reply, and if failures did, by an answer.
 *
 * Unlike `CircuitBreaker` in `base/`, it probes by itself, so that no caller waits for the timeout of a trial call.
 */
export function createDnsCircuitBreaker(
  resolver: Resolver,
  { probeQuestion, setTimer }: DnsCircuitBreakerDeps,
): DnsCircuitBreaker {
  const run = new FailureRun()
  let openReason: OpenReason | null = null
  let lastFailed = probeQuestion
  let isStopped = false

  const isWorking = (finding: Finding<DnsAnswer>): boolean =>
    finding.known || (openReason === "timeouts" && finding.cause !== "timed_out")
  const closeIfWorking = (finding: Finding<DnsAnswer>): void => {
    if (openReason !== null && isWorking(finding)) close()
  }
  const probes = [() => probeQuestion, () => lastFailed].map(question =>
    createProbeLoop(async () => closeIfWorking(await resolver(question())), setTimer),
  )
  const open = (reason: OpenReason): void => {
    openReason = reason
    if (!isStopped) for (const probe of probes) probe.start()
  }
  const close = (): void => {
    openReason = null
    run.reset()
    for (const probe of probes) probe.stop()
  }

  return {
    resolver: async question => {
      if (openReason !== null) {
        lastFailed = question
        return unknown("unavailable")
      }
      const finding = await resolver(question)
      if (!finding.known) lastFailed = question
      // Another question may have opened the breaker meanwhile. Then this answer is as good as a probe.
      closeIfWorking(finding)
      const reason = run.record(finding)
      if (reason !== null && openReason === null) open(reason)
      return finding
    },
    isOpen: () => openReason !== null,
    stop: () => {
      isStopped = true
      for (const probe of probes) probe.stop()
    },
  }
}

type OpenReason = "timeouts" | "failures"

/** Counts the failures in a row, and the timeouts in a row. */
class FailureRun {
  #timeoutCount = 0
  #failureCount = 0

  /** Whether the run with this finding opens the breaker, and why; null: it does not. */
  record(finding: Finding<DnsAnswer>): OpenReason | null {
    if (finding.known) {
      this.reset()
      return null
    }
    this.#failureCount++
    this.#timeoutCount = finding.cause === "timed_out" ? this.#timeoutCount + 1 : 0
    if (this.#timeoutCount >= CONSECUTIVE_TIMEOUTS_MAX) return "timeouts"
    return this.#failureCount >= CONSECUTIVE_FAILURES_MAX ? "failures" : null
  }

  reset(): void {
    this.#timeoutCount = 0
    this.#failureCount = 0
  }
}

type ProbeLoop = { readonly start: () => void; readonly stop: () => void }

/** Sends a probe at once when it is started, and again `PROBE_INTERVAL_MS` after each has ended. One probe runs at a time. */
function createProbeLoop(probe: () => Promise<void>, setTimer: SetTimer): ProbeLoop {
  let isStarted = false
  let isRunning = false
  let cancelTimer: (() => void) | null = null

  const runProbe = async (): Promise<void> => {
    cancelTimer = null
    isRunning = true
    await probe()
    isRunning = false
    if (isStarted) cancelTimer = setTimer(PROBE_INTERVAL_MS, runProbe)
  }
  return {
    start: () => {
      isStarted = true
      if (!isRunning) void runProbe()
    },
    stop: () => {
      isStarted = false
      cancelTimer?.()
      cancelTimer = null
    },
  }
}
