import { expect, test } from "bun:test"
import { Deadline } from "../../src/base/concurrency.ts"
import { type Finding, known, unknown } from "../../src/base/finding.ts"
import type { CachedDnsAnswer, DnsQuestion } from "../../src/check/dns/dns-types.ts"
import { createMailProbe } from "../../src/check/mail/mail-probe.ts"
import { QUESTIONS } from "../../src/check/verdict/evidence-need.ts"
import { createFakeTime } from "../support/time.ts"
import { asking, zone } from "../support/zone.ts"

type Change = Pick<CachedDnsAnswer, "isCached" | "freshUntilMs"> | null

/** The cache status of a domain with one mail host, given that of each answer; null: the question fails. */
async function status(of: (question: DnsQuestion) => Change) {
  const { clock, later: setTimer } = createFakeTime(1000)
  const { ask } = zone({ "MX acme.com": ["10 mx.acme.net"] })
  const changed = async (question: DnsQuestion): Promise<Finding<CachedDnsAnswer>> => {
    const [answer, change] = [await ask(question), of(question)]
    return answer.known && change !== null ? known({ ...answer.value, ...change }) : unknown("unavailable")
  }
  const probe = createMailProbe({ ask: asking(changed), clock })
  const deadline = new Deadline(setTimer, 1000)
  const { isCached, freshUntilMs } = await probe("acme.com", "acme.com", deadline, QUESTIONS.delivery)
  return { isCached, freshUntilMs }
}

const held = (isCached: boolean, freshUntilMs: number): Change => ({ isCached, freshUntilMs })
const isOfHost = ({ name }: DnsQuestion): boolean => name === "mx.acme.net"

test("several answers are fresh as long as the first of them, and cached if all are", async () => {
  expect(await status(() => held(true, 9000))).toEqual({ isCached: true, freshUntilMs: 9000 })
  expect(await status(each => held(true, isOfHost(each) ? 5000 : 9000))).toEqual({ isCached: true, freshUntilMs: 5000 })
  expect(await status(each => held(!isOfHost(each), 7000))).toEqual({ isCached: false, freshUntilMs: 7000 })
})

test("a failure is not cached, and is fresh for its TTL", async () => {
  expect(await status(() => null)).toEqual({ isCached: false, freshUntilMs: 2000 })
  expect(await status(each => (isOfHost(each) ? held(true, 1500) : null))).toEqual({
    isCached: false,
    freshUntilMs: 2000,
  })
})

test("the failure of an answer that the result can do without is fresh for its TTL, and leaves the others cached", async () => {
  const failsAtHost = (isCached: boolean) => (each: DnsQuestion) => (isOfHost(each) ? null : held(isCached, 9000))
  expect(await status(failsAtHost(true))).toEqual({ isCached: true, freshUntilMs: 6000 })
  expect(await status(failsAtHost(false))).toEqual({ isCached: false, freshUntilMs: 6000 })
})
