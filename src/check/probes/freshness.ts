import type { Clock } from "../../base/clock.ts"
import type { Ask } from "../dns/question.ts"
import type { Fresh } from "./found.ts"

/** How long the answers to several questions hold together. */
export type Freshness = {
  /** Asks as `ask` does, and counts each answer that has come; one that failed may be asked for again after `failedForMs`. */
  readonly noting: (ask: Ask, failedForMs: number) => Ask
  /** What the answers so far have in common: all were held, and until when the first of them is fresh. */
  readonly read: () => Fresh
}

/** Builds a freshness that has seen no answer: nothing is held, and nothing is fresh. */
export function freshness(clock: Clock): Freshness {
  let earliestMs: number | null = null
  let areAllHeld = true
  const note = (isCached: boolean, freshUntilMs: number): void => {
    earliestMs = Math.min(earliestMs ?? freshUntilMs, freshUntilMs)
    areAllHeld &&= isCached
  }
  return {
    noting: (ask, failedForMs) => async question => {
      const answer = await ask(question)
      if (answer.known) note(answer.value.isCached, answer.value.freshUntilMs)
      else note(false, clock() + failedForMs)
      return answer
    },
    read: () => ({ isCached: earliestMs !== null && areAllHeld, freshUntilMs: earliestMs ?? clock() }),
  }
}
