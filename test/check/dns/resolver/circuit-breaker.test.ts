import { describe, expect, test } from "bun:test"
import { type Finding, unknown } from "../../../../src/base/finding.ts"
import type { DnsAnswer, DnsQuestion, Resolver } from "../../../../src/check/dns/dns-types.ts"
import {
  DnsCircuitBreaker,
  FAILED_PROBES_MIN,
  GOOD_QUESTIONS_MAX,
  PROBE_INTERVAL_MS,
  SUSPICION_MS,
} from "../../../../src/check/dns/resolver/circuit-breaker.ts"
import { DnsServers, NO_GUARDS, Resolution } from "../../../../src/check/dns/resolver/resolution.ts"
import { REPLYING_MS, SILENT_MS, SILENT_TIMEOUTS } from "../../../../src/check/dns/resolver/silent-domains.ts"
import { exchangeOf, replyOf } from "../../../support/dns-exchange.ts"
import { createFakeTime, settled } from "../../../support/time.ts"
import { written } from "../../../support/zone.ts"
import { guardedResolver } from "./guarded-resolver.ts"
import { SOME } from "./manual-resolver.ts"
import { KNOWN_NAME, resolverSuite } from "./resolver.suite.ts"

const ROOT: DnsQuestion = { name: "", type: "NS" }
const CANARY: DnsQuestion = { name: "canary.net", type: "A" }
const SILENT = unknown("timed_out")
const FAILED = unknown("unavailable")
const TIMEOUT_MS = 1500

const registrableOf = (name: string): string => name.split(".").slice(-2).join(".")

resolverSuite("a resolver with a circuit breaker", resolver => {
  const { later: setTimer, stopwatch } = createFakeTime()
  const probeQuestions = [{ name: KNOWN_NAME, type: "A" }] as const
  const breaker = new DnsCircuitBreaker(resolver, { probeQuestions, registrableOf, setTimer, stopwatch })
  return guardedResolver(resolver, { breaker })
})

/** Servers that reply to every name with what `reply` returns; a timeout takes its time. */
function setUp(reply: (name: string) => Finding<DnsAnswer>) {
  const time = createFakeTime()
  const queries: string[] = []
  const servers = { reply }
  const direct: Resolver = question => {
    queries.push(written(question))
    const finding = servers.reply(question.name)
    if (finding !== SILENT) return Promise.resolve(finding)
    return new Promise(resolve => void time.later(TIMEOUT_MS, () => resolve(finding)))
  }
  const breaker = new DnsCircuitBreaker(direct, {
    probeQuestions: [ROOT, CANARY],
    registrableOf,
    setTimer: time.later,
    stopwatch: time.stopwatch,
  })
  const resolver = guardedResolver(direct, { breaker })
  const ask = (name: string) => resolver({ name, type: "MX" })
  const askAll = async (count: number) => {
    for (let index = 0; index < count; index++) await ask(`d${index}.com`)
  }
  return { time, queries, servers, breaker, ask, askAll }
}

describe("servers that died", () => {
  test("are suspected during the first question, and are not queried any more when their probes have timed out", async () => {
    const { breaker, ask, queries, time } = setUp(() => SILENT)
    void ask("a.com")
    await time.tick(SUSPICION_MS)
    expect(queries).toEqual(["MX a.com", "NS .", "A canary.net"])
    await time.tick(TIMEOUT_MS - 1)
    expect(breaker.isOpen()).toBe(false)
    void ask("b.com")
    await time.tick(1)
    expect([breaker.isOpen(), queries.at(-1)]).toEqual([true, "MX b.com"])
    const sentCount = queries.length
    for (let index = 0; index < 1000; index++) expect(await ask("any.com")).toEqual(FAILED)
    expect(queries).toHaveLength(sentCount)
    breaker.stop()
  })

  test("are probed with the last good questions too, one for each of the last domains", async () => {
    const { servers, ask, queries, time, breaker } = setUp(() => SOME)
    for (const name of ["old.com", "a.com", "b.com", "x.a.com", "c.com"]) await ask(name)
    servers.reply = () => SILENT
    queries.length = 0
    void ask("d.com")
    await time.tick(TIMEOUT_MS)
    expect(queries).toEqual(["MX d.com", "NS .", "A canary.net", "MX b.com", "MX x.a.com", "MX c.com"])
    expect(GOOD_QUESTIONS_MAX).toBe(3)
    breaker.stop()
  })

  test("are queried again with the first probe that gets a reply, within ten seconds of their return", async () => {
    for (const reply of [SOME, FAILED])
      for (let backMs = 0; backMs < PROBE_INTERVAL_MS + TIMEOUT_MS; backMs += 100) {
        const { ask, breaker, servers, time } = setUp(() => SILENT)
        void ask("a.com")
        await time.tick(2 * TIMEOUT_MS)
        expect(breaker.isOpen()).toBe(true)
        await time.tick(backMs)
        servers.reply = () => reply
        await time.tick(PROBE_INTERVAL_MS + TIMEOUT_MS)
        expect(breaker.isOpen()).toBe(false)
        expect(time.waiting()).toBe(0)
      }
  })

  test("are queried again when a question that was in flight is answered", async () => {
    const time = createFakeTime()
    const direct: Resolver = ({ name }) =>
      new Promise(
        resolve => void time.later(name === "slow.com" ? 300 : 100, () => resolve(name === "slow.com" ? SOME : SILENT)),
      )
    const breaker = new DnsCircuitBreaker(direct, {
      probeQuestions: [CANARY],
      registrableOf,
      setTimer: time.later,
      stopwatch: time.stopwatch,
    })
    const resolver = guardedResolver(direct, { breaker })
    const all = ["slow.com", "a.com", "b.com"].map(name => resolver({ name, type: "A" }))
    await time.tick(200)
    expect(breaker.isOpen()).toBe(true)
    await time.tick(100)
    expect(await all[0]).toEqual(SOME)
    expect(breaker.isOpen()).toBe(false)
  })

  test("leave no domain silent when they are back", async () => {
    const { ask, servers, time } = setUp(() => SILENT)
    for (let count = 0; count < SILENT_TIMEOUTS; count++) void ask("a.com")
    await time.tick(2 * TIMEOUT_MS)
    servers.reply = () => SOME
    await time.tick(PROBE_INTERVAL_MS)
    expect(await ask("a.com")).toEqual(SOME)
  })
})

describe("dead domains on working servers", () => {
  const isDead = (name: string): boolean => name.startsWith("dead")

  test("never open the breaker, and no other question suffers, however many there are", async () => {
    const { ask, breaker, time } = setUp(name => (isDead(name) ? SILENT : SOME))
    for (let round = 0; round < 50; round++) {
      for (let index = 0; index < 20; index++) void ask(`dead${round}-${index}.com`)
      expect(await ask(`good${round}.com`)).toEqual(SOME)
      await time.tick(TIMEOUT_MS / 3)
      expect(breaker.isOpen()).toBe(false)
    }
  })

  test("never open the breaker without any other traffic, even if a probe question is dead too", async () => {
    const { ask, breaker, time, queries } = setUp(name => (isDead(name) || name === "" ? SILENT : SOME))
    for (let round = 0; round < 20; round++) {
      void ask(`dead${round}.com`)
      await time.tick(3 * TIMEOUT_MS)
      expect(breaker.isOpen()).toBe(false)
    }
    expect(queries.filter(query => query === "A canary.net").length).toBeLessThanOrEqual(20)
  })

  test("are not probed for while other questions are answered", async () => {
    const { ask, queries, time } = setUp(name => (isDead(name) ? SILENT : SOME))
    void ask("dead.com")
    await time.tick(SUSPICION_MS - 1)
    await ask("good.com")
    await time.tick(1)
    expect(queries).toEqual(["MX dead.com", "MX good.com"])
    await time.tick(TIMEOUT_MS - SUSPICION_MS)
    expect(queries).toEqual(["MX dead.com", "MX good.com"])
  })

  test("get no more queries for a while after some timeouts, and the first timeout afterwards silences them again", async () => {
    const { ask, time, queries } = setUp(name => (isDead(registrableOf(name)) ? SILENT : SOME))
    for (let count = 0; count < SILENT_TIMEOUTS; count++) void ask(`n${count}.dead.com`)
    await time.tick(TIMEOUT_MS)
    queries.length = 0
    expect(await ask("other.dead.com")).toEqual(SILENT)
    expect(await ask("good.com")).toEqual(SOME)
    await time.tick(SILENT_MS - 1)
    expect(await ask("dead.com")).toEqual(SILENT)
    expect(queries).toEqual(["MX good.com"])
    await time.tick(1)
    void ask("dead.com")
    await time.tick(TIMEOUT_MS)
    queries.length = 0
    expect(await ask("dead.com")).toEqual(SILENT)
    expect(queries).toEqual([])
  })

  test("never silence their parent while its own servers reply, however often they time out", async () => {
    const { ask, time, queries } = setUp(name => (isDead(name) ? SILENT : SOME))
    for (let round = 0; round < 10; round++) {
      for (let count = 0; count < SILENT_TIMEOUTS; count++) void ask(`dead${count}.busy.com`)
      await time.tick(TIMEOUT_MS)
      for (const name of ["busy.com", "www.busy.com"]) expect(await ask(name)).toEqual(SOME)
      await time.tick(SILENT_MS)
    }
    expect(queries.filter(query => query === "A busy.com")).toHaveLength(1)
    await time.tick(REPLYING_MS)
    for (let count = 0; count < SILENT_TIMEOUTS; count++) void ask(`dead${count}.busy.com`)
    await time.tick(TIMEOUT_MS)
    expect(await ask("busy.com")).toEqual(SOME)
    expect(queries.filter(query => query === "A busy.com")).toHaveLength(2)
  })

  test("are queried as ever after a reply of their servers", async () => {
    const { ask, servers, time } = setUp(name => (isDead(name) ? SILENT : SOME))
    for (let round = 0; round < 3; round++) {
      for (let count = 1; count < SILENT_TIMEOUTS; count++) void ask("dead.com")
      await time.tick(TIMEOUT_MS)
      servers.reply = () => SOME
      expect(await ask("dead.com")).toEqual(SOME)
      servers.reply = name => (isDead(name) ? SILENT : SOME)
    }
  })
})

describe("failures with a reply", () => {
  test("open the breaker with the second probe of which every question fails, by however few domains, until there is an answer", async () => {
    const { breaker, ask, servers, time } = setUp(() => FAILED)
    await ask("a.com")
    await settled()
    expect(breaker.openReason()).toBeNull()
    await time.tick((FAILED_PROBES_MIN - 1) * PROBE_INTERVAL_MS)
    expect(breaker.openReason()).toBe("failures")
    await time.tick(10 * PROBE_INTERVAL_MS)
    expect(breaker.isOpen()).toBe(true)
    servers.reply = () => SOME
    await time.tick(PROBE_INTERVAL_MS)
    expect(breaker.isOpen()).toBe(false)
  })

  test("open nothing while a probe, or any other question between them, is answered", async () => {
    const { breaker, ask, askAll, servers, time } = setUp(name => (name === "canary.net" ? SOME : FAILED))
    for (let round = 0; round < 5; round++) {
      await askAll(100)
      await time.tick(PROBE_INTERVAL_MS)
      expect(breaker.isOpen()).toBe(false)
    }
    servers.reply = name => (name === "good.com" ? SOME : FAILED)
    for (let round = 0; round < 5; round++) {
      await ask("good.com")
      await askAll(100)
      await time.tick(PROBE_INTERVAL_MS)
      expect(breaker.isOpen()).toBe(false)
    }
  })

  test("are probed for when another process has found them, without a question of this one", async () => {
    const { breaker, time } = setUp(() => FAILED)
    breaker.suspect("failures")
    await time.tick((FAILED_PROBES_MIN - 1) * PROBE_INTERVAL_MS)
    expect(breaker.openReason()).toBe("failures")
    const well = setUp(() => SOME)
    well.breaker.suspect("timeouts")
    await well.time.tick(5 * PROBE_INTERVAL_MS)
    expect([well.breaker.isOpen(), well.queries.length]).toEqual([false, 2])
  })

  test("cost working servers one probe in each interval, however many domains fail", async () => {
    const { askAll, queries, time } = setUp(name => (name === "canary.net" ? SOME : FAILED))
    for (let round = 0; round < 5; round++) {
      await askAll(100)
      await time.tick(PROBE_INTERVAL_MS / 2)
    }
    expect(queries.filter(query => query === "A canary.net")).toHaveLength(3)
  })
})

test("a suspicion that comes during a probe is probed anew, so that the end of the first probe opens nothing", async () => {
  const { breaker, ask, servers, time } = setUp(name => (name === "" ? SOME : SILENT))
  void ask("dead1.com")
  await time.tick(TIMEOUT_MS)
  void ask("dead2.com")
  await time.tick(TIMEOUT_MS)
  expect(breaker.isOpen()).toBe(false)
  servers.reply = () => SILENT
  void ask("dead3.com")
  await time.tick(2 * TIMEOUT_MS)
  expect(breaker.isOpen()).toBe(true)
  breaker.stop()
})

test("after stop a breaker sends no probe, whether it was open or opens later", async () => {
  const { ask, breaker, time, queries } = setUp(() => SILENT)
  void ask("a.com")
  await time.tick(2 * TIMEOUT_MS)
  breaker.stop()
  expect(time.waiting()).toBe(0)
  const other = setUp(() => SILENT)
  other.breaker.stop()
  void other.ask("a.com")
  await other.time.tick(TIMEOUT_MS)
  queries.length = 0
  other.queries.length = 0
  await time.tick(60_000)
  await other.time.tick(60_000)
  expect([queries, other.queries]).toEqual([[], []])
})

test("a defect of the breaker costs the question its answer, and is reported", async () => {
  const reported: unknown[] = []
  const defect = new Error("a defect")
  const breaker = {
    ...NO_GUARDS.breaker,
    record: () => {
      throw defect
    },
  }
  const { later: setTimer, stopwatch } = createFakeTime()
  const servers = new DnsServers([exchangeOf(replyOf(async () => SOME))], {
    timeoutMs: TIMEOUT_MS,
    attemptsMax: 1,
    setTimer,
    stopwatch,
    onDefect: error => void reported.push(error),
  })
  const finding = new Promise(resolve => new Resolution(ROOT, servers, { ...NO_GUARDS, breaker }, resolve).ask())
  expect(await finding).toEqual(FAILED)
  expect(reported).toEqual([defect])
})
