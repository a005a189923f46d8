import { expect, test } from "bun:test"
import { unknown } from "../../../src/base/finding.ts"
import type { Ask } from "../../../src/check/dns/question.ts"
import { askWithin } from "../../../src/check/probes/ask-within.ts"
import { stoppedTime } from "../../world/time.ts"
import { zone } from "../../world/zone.ts"

const QUESTION = { name: "acme.com", type: "MX" } as const
const never: Ask = () => Promise.withResolvers<Awaited<ReturnType<Ask>>>().promise

test("answers in time are passed on", async () => {
  const time = stoppedTime()
  const { ask, done } = askWithin(zone({ "MX acme.com": ["10 mx.acme.com"] }).ask, time.later, 100)
  expect(await ask(QUESTION)).toMatchObject({ known: true, value: { outcome: "records" } })
  expect(time.waiting()).toBe(1)
  done()
  expect(time.waiting()).toBe(0)
})

test("when the time is over, what is under way and what comes after has timed out, and nobody is asked", async () => {
  const time = stoppedTime()
  const { ask } = askWithin(never, time.later, 100)
  const answers: unknown[] = []
  void ask(QUESTION).then(answer => answers.push(answer))
  await time.tick(60)
  void ask(QUESTION).then(answer => answers.push(answer))
  await time.tick(39)
  expect(answers).toEqual([])
  await time.tick(1)
  expect(answers).toEqual([unknown("timed_out"), unknown("timed_out")])
  const { ask: counted, asked } = zone({})
  const late = askWithin(counted, time.later, 0)
  await late.ask(QUESTION)
  await time.tick(0)
  expect(await late.ask(QUESTION)).toEqual(unknown("timed_out"))
  expect(asked).toHaveLength(1)
})

test("without a question no time is taken", () => {
  const time = stoppedTime()
  askWithin(never, time.later, 100).done()
  expect(time.waiting()).toBe(0)
})
