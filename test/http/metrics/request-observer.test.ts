import { describe, expect, test } from "bun:test"
import { known, NOT_QUERIED, unknown } from "../../../src/base/finding.ts"
import type { LogFields } from "../../../src/base/log.ts"
import type { LogLevel } from "../../../src/base/log-level.ts"
import { parseSubject } from "../../../src/check/address/parse-subject.ts"
import { NO_OWN_LIST_MATCH } from "../../../src/check/check.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import type { RouteId } from "../../../src/contract/routes.ts"
import type { CallerCredentials } from "../../../src/customers/keys/key-cache.ts"
import { Exchange } from "../../../src/http/exchange.ts"
import { createCounterShard } from "../../../src/http/metrics/counter-layout.ts"
import { Meter } from "../../../src/http/metrics/meter.ts"
import { RequestObserver } from "../../../src/http/metrics/request-observer.ts"
import { check } from "../../support/app.ts"

const CALLER: CallerCredentials = {
  kind: "active",
  key: { id: "key_1", kind: "secret", origins: [] },
  account: { id: "acc_1", tier: 2, acceptedTermsVersion: null, acceptedTermsAtMs: null },
}
const OUTCOME = await check({
  ...{ subject: parseSubject("email", "jane@gmail.com", "mailkind.test"), policy: "b2b" as const },
  ...{ isDeep: false, includeTenant: false, ownListMatch: NO_OWN_LIST_MATCH },
})

/** A watch, the answers that it was shown by how long they took, and what it logged. */
function watched(logsEveryResponse = () => false, slowMs: number | null = 1000) {
  const lines: { readonly level: LogLevel; readonly message: string; readonly fields: LogFields }[] = []
  const now = { ms: 0 }
  const watch = new RequestObserver({
    meter: new Meter(createCounterShard()),
    stopwatch: () => now.ms,
    log: (level, message, fields = {}) => void lines.push({ level, message, fields }),
    slowMs: () => slowMs,
    logsEveryResponse,
    isDnsOff: false,
  })
  const answer = (tookMs: number, status = 200, known: Partial<Exchange> = {}): void => {
    now.ms += tookMs
    const exchange = exchangeOf("postCheck")
    exchange.caller = CALLER
    if (status === 200) exchange.result = { units: 1, check: OUTCOME, categoryCounts: null }
    watch.record(Object.assign(exchange, known), new Response("", { status }), tookMs)
  }
  return { watch, answer, lines, now }
}

const exchangeOf = (route: RouteId): Exchange =>
  new Exchange(new Request("http://localhost/v1/usage?email=jane@acme.com"), "req_1", route)

describe("an answer that took as long as is slow", () => {
  test("is logged with what became of it, and one that took less is not", () => {
    const { answer, lines } = watched()
    answer(999.9)
    answer(1000)
    expect(lines).toEqual([
      {
        level: "warn",
        message: "slow response",
        fields: {
          request_id: "req_1",
          route: "POST /v1/check",
          status: 200,
          took_ms: 1000,
          tier: "2",
          category: "personal",
          degraded: OUTCOME.judged.verdict.isDegraded,
          waited_ms: 0,
          waited_for: null,
        },
      },
    ])
  })

  test("names what a check has waited for, and for how long", () => {
    const { watch, lines } = watched()
    const { judged } = OUTCOME
    const waits = (asked: Partial<typeof judged.evidence>): void => {
      const evidence = { ...judged.evidence, mail: NOT_QUERIED, tenant: NOT_QUERIED, homepage: NOT_QUERIED, ...asked }
      const check = { ...OUTCOME, tookMs: 1805, judged: { ...judged, evidence } }
      watch.record(
        Object.assign(exchangeOf("postCheck"), { result: { units: 1, check, categoryCounts: null } }),
        new Response(""),
        1806,
      )
    }
    waits({ mail: unknown("timed_out") })
    waits({ mail: unknown("timed_out"), tenant: known(null) })
    waits({ homepage: known("parked") })
    waits({})
    expect(lines.map(({ fields }) => [fields["waited_ms"], fields["waited_for"]])).toEqual([
      [1805, "dns"],
      [1805, "dns, identity"],
      [1805, "homepage and registry"],
      [1805, "dns"],
    ])
  })

  test("is not logged where it answers an upload, whose sender decides how long it takes", () => {
    const { watch, lines } = watched()
    for (const route of ["postJob", "postDashboardJob", "postJobEstimate", "postBatch"] as const)
      watch.record(exchangeOf(route), new Response(""), 2000)
    expect(lines.map(({ fields }) => fields["route"])).toEqual(["POST /v1/check/batch"])
  })

  test("is logged when it was refused too, and never when nothing is slow", () => {
    const { answer, lines } = watched()
    answer(2000, 429)
    expect(lines.map(({ fields }) => [fields["status"], fields["category"]])).toEqual([[429, null]])
    const off = watched(() => false, null)
    off.answer(1e9)
    expect(off.lines).toEqual([])
  })
})

describe("slow answers", () => {
  /** So many slow answers side by side, all over at once. */
  const together = ({ watch, now }: ReturnType<typeof watched>, count: number, status: number, tookMs = 2000): void => {
    const response = new Response("", { status })
    for (let at = 0; at < count; at++) watch.record(exchangeOf("postCheck"), response, tookMs)
    now.ms += 1
  }

  test.each([200, 401, 429])(
    "with status %d are a bounded number of lines a second, and one that counts the rest",
    status => {
      const observed = watched()
      const { lines, now } = observed
      const seconds = 5
      for (let second = 0; second < seconds; second++) {
        for (let turn = 0; turn < 10; turn++) together(observed, 100, status, 2000 + turn)
        now.ms += 1000
      }
      observed.answer(1)
      expect(lines.filter(({ message }) => message === "slow response")).toHaveLength(
        seconds * LIMITS.slowLinesPerSecondMax,
      )
      const summaries = lines.filter(({ message }) => message !== "slow response")
      expect(summaries).toEqual(
        Array(seconds).fill({
          level: "warn",
          message: "more slow responses",
          fields: { count: 1000 - LIMITS.slowLinesPerSecondMax, slowest_ms: 2009 },
        }),
      )
    },
  )

  test("up to the bound have a line each and no summary, also while every line is logged", () => {
    const observed = watched(() => true)
    together(observed, LIMITS.slowLinesPerSecondMax, 200)
    observed.now.ms += 1000
    observed.answer(1)
    expect(observed.lines.map(({ message }) => message)).toEqual([
      ...Array(LIMITS.slowLinesPerSecondMax).fill("slow response"),
      "response sent",
    ])
  })
})

test("while every line is logged, an answer that went well has one, also where it was slow", () => {
  const { answer, lines } = watched(() => true)
  answer(1)
  answer(1000)
  expect(lines.map(({ level, message }) => [level, message])).toEqual([
    ["debug", "response sent"],
    ["warn", "slow response"],
  ])
})

test("a line has the route, its caller and nothing of its query", () => {
  const { watch, lines } = watched()
  const exchange = exchangeOf("getUsage")
  exchange.caller = CALLER
  watch.record(exchange, new Response(""), 7000)
  expect(lines.map(({ fields }) => [fields["route"], fields["tier"], fields["took_ms"]])).toEqual([
    ["GET /v1/usage", "2", 7000],
  ])
  expect(JSON.stringify(lines)).not.toContain("jane")
})

describe("a refused request", () => {
  test("that failed by us has one line by which it is found, with the problem and whose it was", () => {
    const { answer, lines } = watched()
    answer(1.23456, 500, { refusal: "internal_error" })
    answer(1, 404)
    expect(lines).toEqual([
      {
        level: "info",
        message: "a request failed",
        fields: {
          request_id: "req_1",
          route: "POST /v1/check",
          status: 500,
          code: "internal_error",
          key_id: "key_1",
          account_id: "acc_1",
          took_ms: 1.235,
        },
      },
    ])
  })

  test("is one of a bounded number of lines a second, and the others are counted", () => {
    const { answer, lines, now } = watched()
    for (let at = 0; at < 100; at++) answer(0, 503)
    now.ms += 1000
    answer(0)
    expect(lines.map(({ message }) => message)).toEqual([
      ...Array(LIMITS.failureLinesPerSecondMax).fill("a request failed"),
      "more failed responses",
    ])
    expect(lines.at(-1)?.fields).toEqual({ count: 100 - LIMITS.failureLinesPerSecondMax, slowest_ms: 0 })
  })

  test("by a fault names it, also where it has no line but on level debug, so that it is counted with that", () => {
    const { answer, lines } = watched()
    for (let at = 0; at < 20; at++) answer(0, 503, { fault: { fault: "away", why: "no answer" } })
    expect(lines.map(({ level, message, fields }) => [level, message, fields["fault"]])).toEqual([
      ...Array(LIMITS.failureLinesPerSecondMax).fill(["info", "a request failed", "away"]),
      ...Array(20 - LIMITS.failureLinesPerSecondMax).fill(["debug", "a request failed", "away"]),
    ])
  })

  test("that failed by us and was slow is told as failed", () => {
    const { answer, lines } = watched()
    answer(2500, 503, { fault: { fault: "away", why: "no answer" } })
    expect(lines).toMatchObject([{ message: "a request failed", fields: { fault: "away", took_ms: 2500 } }])
  })

  test("for the health of a server that stops has no line, since it is asked for every few seconds", () => {
    const state = { isVerbose: false }
    const { watch, lines } = watched(() => state.isVerbose)
    const refuse = (): void => watch.record(exchangeOf("getHealth"), new Response("", { status: 503 }), 0)
    refuse()
    expect(lines).toEqual([])
    state.isVerbose = true
    refuse()
    expect(lines).toMatchObject([{ level: "debug", message: "a request was refused" }])
  })

  test("has a line each, whatever its status, while every line is logged", () => {
    const state = { isVerbose: true }
    const { answer, lines } = watched(() => state.isVerbose)
    for (let at = 0; at < 50; at++) answer(0, at % 2 === 0 ? 429 : 503)
    expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual(
      Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? "debug a request was refused" : "info a request failed")),
    )
    state.isVerbose = false
    answer(0, 429)
    expect(lines).toHaveLength(50)
  })
})
