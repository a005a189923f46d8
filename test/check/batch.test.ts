import { describe, expect, test } from "bun:test"
import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import type { Subject } from "../../src/check/address/subject.ts"
import { type BatchRequest, checkBatch } from "../../src/check/batch.ts"
import { type Check, createCheck, NO_CORRECTIONS, NO_OWN_LIST_MATCH, type OwnListMatch } from "../../src/check/check.ts"
import { OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import { type CheckOutcome, fullResult } from "../../src/check/result/result.ts"
import { lists } from "../support/app.ts"
import { BUDGET_MS, fakeNetwork } from "../support/fake-network.ts"
import { outcomeOf } from "../support/outcome-of.ts"
import { createFakeTime, manyTurns, settled } from "../support/time.ts"

/** A check over fake DNS, the queries, and the defects that were reported. */
function system() {
  const time = createFakeTime()
  const failed: unknown[] = []
  const { outside, requests: queries } = fakeNetwork()
  const { clock, stopwatch } = time
  const check = createCheck({
    activeLists: () => lists,
    networkProbe: outside(time, (_, error) => void failed.push(error)),
    deepProbe: OFFLINE_DEEP_PROBE,
    corrections: NO_CORRECTIONS,
    clock,
    stopwatch,
  })
  const begin = (items: readonly string[], more: Partial<BatchRequest> = {}) => checkBatch(check, batchOf(items, more))
  return { time, queries, failed, check, begin }
}

const batchOf = (items: readonly string[], more: Partial<BatchRequest> = {}): BatchRequest => ({
  subjects: items.map(item => parseSubject(detectSubjectKind(item), item, "mailkind.test")),
  policy: "b2b",
  showsMail: true,
  callerId: "acc_1",
  ownListMatch: () => NO_OWN_LIST_MATCH,
  ...more,
})

const sentOf = (outcomes: readonly CheckOutcome[]): readonly string[] => outcomes.map(({ subject }) => subject.sent)
const isDegraded = ({ judged: { verdict } }: CheckOutcome): boolean => verdict.isDegraded
const domains = (count: number, prefix = "granite"): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}.com`)

describe("the outcome", () => {
  test("has the order of the items, whichever was first", async () => {
    const { begin, time } = system()
    const items = ["silent.com", "jane@granite.com", "jane@gmail.com", "https://basalt.com/x", "jane@@"]
    const result = begin(items)
    await time.tick(BUDGET_MS)
    expect(sentOf(await result)).toEqual(items)
  })

  test("equals the check of each item", async () => {
    const { begin, check } = system()
    const items = ["jane+news@granite.com", "gmail.com", "http://www.basalt.com/x", "co.uk", "shared@mailkind.test", ""]
    const result = await begin(items, { policy: "strict" })
    const alone = items
      .map(item => parseSubject(detectSubjectKind(item), item, "mailkind.test"))
      .map(subject =>
        check({ subject, policy: "strict", isDeep: false, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH }),
      )
    const shown = (outcome: CheckOutcome) => ({ ...fullResult(outcome, "req_1"), cached: false, took_ms: 0 })
    expect(result.map(shown)).toEqual((await Promise.all(alone)).map(shown))
  })

  test("comes without a promise and without a timer if all is cached", async () => {
    const { begin, time, queries } = system()
    const items = [...domains(99).map(domain => `jane@${domain}`), "jane@mailkind.test"]
    await begin(items)
    const before = queries.length
    const held = begin(items)
    expect(held).not.toBeInstanceOf(Promise)
    expect(sentOf(await held)).toEqual(items)
    expect([queries.length, time.waiting()]).toEqual([before, 0])
  })

  test("uses own lists item by item, but not for items that they cannot hold", async () => {
    const { begin } = system()
    const queries: (string | null)[][] = []
    const ownListMatch = ({ normalized, domain }: Subject): OwnListMatch | Promise<OwnListMatch> => {
      queries.push([normalized, domain])
      const blocked: OwnListMatch = { ...NO_OWN_LIST_MATCH, blockedBy: "account" }
      return domain === "basalt.com" ? Promise.resolve(blocked) : NO_OWN_LIST_MATCH
    }
    const items = ["jane@granite.com", "basalt.com", "http://granite.com/", "jane@@", "jane@mailkind.test"]
    const result = await begin(items, { ownListMatch })
    expect(result.map(outcome => fullResult(outcome, "req_1").is_blocked)).toEqual([false, true, false, false, false])
    expect(queries).toEqual([
      ["jane@granite.com", "granite.com"],
      [null, "basalt.com"],
      [null, "granite.com"],
    ])
  })
})

describe("a domain", () => {
  test("is looked up once for a hundred items of any kind that name it", async () => {
    const { begin, queries } = system()
    const items = Array.from({ length: 100 }, (_, at) =>
      [`jane${at}@granite.com`, "Granite.com", `https://www.granite.com/${at}`, "jane+a@GRANITE.com"].at(at % 4),
    ).filter(item => item !== undefined)
    expect(await begin(items)).toHaveLength(100)
    expect(queries.toSorted()).toEqual([
      "A granite.com",
      "A mx.granite.com",
      "MX granite.com",
      "TXT _dmarc.granite.com",
      "TXT granite.com",
    ])
  })

  test("for each of a hundred items is looked up once, all at the same time", async () => {
    const { begin, queries } = system()
    const result = begin(domains(100))
    await manyTurns()
    expect(new Set(queries).size).toBe(500)
    await result
    expect(queries).toHaveLength(500)
  })

  test("that is in a list or cannot exist costs no timer and no other item", async () => {
    const { begin, time } = system()
    const result = begin(["jane@granite", "x.invalid", "[192.0.2.1]", "jane@mailkind.test"])
    expect(result).not.toBeInstanceOf(Promise)
    expect(time.waiting()).toBe(0)
  })
})

describe("the deadline", () => {
  test("is shared: items that are answered in time are complete, the others degraded", async () => {
    const { begin, time } = system()
    const items = [...domains(50), ...domains(50, "silent")]
    const result = begin(items)
    await settled()
    expect(time.waiting()).toBe(1)
    const before = time.stopwatch()
    await time.tick(BUDGET_MS)
    const outcomes = await result
    expect(time.stopwatch() - before).toBe(BUDGET_MS)
    expect(outcomes.map(isDegraded)).toEqual(items.map(item => item.startsWith("silent")))
    expect(outcomes.filter(isDegraded).map(({ judged: { verdict } }) => verdict.reasons)).toEqual(
      Array.from({ length: 50 }, () => ["no_evidence", "dns_unavailable"]),
    )
  })

  test("does not start again for an item whose own lists are read late", async () => {
    const { begin, time } = system()
    const gate = Promise.withResolvers<OwnListMatch>()
    const ownListMatch = ({ domain }: Subject) => (domain === "silent1.com" ? gate.promise : NO_OWN_LIST_MATCH)
    const result = begin(["silent0.com", "silent1.com"], { ownListMatch })
    await time.tick(BUDGET_MS - 1)
    gate.resolve(NO_OWN_LIST_MATCH)
    await time.tick(1)
    expect((await result).map(isDegraded)).toEqual([true, true])
  })

  test("is cancelled if all lookups end in time", async () => {
    const { begin, time } = system()
    await begin(domains(3))
    expect(time.waiting()).toBe(0)
  })

  test("that expired does not prevent the next lookup, which finds the result cached", async () => {
    const { begin, time } = system()
    const result = begin(["granite.com", "silent.com"])
    await time.tick(BUDGET_MS)
    await result
    await time.tick(1000)
    const [whole] = await begin(["granite.com"])
    expect(whole?.judged.evidence).toMatchObject({ isCached: true, mail: { known: true } })
  })
})

describe("a defect of ours", () => {
  test("in the lookup of one domain degrades only its items, is reported once, and does not prevent the next lookup", async () => {
    const { begin, failed, queries } = system()
    const items = ["jane@granite.com", "jane@broken.com", "basalt.com", "broken.com"]
    expect((await begin(items)).map(isDegraded)).toEqual([false, true, false, true])
    expect(failed).toEqual([new TypeError("the packet of jane@broken.com")])
    const before = queries.length
    await begin(["broken.com"])
    expect(queries.length).toBeGreaterThan(before)
  })

  test("in reading own lists fails the batch", async () => {
    const { begin } = system()
    const broken = (): Promise<OwnListMatch> => Promise.reject(new Error("the store is broken"))
    expect(await outcomeOf(begin(domains(100), { ownListMatch: broken }))).toThrow("the store is broken")
  })

  test("in a check fails the batch, and the promises of other items are still handled", async () => {
    const fails: Check = ({ subject: { sent } }) => {
      if (sent === "two") throw new Error("we are wrong")
      return Promise.reject(new Error(sent))
    }
    expect(await outcomeOf(checkBatch(fails, batchOf(["one", "two", "three"])))).toThrow("one")
    await settled()
  })
})
