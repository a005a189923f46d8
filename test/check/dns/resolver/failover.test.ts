import { describe, expect, test } from "bun:test"
import { known, unknown } from "../../../../src/base/finding.ts"
import type { DnsAnswer, DnsQuestion, ServerReply } from "../../../../src/check/dns/dns-types.ts"
import { DnsServers } from "../../../../src/check/dns/resolver/resolution.ts"
import { exchangeOf, replyOf } from "../../../support/dns-exchange.ts"
import { createFakeTime } from "../../../support/time.ts"
import { resolverSuite } from "./resolver.suite.ts"

const QUESTION: DnsQuestion = { name: "a.example", type: "A" }
const ANSWERED: ServerReply = {
  kind: "answered",
  answer: { outcome: "records", records: [{ type: "A", address: "192.0.2.1" }], ttlS: 60 },
  pendingCname: null,
}
const FOUND = known(ANSWERED.answer)

/** What a server does with one attempt: it replies after some milliseconds, or is silent until the timeout. */
type Deed = { readonly after: number; readonly reply: ServerReply } | "nothing"
const at = (after: number, kind: "answered" | "failed" | "silent"): Deed => ({
  after,
  reply: kind === "answered" ? ANSWERED : { kind },
})

/** Servers by what they do at their first, second … attempt (the last is repeated), and the log of what was sent when. */
function servers(...deeds: readonly (readonly Deed[])[]) {
  const time = createFakeTime()
  const sent: string[] = []
  const exchanges = deeds.map((ofServer, server) => {
    let count = 0
    return exchangeOf(() => {
      sent.push(`${server} at ${time.stopwatch()}`)
      const deed = ofServer[Math.min(count++, ofServer.length - 1)] ?? "nothing"
      return new Promise(settle => {
        if (deed !== "nothing") time.later(deed.after, () => settle(deed.reply))
      })
    })
  })
  const { directResolver: ask } = new DnsServers(exchanges, {
    timeoutMs: 1500,
    attemptsMax: 3,
    setTimer: time.later,
    stopwatch: time.stopwatch,
  })
  /** Sends the question, and returns the finding and its time. */
  const fate = async () => {
    const queries = ask(QUESTION)
    let settledAtMs = -1
    void queries.then(() => {
      settledAtMs = time.stopwatch()
    })
    const startedAtMs = time.stopwatch()
    while (settledAtMs < 0 && time.stopwatch() < startedAtMs + 60_000) await time.tick(1)
    return { finding: await queries, tookMs: settledAtMs - startedAtMs }
  }
  return { ask, fate, sent, time }
}

resolverSuite("a retrying and following resolver", resolver => {
  const { later: setTimer, stopwatch } = createFakeTime()
  const exchange = exchangeOf(replyOf(resolver))
  return new DnsServers([exchange, exchange], { timeoutMs: 1500, attemptsMax: 3, setTimer, stopwatch }).directResolver
})

describe("one server", () => {
  test("is queried once if it answers", async () => {
    const { fate, sent, time } = servers([at(20, "answered")])
    expect(await fate()).toEqual({ finding: FOUND, tookMs: 20 })
    expect(sent).toEqual(["0 at 0"])
    expect(time.waiting()).toBe(0)
  })

  test("is queried again after its share of the timeout, so that a lost packet costs a third", async () => {
    const { fate, sent } = servers(["nothing", at(20, "answered")])
    expect(await fate()).toEqual({ finding: FOUND, tookMs: 520 })
    expect(sent).toEqual(["0 at 0", "0 at 500"])
  })

  test("may still answer the first attempt after the second was sent", async () => {
    const { fate } = servers([at(1400, "answered"), "nothing"])
    expect(await fate()).toEqual({ finding: FOUND, tookMs: 1400 })
  })

  test("that is silent costs the whole timeout and no more than the greatest number of attempts", async () => {
    const { fate, sent, time } = servers(["nothing"])
    expect(await fate()).toEqual({ finding: unknown("timed_out"), tookMs: 1500 })
    expect(sent).toEqual(["0 at 0", "0 at 500", "0 at 1000"])
    expect(time.waiting()).toBe(0)
  })

  test("that cannot be reached is given up at once", async () => {
    const { fate, sent } = servers([at(0, "silent")])
    expect(await fate()).toEqual({ finding: unknown("timed_out"), tookMs: 0 })
    expect(sent).toHaveLength(3)
  })

  test("that failed is queried once more, at once", async () => {
    const { fate, sent } = servers([at(10, "failed")])
    expect(await fate()).toEqual({ finding: unknown("unavailable"), tookMs: 20 })
    expect(sent).toEqual(["0 at 0", "0 at 10"])
    const second = servers([at(10, "failed"), at(10, "answered")])
    expect(await second.fate()).toEqual({ finding: FOUND, tookMs: 20 })
  })

  test("that failed once and then was silent is unavailable, not timed out", async () => {
    const { fate } = servers([at(10, "failed"), "nothing"])
    expect(await fate()).toEqual({ finding: unknown("unavailable"), tookMs: 1500 })
  })
})

describe("several servers", () => {
  test("are queried in order: the next as soon as one fails", async () => {
    const { fate, sent } = servers([at(10, "failed")], [at(5, "silent")], [at(20, "answered")])
    expect(await fate()).toEqual({ finding: FOUND, tookMs: 35 })
    expect(sent).toEqual(["0 at 0", "1 at 10", "2 at 15"])
  })

  test("are queried in order after silence, while the first may still answer", async () => {
    const { fate, sent } = servers([at(700, "answered")], ["nothing"])
    expect(await fate()).toEqual({ finding: FOUND, tookMs: 700 })
    expect(sent).toEqual(["0 at 0", "1 at 500"])
  })

  test("that failed are not queried again, those that were silent are", async () => {
    const { fate, sent } = servers(["nothing"], [at(10, "failed")])
    expect(await fate()).toEqual({ finding: unknown("unavailable"), tookMs: 1500 })
    expect(sent).toEqual(["0 at 0", "1 at 500", "0 at 510"])
  })

  test("that all failed are unavailable at once", async () => {
    const { fate, sent } = servers([at(10, "failed")], [at(10, "failed")])
    expect(await fate()).toEqual({ finding: unknown("unavailable"), tookMs: 20 })
    expect(sent).toHaveLength(2)
  })

  test("of which an earlier one fails late leave the later one its share of the timeout", async () => {
    const { fate, sent } = servers([at(600, "failed")], ["nothing"], [at(1, "answered")])
    expect(await fate()).toEqual({ finding: FOUND, tookMs: 1001 })
    expect(sent.at(-1)).toBe("2 at 1000")
  })

  test("end the question when the last pending one fails", async () => {
    const { fate } = servers([at(1200, "failed")], [at(10, "failed")], [at(10, "failed")])
    expect(await fate()).toEqual({ finding: unknown("unavailable"), tookMs: 1200 })
  })

  test("get one attempt each, and only the healthiest if there are too many", async () => {
    const { fate, sent, ask, time } = servers(["nothing"], ["nothing"], ["nothing"], ["nothing"], ["nothing"])
    await fate()
    expect(sent.map(line => line[0]).join("")).toBe("012")
    void ask(QUESTION)
    await time.tick(2000)
    expect(sent.map(line => line[0]).join("")).toBe("012340")
  })

  test("that are dead cost their share of the timeout once: the one that answered stays first", async () => {
    const { fate, sent } = servers(["nothing"], [at(20, "answered")])
    expect((await fate()).tookMs).toBe(520)
    expect((await fate()).tookMs).toBe(20)
    expect(sent.at(-1)).toStartWith("1 ")
  })

  test("that answer after another one are ignored and not preferred", async () => {
    const { fate, sent, time } = servers([at(600, "answered")], [at(20, "answered")])
    expect(await fate()).toEqual({ finding: FOUND, tookMs: 520 })
    await time.tick(5000)
    expect((await fate()).tookMs).toBe(20)
    expect(sent.at(-1)).toStartWith("1 ")
  })
})

test("with no server at all every question is unavailable", async () => {
  const { fate } = servers()
  expect(await fate()).toEqual({ finding: unknown("unavailable"), tookMs: 0 })
})

test("an exchange that never settles does not delay the question", async () => {
  const time = createFakeTime()
  const options = { timeoutMs: 1500, attemptsMax: 3, setTimer: time.later, stopwatch: time.stopwatch }
  const queries = new DnsServers([exchangeOf(() => new Promise(() => undefined))], options).directResolver(QUESTION)
  await time.tick(1500)
  expect(await queries).toEqual(unknown("timed_out"))
  expect(time.waiting()).toBe(0)
})

test("the wait for a silent server ends at once after its time, at whatever fraction of a millisecond it began", async () => {
  // From here on, half a second three times is less than one and a half seconds, by less than time can advance.
  let nowMs = 32_054.532481614227
  const timers: { readonly dueMs: number; readonly work: () => void }[] = []
  const setTimer = (ms: number, work: () => void) => {
    const timer = { dueMs: nowMs + ms, work }
    timers.push(timer)
    return () => void timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0)
  }
  const exchanges = [exchangeOf(() => new Promise(() => undefined))]
  const servers = new DnsServers(exchanges, { timeoutMs: 1500, attemptsMax: 3, setTimer, stopwatch: () => nowMs })
  const query = servers.directResolver(QUESTION)
  let timerCount = 0
  for (let timer = timers.shift(); timer !== undefined && timerCount < 100; timer = timers.shift()) {
    timerCount++
    nowMs = timer.dueMs
    timer.work()
  }
  expect(timerCount).toBeLessThan(10)
  expect(await query).toEqual(unknown("timed_out"))
})

test("a defect in reading a reply counts as a failure of the server and is reported", async () => {
  const time = createFakeTime()
  const defect = new Error("a defect")
  const reported: unknown[] = []
  const exchanges = [
    exchangeOf(() => Promise.resolve({ kind: "failed", defect })),
    exchangeOf(() => Promise.resolve(ANSWERED)),
  ]
  const { directResolver: ask } = new DnsServers(exchanges, {
    timeoutMs: 1500,
    attemptsMax: 3,
    setTimer: time.later,
    stopwatch: time.stopwatch,
    onDefect: error => void reported.push(error),
  })
  expect(await ask(QUESTION)).toEqual(FOUND)
  expect(reported).toEqual([defect])
})

test("questions are counted by their outcome", async () => {
  const answer = (outcome: DnsAnswer["outcome"]): ServerReply => ({
    kind: "answered",
    answer: { outcome, records: [], ttlS: 0 },
    pendingCname: null,
  })
  const replies: readonly ServerReply[] = [
    answer("records"),
    answer("records"),
    answer("no_data"),
    answer("no_name"),
    { kind: "silent" },
    { kind: "failed" },
  ]
  let next = 0
  const { later: setTimer, stopwatch } = createFakeTime()
  const exchange = exchangeOf(async () => replies[next++] ?? { kind: "failed" })
  const servers = new DnsServers([exchange], { timeoutMs: 1500, attemptsMax: 1, setTimer, stopwatch })
  for (const _ of replies) await servers.directResolver(QUESTION)
  expect(servers.counts).toEqual({ records: 2, no_data: 1, no_name: 1, timed_out: 1, unavailable: 1 })
})

test("a reply that was read late, because the process was busy, does not make the time of the question longer", async () => {
  const time = createFakeTime()
  const shift = { ms: 0 }
  const settles: ((reply: ServerReply) => void)[] = []
  const exchange = exchangeOf(() => new Promise(settle => settles.push(settle)))
  const stopwatch = (): number => time.stopwatch() + shift.ms
  const deps = { timeoutMs: 1500, attemptsMax: 3, setTimer: time.later, stopwatch }
  const { directResolver: ask } = new DnsServers([exchange], deps)
  let finding: unknown = null
  void ask(QUESTION).then(value => {
    finding = value
  })
  shift.ms = 1400
  settles[0]?.({ kind: "failed" })
  await time.tick(100)
  expect(settles).toHaveLength(2)
  expect(finding).toEqual(unknown("unavailable"))
})
