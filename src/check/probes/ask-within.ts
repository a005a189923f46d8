import { type Finding, unknown } from "../../base/finding.ts"
import type { Later } from "../../base/timer.ts"
import type { Ask, HeldAnswer } from "../dns/question.ts"

/** Asks for a while. */
export type AskWithin = {
  /** Asks as long as there is time; then every question, also one under way, is `timed_out` at once. */
  readonly ask: Ask
  /** Ends the wait when all has been asked. */
  readonly done: () => void
}

/** Gives the questions put through it `ms` milliseconds together, from the first one on. */
export function askWithin(ask: Ask, later: Later, ms: number): AskWithin {
  let callOff: (() => void) | null = null
  let isOver = false
  const underWay = new Set<(finding: Finding<HeldAnswer>) => void>()
  const end = (): void => {
    isOver = true
    for (const settle of underWay) settle(unknown("timed_out"))
    underWay.clear()
  }
  return {
    ask: question => {
      if (isOver) return Promise.resolve(unknown("timed_out"))
      callOff ??= later(ms, end)
      return new Promise(settle => {
        underWay.add(settle)
        void ask(question).then(finding => {
          underWay.delete(settle)
          settle(finding)
        })
      })
    },
    done: () => callOff?.(),
  }
}
