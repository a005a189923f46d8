import { expect, test } from "bun:test"
import { Budget } from "../../../src/base/budget.ts"
import { unknown } from "../../../src/base/finding.ts"
import type { Ask } from "../../../src/check/dns/question.ts"
import { askWithin } from "../../../src/check/probes/ask-within.ts"
import { stoppedTime } from "../../world/time.ts"
import { zone } from "../../world/zone.ts"

const QUESTION = { name: "acme.com", type: "MX" } as const
const never: Ask = () => Promise.withResolvers<Awaited<ReturnType<Ask>>>().promise

test("answers in time are passed on", async () => {
  const { later } = stoppedTime()
  const ask = askWithin(zone({ "MX acme.com": ["10 mx.acme.com"] }).ask, new Budget(later, 100))
  expect(await ask(QUESTION)).toMatchObject({ known: true, value: { outcome: "records" } })
})

test("when the time is over, what is under way and what comes after has timed out, and nobody is asked", async () => {
  const time = stoppedTime()
  const budget = new Budget(time.later, 100)
  const answer = askWithin(never, budget)(QUESTION)
  await time.tick(100)
  expect(await answer).toEqual(unknown("timed_out"))
  const { ask, asked } = zone({})
  expect(await askWithin(ask, budget)(QUESTION)).toEqual(unknown("timed_out"))
  expect(asked).toEqual([])
})
