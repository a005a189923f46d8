import { expect, test } from "bun:test"
import { Deadline } from "../../../src/base/concurrency.ts"
import { unknown } from "../../../src/base/finding.ts"
import type { CachingResolver } from "../../../src/check/dns/dns-types.ts"
import { withinDeadline } from "../../../src/check/mail/mail-probe.ts"
import { createFakeTime } from "../../support/time.ts"
import { zone } from "../../support/zone.ts"

const QUESTION = { name: "acme.com", type: "MX" } as const
const never: CachingResolver = () => Promise.withResolvers<Awaited<ReturnType<CachingResolver>>>().promise

test("answers in time are returned", async () => {
  const { later: setTimer } = createFakeTime()
  const ask = withinDeadline(zone({ "MX acme.com": ["10 mx.acme.com"] }).ask, new Deadline(setTimer, 100))
  expect(await ask(QUESTION)).toMatchObject({ known: true, value: { outcome: "records" } })
})

test("after the deadline, pending and later questions are timed out, and no query is sent", async () => {
  const time = createFakeTime()
  const deadline = new Deadline(time.later, 100)
  const answer = withinDeadline(never, deadline)(QUESTION)
  await time.tick(100)
  expect(await answer).toEqual(unknown("timed_out"))
  const { ask, requests: queries } = zone({})
  expect(await withinDeadline(ask, deadline)(QUESTION)).toEqual(unknown("timed_out"))
  expect(queries).toEqual([])
})
