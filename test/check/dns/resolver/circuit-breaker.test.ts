import { describe, expect, test } from "bun:test"
import { type Finding, unknown } from "../../../../src/base/finding.ts"
import type { DnsAnswer, DnsQuestion } from "../../../../src/check/dns/dns-types.ts"
import {
  CONSECUTIVE_FAILURES_MAX,
  CONSECUTIVE_TIMEOUTS_MAX,
  createDnsCircuitBreaker,
  PROBE_INTERVAL_MS,
} from "../../../../src/check/dns/resolver/circuit-breaker.ts"
import { settled, stoppedTime } from "../../../support/time.ts"
import { written } from "../../../support/zone.ts"
import { SOME } from "./manual-resolver.ts"
import { KNOWN_NAME, resolverSuite } from "./resolver.suite.ts"

const ROOT: DnsQuestion = { name: "", type: "NS" }
const SILENT = unknown("timed_out")
const FAILED = unknown("unavailable")

resolverSuite(
  "a breaking resolver",
  resolver =>
    createDnsCircuitBreaker(resolver, { probeQuestion: { name: KNOWN_NAME, type: "A" }, setTimer: stoppedTime().later })
      .resolver,
)

/** Servers that answer every name with what `says` returns, after `tookMs`. */
function world(initially: (name: string) => Finding<DnsAnswer>, tookMs = 0) {
  const time = stoppedTime()
  const queries: string[] = []
  const server = { says: initially }
  const breaker = createDnsCircuitBreaker(
    question => {
      queries.push(written(question))
      if (tookMs === 0) return Promise.resolve(server.says(question.name))
      return new Promise(settle => void time.later(tookMs, () => settle(server.says(question.name))))
    },
    { probeQuestion: ROOT, setTimer: time.later },
  )
  const ask = (name: string) => breaker.resolver({ name, type: "MX" })
  const askAll = async (count: number) => {
    for (let at = 0; at < count; at++) await ask(`${at}.example`)
  }
  return { time, queries, server, breaker, ask, askAll }
}

describe("a run of timeouts", () => {
  test("opens the breaker, and one question less does not", async () => {
    const { breaker, askAll, ask, queries } = world(() => SILENT)
    await askAll(CONSECUTIVE_TIMEOUTS_MAX - 1)
    expect(breaker.isOpen()).toBe(false)
    await ask("last.example")
    expect(breaker.isOpen()).toBe(true)
    expect(queries.slice(CONSECUTIVE_TIMEOUTS_MAX)).toEqual(["NS .", "MX last.example"])
    breaker.stop()
  })

  test("ends with any reply of a server", async () => {
    for (const word of [SOME, FAILED]) {
      const { breaker, askAll, ask } = world(name => (name === "word.example" ? word : SILENT))
      await askAll(CONSECUTIVE_TIMEOUTS_MAX - 1)
      await ask("word.example")
      await askAll(CONSECUTIVE_TIMEOUTS_MAX - 1)
      expect(breaker.isOpen()).toBe(false)
    }
  })
})

describe("a run of failures", () => {
  test("opens the breaker when it is longer, and one question less does not", async () => {
    const { breaker, askAll, ask } = world(() => FAILED)
    await askAll(CONSECUTIVE_FAILURES_MAX - 1)
    expect(breaker.isOpen()).toBe(false)
    await ask("last.example")
    expect(breaker.isOpen()).toBe(true)
    breaker.stop()
  })

  test("ends with an answer, also with a negative one", async () => {
    const { breaker, askAll, ask } = world(name => (name === "word.example" ? SOME : FAILED))
    await askAll(CONSECUTIVE_FAILURES_MAX - 1)
    await ask("word.example")
    await askAll(CONSECUTIVE_FAILURES_MAX - 1)
    expect(breaker.isOpen()).toBe(false)
  })

  test("does not end while a server keeps failing", async () => {
    const { breaker, askAll, server, time } = world(() => FAILED)
    await askAll(CONSECUTIVE_FAILURES_MAX)
    await time.tick(10 * PROBE_INTERVAL_MS)
    expect(breaker.isOpen()).toBe(true)
    server.says = () => SOME
    await time.tick(PROBE_INTERVAL_MS)
    expect(breaker.isOpen()).toBe(false)
  })
})

describe("an open breaker", () => {
  test("sends no query and is unavailable at once", async () => {
    const { ask, askAll, queries, breaker } = world(() => SILENT)
    await askAll(CONSECUTIVE_TIMEOUTS_MAX)
    await settled()
    queries.length = 0
    for (let at = 0; at < 1000; at++) expect(await ask("any.example")).toEqual(FAILED)
    expect(queries).toEqual([])
    breaker.stop()
  })

  test("closes with the first probe that gets a reply, within ten seconds of the servers' return", async () => {
    for (const word of [SOME, FAILED])
      for (let back = 0; back < PROBE_INTERVAL_MS + 1500; back += 100) {
        const { askAll, breaker, server, time } = world(() => SILENT, 1500)
        const all = Array.from({ length: CONSECUTIVE_TIMEOUTS_MAX }, () => askAll(1))
        await time.tick(1500)
        await Promise.all(all)
        expect(breaker.isOpen()).toBe(true)
        await time.tick(back)
        server.says = () => word
        await time.tick(PROBE_INTERVAL_MS + 1500)
        expect(breaker.isOpen()).toBe(false)
        expect(time.waiting()).toBe(0)
      }
  })

  test("closes when the last question is answered, whatever the outcome of the probe question", async () => {
    const { ask, askAll, breaker, server, time, queries } = world(() => FAILED)
    await askAll(CONSECUTIVE_FAILURES_MAX)
    await settled()
    server.says = name => (name === "inside.example" ? SOME : FAILED)
    await time.tick(PROBE_INTERVAL_MS)
    expect(breaker.isOpen()).toBe(true)
    await ask("inside.example")
    await time.tick(PROBE_INTERVAL_MS)
    expect(queries.at(-1)).toBe("MX inside.example")
    expect(breaker.isOpen()).toBe(false)
    expect(await ask("inside.example")).toEqual(SOME)
  })

  test("that a few slow names opened on a working server closes with the first probe", async () => {
    const { askAll, ask, breaker } = world(name => (name === "" || name === "good.example" ? SOME : SILENT))
    await askAll(CONSECUTIVE_TIMEOUTS_MAX)
    await settled()
    expect(breaker.isOpen()).toBe(false)
    expect(await ask("good.example")).toEqual(SOME)
  })

  test("closes with a question that was in flight when it opened", async () => {
    const time = stoppedTime()
    const breaker = createDnsCircuitBreaker(
      ({ name }) =>
        new Promise(
          settle => void time.later(name === "slow" ? 500 : 100, () => settle(name === "slow" ? SOME : SILENT)),
        ),
      { probeQuestion: { name: "never", type: "A" }, setTimer: time.later },
    )
    const all = ["slow", "a", "b", "c", "d", "e"].map(name => breaker.resolver({ name, type: "A" }))
    await time.tick(100)
    expect(breaker.isOpen()).toBe(true)
    await time.tick(400)
    expect(await all[0]).toEqual(SOME)
    expect(breaker.isOpen()).toBe(false)
  })

  test("has at most one of each probe in flight, however slow they are and however often it opens", async () => {
    const time = stoppedTime()
    const out = { root: 0, other: 0, otherMost: 0 }
    let isProbing = false
    const breaker = createDnsCircuitBreaker(
      async ({ name }) => {
        if (!isProbing) return SILENT
        if (name === "") {
          out.root++
          return SOME
        }
        out.other++
        out.otherMost = Math.max(out.otherMost, out.other)
        await new Promise<void>(settle => void time.later(60_000, settle))
        out.other--
        return SILENT
      },
      { probeQuestion: ROOT, setTimer: time.later },
    )
    for (let opened = 0; opened < 10; opened++) {
      isProbing = false
      for (let at = 1; at < CONSECUTIVE_TIMEOUTS_MAX; at++) await breaker.resolver({ name: `${at}`, type: "A" })
      const last = breaker.resolver({ name: "last", type: "A" })
      isProbing = true
      await last
      await settled()
      expect(breaker.isOpen()).toBe(false)
    }
    expect(out).toEqual({ root: 10, other: 1, otherMost: 1 })
    await time.tick(60_000)
    expect(time.waiting()).toBe(0)
  })

  test("needs a complete new run to open again", async () => {
    const { askAll, breaker, server, time } = world(() => SILENT)
    await askAll(CONSECUTIVE_TIMEOUTS_MAX)
    server.says = () => SOME
    await time.tick(PROBE_INTERVAL_MS)
    server.says = () => SILENT
    await askAll(CONSECUTIVE_TIMEOUTS_MAX - 1)
    expect(breaker.isOpen()).toBe(false)
    await askAll(1)
    expect(breaker.isOpen()).toBe(true)
    breaker.stop()
  })
})

test("after stop a breaker sends no probe, whether it was open or opens later", async () => {
  const { askAll, breaker, time, queries } = world(() => SILENT)
  await askAll(CONSECUTIVE_TIMEOUTS_MAX)
  await settled()
  breaker.stop()
  expect(time.waiting()).toBe(0)
  const other = world(() => SILENT)
  other.breaker.stop()
  await other.askAll(CONSECUTIVE_TIMEOUTS_MAX)
  queries.length = 0
  other.queries.length = 0
  await time.tick(60_000)
  await other.time.tick(60_000)
  expect([queries, other.queries]).toEqual([[], []])
})
