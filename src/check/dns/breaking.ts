import { type Finding, unknown } from "../../base/finding.ts"
import type { Later } from "../../base/timer.ts"
import type { Answer, Question, Resolver } from "./question.ts"

/** So many questions in a row that no server said anything to, and the servers count as dead: those of one check. */
export const SILENT_RUN_MAX = 4

/** So many questions in a row that no server answered, and the servers count as dead: single names fail by their own fault. */
export const FAILED_RUN_MAX = 25

/** How long after one probe has ended the next one is sent. */
export const PROBE_EVERY_MS = 2_000

/** A resolver that knows when its servers are dead. */
export type Breaker = {
  /** While the servers count as dead, every question is `unavailable` at once. */
  readonly resolver: Resolver
  /** Whether the servers count as dead. */
  readonly isOpen: () => boolean
  /** Sends no probe any more. */
  readonly end: () => void
}

type Probing = {
  /** What any working server has an answer to. */
  readonly probe: Question
  readonly later: Later
}

/**
 * Stops asking servers that are dead. It opens after a run of failures and sends two probes at once, and again and
 * again: `probe`, and the last question that failed, for a server may know nothing but what it is really asked for. It
 * closes with the first that proves the servers of use: after silence any word from one, after failures only an answer.
 */
export function breaking(resolver: Resolver, { probe, later }: Probing): Breaker {
  const run = new FailureRun()
  let openedBy: Opener | null = null
  let lastFailed = probe
  let hasEnded = false

  const isProof = (finding: Finding<Answer>): boolean =>
    finding.known || (openedBy === "silence" && finding.cause !== "timed_out")
  const hearProbe = (finding: Finding<Answer>): void => {
    if (openedBy !== null && isProof(finding)) close()
  }
  const probes = [() => probe, () => lastFailed].map(question =>
    repeating(async () => hearProbe(await resolver(question())), PROBE_EVERY_MS, later),
  )
  const open = (opener: Opener): void => {
    openedBy = opener
    if (!hasEnded) for (const each of probes) each.start()
  }
  const close = (): void => {
    openedBy = null
    run.clear()
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
      const opener = run.hear(finding)
      if (opener !== null && openedBy === null) open(opener)
      return finding
    },
    isOpen: () => openedBy !== null,
    end: () => {
      hasEnded = true
      for (const each of probes) each.stop()
    },
  }
}

type Opener = "silence" | "failures"

/** Counts the failures in a row, and those of them at the end that were silence. */
class FailureRun {
  #silentCount = 0
  #failedCount = 0

  /** What the run amounts to with this finding; null: the servers do not count as dead. */
  hear(finding: Finding<Answer>): Opener | null {
    if (finding.known) {
      this.clear()
      return null
    }
    this.#failedCount++
    this.#silentCount = finding.cause === "timed_out" ? this.#silentCount + 1 : 0
    if (this.#silentCount >= SILENT_RUN_MAX) return "silence"
    return this.#failedCount >= FAILED_RUN_MAX ? "failures" : null
  }

  /** Begins anew. */
  clear(): void {
    this.#silentCount = 0
    this.#failedCount = 0
  }
}

type Repeating = { readonly start: () => void; readonly stop: () => void }

/** Does the work at once when it is started, and again `everyMs` after it was done, until it is stopped; never twice at once. */
function repeating(work: () => Promise<void>, everyMs: number, later: Later): Repeating {
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
