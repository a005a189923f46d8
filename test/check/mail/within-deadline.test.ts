import { expect, test } from "bun:test"
import { Deadline } from "../../../src/base/concurrency.ts"
import { unknown } from "../../../src/base/finding.ts"
import type { CachingResolver } from "../../../src/check/dns/dns-types.ts"
import { createMailProbe } from "../../../src/check/mail/mail-probe.ts"
import { createFakeTime } from "../../support/time.ts"
import { asking, zone } from "../../support/zone.ts"

const never: CachingResolver = () => Promise.withResolvers<never>().promise

test("answers in time are returned, and nothing is left at the deadline", async () => {
  const time = createFakeTime()
  const deadline = new Deadline(time.later, 100)
  const { ask } = zone({ "MX acme.com": ["10 mx.acme.com"] })
  const { mail } = await createMailProbe({ ask: asking(ask), clock: time.clock })("acme.com", "acme.com", deadline)
  expect(mail).toMatchObject({ known: true, value: { delivery: "mx" } })
  await time.tick(100)
  expect(deadline.isExpired).toBe(true)
})

test("after the deadline, pending and later questions are timed out, and no query is sent", async () => {
  const time = createFakeTime()
  const deadline = new Deadline(time.later, 100)
  const pending = createMailProbe({ ask: asking(never), clock: time.clock })("acme.com", "acme.com", deadline)
  await time.tick(100)
  expect((await pending).mail).toEqual(unknown("timed_out"))
  const { ask, requests: queries } = zone({})
  const late = await createMailProbe({ ask: asking(ask), clock: time.clock })("acme.com", "acme.com", deadline)
  expect(late.mail).toEqual(unknown("timed_out"))
  expect(queries).toEqual([])
})

test("a defect that is met while an answer is read rejects", async () => {
  const time = createFakeTime()
  const { ask } = zone({ "MX acme.com": ["10 mx.acme.com"] })
  const broken: CachingResolver = question => {
    if (question.name !== "acme.com" && question.type === "A") throw new TypeError("a defect")
    return ask(question)
  }
  const probe = createMailProbe({ ask: asking(broken), clock: time.clock })
  const message = await probe("acme.com", "acme.com", new Deadline(time.later, 100)).catch(String)
  expect(message).toBe("TypeError: a defect")
})
