import { type Finding, unknown } from "../../base/finding.ts"
import { type Leave, Slots } from "../../base/slots.ts"
import type { Answer, Question, Resolver } from "./question.ts"

type Bounds = {
  /** How many questions are asked at once. */
  readonly inFlightMax: number
  /** How many more wait, in the order in which they came. */
  readonly waitingMax: number
}

/** Asks at most so many questions at once, lets at most so many wait, and gives `unavailable` at once to the rest. */
export function bounding(resolver: Resolver, { inFlightMax, waitingMax }: Bounds): Resolver {
  const slots = new Slots(inFlightMax, waitingMax)
  const asked = async (question: Question, leave: Leave): Promise<Finding<Answer>> => {
    const finding = await resolver(question)
    leave()
    return finding
  }
  return async question => {
    const free = slots.takeNow()
    if (free !== null) return asked(question, free)
    const slot = slots.take()
    return slot === null ? unknown("unavailable") : asked(question, await slot)
  }
}
