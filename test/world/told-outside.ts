import type { Question } from "../../src/check/dns/question.ts"
import { type Outside, outside } from "../../src/check/outside.ts"
import { mailProbe } from "../../src/check/probes/mail-probe.ts"
import type { StoppedTime } from "./time.ts"
import { written, zone } from "./zone.ts"

/** The budget of a check or a batch that asks this outside. */
export const BUDGET_MS = 3000

/** An outside whose DNS is made up, each question as it was put to it, and what becomes of domains that have a name for it. */
export type ToldOutside = {
  readonly outside: (time: StoppedTime) => Outside
  /** `TYPE name` in order. Nothing between it and the check shares or keeps a question. */
  readonly asked: readonly string[]
}

/**
 * Any domain has a mail host of its own, except those whose names begin with `silent`, which never answer, and with
 * `broken`, where asking throws.
 */
export function toldOutside(): ToldOutside {
  const asked: string[] = []
  const answer = (question: Question, time: StoppedTime) => {
    asked.push(written(question))
    if (question.name.includes("silent")) return Promise.withResolvers<never>().promise
    if (question.name.includes("broken")) throw new TypeError("the packet of jane@broken.com")
    const { name } = question
    return zone({ [`MX ${name}`]: [`10 mx.${name}`], [`A ${name}`]: ["192.0.2.1"] }, 300, time.clock).ask(question)
  }
  return {
    asked,
    outside: time => {
      const mail = mailProbe({ ask: question => answer(question, time), clock: time.clock })
      return outside({
        mail: ({ domain, organisational }, budget) => mail(domain, organisational, budget),
        tenant: null,
        isAway: () => false,
        clock: time.clock,
        later: time.later,
        budgetMs: BUDGET_MS,
      })
    },
  }
}
