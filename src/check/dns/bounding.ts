import { type Finding, unknown } from "../../base/finding.ts"
import type { Answer, Resolver } from "./question.ts"

type Bounds = {
  /** How many questions are asked at once. */
  readonly inFlightMax: number
  /** How many more wait, in the order in which they came. */
  readonly waitingMax: number
}

/** What waits, as a chain: taking the first from an array of ten thousand would move all others. */
type Waiting = { readonly begin: () => void; next: Waiting | null }

/** Asks at most so many questions at once, lets at most so many wait, and gives `unavailable` at once to the rest. */
export function bounding(resolver: Resolver, { inFlightMax, waitingMax }: Bounds): Resolver {
  let inFlightCount = 0
  let waitingCount = 0
  let first: Waiting | null = null
  let last: Waiting | null = null

  const pass = (): void => {
    if (first === null) {
      inFlightCount--
      return
    }
    const { begin, next } = first
    first = next
    if (first === null) last = null
    waitingCount--
    begin()
  }
  const wait = (begin: () => void): void => {
    const waiting: Waiting = { begin, next: null }
    if (last === null) first = waiting
    else last.next = waiting
    last = waiting
    waitingCount++
  }

  return question => {
    const ask = async (): Promise<Finding<Answer>> => {
      const finding = await resolver(question)
      pass()
      return finding
    }
    if (inFlightCount < inFlightMax) {
      inFlightCount++
      return ask()
    }
    if (waitingCount >= waitingMax) return Promise.resolve(unknown("unavailable"))
    return new Promise(settle => wait(() => settle(ask())))
  }
}
