import { type Finding, unknown } from "../../../base/finding.ts"
import type { SetTimer } from "../../../base/outside-world.ts"
import type { DnsAnswer, DnsQuestion, Resolver } from "../dns-types.ts"

/** So many questions in a row that no server said anything to, and the servers count as dead: those of one check. */
export const CONSECUTIVE_TIMEOUTS_MAX = 4

/** So many questions in a row that no server answered, and the servers count as dead: single names fail by their own fault. */
export const CONSECUTIVE_FAILURES_MAX = 25

/** How long after one probe has ended the next one is sent. */
export const PROBE_INTERVAL_MS = 2_000

/** A resolver that knows when its servers are dead. */
export type DnsCircuitBreaker = {
  /** While the servers count as dead, every question is `unavailable` at once. */
  readonly resolver: Resolver
  /** Whether the servers count as dead. */
  readonly isOpen: () => boolean
  /** Sends no probe any more. */
  readonly stop: () => void
}

type DnsCircuitBreakerDeps = {
  /** What any working server has an answer to. */
  readonly probeQuestion: DnsQuestion
  readonly setTimer: SetTimer
}

/**
 * Stops asking servers that are dead. It opens after a run of failures and sends two probes at once, and again and
 * again: `probe`, and the last question that failed, for a server may know nothing but what it is really asked for. It
 * closes with the first that proves the servers of use: after silence any word from one, after failures only an answer.
 */
export function createDnsCircuitBreaker(
  resolver: Resolver,
  { probeQuestion, setTimer }: DnsCircuitBreakerDeps,
): DnsCircuitBreaker {
  const run = new FailureRun()
  let openedBy: OpenReason | null = null
  let lastFailed = probeQuestion
  let hasEnded = false

  const isProof = (finding: Finding<DnsAnswer>): boolean =>
    finding.known || (openedBy === "silence" && finding.cause !== "timed_out")
  const hearProbe = (finding: Finding<DnsAnswer>): void => {
    if (openedBy !== null && isProof(finding)) close()
  }
  const probes = [() => probeQuestion, () => lastFailed].map(question =>
    createProbeLoop(async () => hearProbe(await resolver(question())), PROBE_INTERVAL_MS, setTimer),
  )
  const open = (opener: OpenReason): void => {
    openedBy = opener
    if (!hasEnded) for (const each of probes) each.start()
  }
  const close = (): void => {
    openedBy = null
    run.reset()
    for (const each of probes) each.stop()
  }

  return {
    resolver: async question => {
      if (openedBy !== null) {
        lastFailed = question
        return unknown("unavailable")
      }
      const finding = await resolver(question)
      if (!finding.known) lastFailed = question
      // Others may have opened it since; then this is as good a probe as any.
      hearProbe(finding)
      const opener = run.record(finding)
      if (opener !== null && openedBy === null) open(opener)
      return finding
    },
    isOpen: () => openedBy !== null,
    stop: () => {
      hasEnded = true
      for (const each of probes) each.stop()
    },
  }
}

type OpenReason = "silence" | "failures"

/** Counts the failures in a row, and those of them at the end that were silence. */
class FailureRun {
  #timeoutCount = 0
  #failureCount = 0

  /** What the run amounts to with this finding; null: the servers do not count as dead. */
  record(finding: Finding<DnsAnswer>): OpenReason | null {
    if (finding.known) {
      this.reset()
      return null
    }
    this.#failureCount++
    this.#timeoutCount = finding.cause === "timed_out" ? this.#timeoutCount + 1 : 0
    if (this.#timeoutCount >= CONSECUTIVE_TIMEOUTS_MAX) return "silence"
    return this.#failureCount >= CONSECUTIVE_FAILURES_MAX ? "failures" : null
  }

  /** Begins anew. */
  reset(): void {
    this.#timeoutCount = 0
    this.#failureCount = 0
  }
}

type ProbeLoop = { readonly start: () => void; readonly stop: () => void }

/** Does the work at once when it is started, and again `everyMs` after it was done, until it is stopped; never twice at once. */
function createProbeLoop(work: () => Promise<void>, everyMs: number, later: SetTimer): ProbeLoop {
  let isWanted = false
  let isWorking = false
  let callOff: (() => void) | null = null

  const turn = async (): Promise<void> => {
    callOff = null
    isWorking = true
    await work()
    isWorking = false
    if (isWanted) callOff = later(everyMs, turn)
  }
  return {
    start: () => {
      isWanted = true
      if (!isWorking) void turn()
    },
    stop: () => {
      isWanted = false
      callOff?.()
      callOff = null
    },
  }
}
