import { describe, expect, test } from "bun:test"
import { type Finding, known, unknown } from "../../../../src/base/finding.ts"
import type { DnsAnswer, Resolver } from "../../../../src/check/dns/dns-types.ts"
import {
  CANARY_INTERVAL_MS,
  type CanaryGuard,
  createCanaryGuard,
} from "../../../../src/check/dns/resolver/canary-guard.ts"
import { createFakeTime, settled } from "../../../support/time.ts"
import { type ZoneRecords, zone } from "../../../support/zone.ts"
import { guardedResolver } from "./guarded-resolver.ts"
import { heldResolver, SOME } from "./manual-resolver.ts"
import { KNOWN_NAME, resolverSuite } from "./resolver.suite.ts"

const NO_NAME: Finding<DnsAnswer> = known({ outcome: "no_name", records: [], ttlS: 300 })
const UNAVAILABLE = unknown("unavailable")

resolverSuite("a believing resolver", resolver => {
  const { later: setTimer } = createFakeTime()
  return guardedBy(resolver, createCanaryGuard({ canaries: [KNOWN_NAME], directResolver: resolver, setTimer })).resolver
})
resolverSuite("a trusting resolver", resolver => {
  const { later: setTimer } = createFakeTime()
  return guardedBy(resolver, createCanaryGuard({ canaries: [], directResolver: resolver, setTimer })).resolver
})

/** A guard with the resolver that it guards. */
const guardedBy = (resolver: Resolver, canaryGuard: CanaryGuard) => ({
  ...canaryGuard,
  resolver: guardedResolver(resolver, { canaryGuard }),
})

const CANARIES = ["one.example", "two.example"]

/** A guarded resolver over records that a test may change. Questions and canary queries are counted separately. */
function system(records: ZoneRecords, canaries: readonly string[] = CANARIES) {
  const time = createFakeTime()
  const questions = zone(records)
  const direct = zone(records)
  const believer = guardedBy(
    questions.resolver,
    createCanaryGuard({
      canaries,
      directResolver: direct.resolver,
      setTimer: time.later,
    }),
  )
  const ask = (name: string) => believer.resolver({ name, type: "MX" })
  return { time, records, requests: questions.requests, canariesAsked: direct.requests, believer, ask }
}

const MAIL = { "MX firm.example": ["10 mx.firm.example"] }
const ALIVE = { "A one.example": ["192.0.2.1"], "A two.example": ["192.0.2.2"] }
const result = expect.objectContaining({ known: true, value: expect.objectContaining({ outcome: "records" }) })

describe("a resolver that denies every canary", () => {
  const DENIALS: Readonly<Record<string, ZoneRecords>> = {
    "says that no name exists": {},
    "says that every name exists without records": { "* one.example": "no_data", "* two.example": "no_data" },
    "refuses every canary": { "* one.example": "unavailable", "* two.example": "unavailable" },
    "denies one and refuses another": { "* one.example": "unavailable" },
  }
  for (const [description, records] of Object.entries(DENIALS))
    test(`is not believed, whatever it says: one that ${description}`, async () => {
      const { ask, requests: queries, believer } = system({ ...records, ...MAIL })
      expect(await ask("firm.example")).toEqual(UNAVAILABLE)
      expect(await ask("gone.example")).toEqual(UNAVAILABLE)
      expect(believer.state()).toBe("denied")
      expect(queries).toEqual(["MX firm.example"])
      believer.stop()
    })

  test("is queried for them again every few seconds, and is believed as soon as it knows one", async () => {
    const { ask, records, believer, time, canariesAsked } = system({ ...MAIL })
    expect(await ask("firm.example")).toEqual(UNAVAILABLE)
    expect(canariesAsked).toHaveLength(2)
    await time.tick(CANARY_INTERVAL_MS)
    expect(canariesAsked).toHaveLength(4)
    records["A two.example"] = ["192.0.2.2"]
    await time.tick(CANARY_INTERVAL_MS - 1)
    expect(believer.state()).toBe("denied")
    await time.tick(1)
    expect(believer.state()).toBe("believed")
    expect(await ask("firm.example")).toEqual(result)
    expect(await ask("gone.example")).toEqual(NO_NAME)
    expect(time.waiting()).toBe(0)
  })

  test("stays denied while the canaries time out", async () => {
    const { ask, records, believer, time } = system({})
    await ask("gone.example")
    for (const name of CANARIES) records[`* ${name}`] = "timed_out"
    await time.tick(3 * CANARY_INTERVAL_MS)
    expect(believer.state()).toBe("denied")
    believer.stop()
    expect(time.waiting()).toBe(0)
  })
})

describe("a resolver that knows a canary", () => {
  test("is believed in positive and negative answers", async () => {
    const { ask, believer, canariesAsked } = system({ ...MAIL, ...ALIVE, "A firm.example": ["192.0.2.3"] })
    expect(await ask("gone.example")).toEqual(NO_NAME)
    expect(await ask("firm.example")).toEqual(result)
    expect(believer.state()).toBe("believed")
    // Both canaries are queried with the first question, and one of them again after the negative answer.
    expect(canariesAsked).toEqual(["A one.example", "A two.example", "A one.example"])
  })

  test("is believed for one alive canary, whatever the outcome of the others", async () => {
    for (const fate of ["no_name", "timed_out", "unavailable"] as const) {
      const { ask, believer } = system({ "* one.example": fate, "A two.example": ["192.0.2.2"] })
      expect(await ask("gone.example")).toEqual(NO_NAME)
      expect(believer.state()).toBe("believed")
    }
  })

  test("may know it by NS or MX records if it has no address", async () => {
    for (const type of ["NS", "MX"]) {
      const { ask, believer } = system({ [`${type} one.example`]: ["10 host.example"] }, ["one.example"])
      expect(await ask("gone.example")).toEqual(NO_NAME)
      expect(believer.state()).toBe("believed")
    }
  })

  test("is not queried for canaries after a positive answer", async () => {
    const { ask, canariesAsked } = system({ ...MAIL, ...ALIVE })
    for (let at = 0; at < 5; at++) expect(await ask("firm.example")).toEqual(result)
    expect(canariesAsked).toHaveLength(2)
  })

  test("is queried for the canary that was alive last before each negative answer is believed, and for the others if it is dead", async () => {
    const { ask, records, canariesAsked } = system({ "* one.example": "no_name", "A two.example": ["192.0.2.2"] })
    expect(await ask("gone.example")).toEqual(NO_NAME)
    canariesAsked.length = 0
    expect(await ask("gone.example")).toEqual(NO_NAME)
    expect(canariesAsked).toEqual(["A two.example"])
    canariesAsked.length = 0
    delete records["A two.example"]
    records["* one.example"] = ["192.0.2.1"]
    expect(await ask("gone.example")).toEqual(NO_NAME)
    expect(canariesAsked).toEqual(["A two.example", "A one.example"])
  })

  test("is not believed in one negative answer once it denies all canaries, and then not in positive answers either", async () => {
    const { ask, records, believer } = system({ ...MAIL, ...ALIVE })
    expect(await ask("firm.example")).toEqual(result)
    expect(await ask("gone.example")).toEqual(NO_NAME)
    for (const key of Object.keys(ALIVE)) delete records[key]
    expect(await ask("gone.example")).toEqual(UNAVAILABLE)
    expect(believer.state()).toBe("denied")
    expect(await ask("firm.example")).toEqual(UNAVAILABLE)
    believer.stop()
  })

  test("stays believed if the canaries time out, but not in the pending negative answer", async () => {
    const { ask, time, records, believer } = system({ ...MAIL, ...ALIVE, "A firm.example": ["192.0.2.3"] })
    await ask("firm.example")
    for (const name of CANARIES) {
      delete records[`A ${name}`]
      records[`* ${name}`] = "timed_out"
    }
    expect(await ask("gone.example")).toEqual(UNAVAILABLE)
    expect(await believer.resolver({ name: "firm.example", type: "TXT" })).toEqual(UNAVAILABLE)
    expect(believer.state()).toBe("believed")
    expect(await ask("firm.example")).toEqual(result)
    expect(time.waiting()).toBe(0)
  })
})

/** The test answers questions and canary queries one by one. */
function byHand() {
  const time = createFakeTime()
  const questions = heldResolver()
  const direct = heldResolver()
  return {
    time,
    questions,
    direct,
    believer: guardedBy(
      questions.resolver,
      createCanaryGuard({
        canaries: CANARIES,
        directResolver: direct.resolver,
        setTimer: time.later,
      }),
    ),
  }
}

describe("a negative answer that arrives during a round", () => {
  /** A resolver that is believed, and a negative answer for which a canary query is in flight. */
  const oneDenied = async () => {
    const held = byHand()
    held.believer.start()
    await held.direct.give(SOME)
    await held.direct.give(SOME)
    const deny = async (name: string) => {
      const answer = held.believer.resolver({ name, type: "MX" })
      await held.questions.give(NO_NAME)
      return { answer }
    }
    const { answer: first } = await deny("first.example")
    expect(held.direct.open()).toHaveLength(1)
    return { ...held, deny, first }
  }

  test("waits for the next round, which all that arrive meanwhile share", async () => {
    const { direct, deny, first } = await oneDenied()
    const others = [await deny("second.example"), await deny("third.example")]
    expect(direct.open()).toHaveLength(1)
    await direct.give(SOME)
    expect(await first).toEqual(NO_NAME)
    expect(direct.open()).toHaveLength(1)
    await direct.give(SOME)
    for (const { answer } of others) expect(await answer).toEqual(NO_NAME)
    expect(direct.open()).toEqual([])
  })

  test("is not believed for a canary that was queried before it and is denied after it", async () => {
    const { direct, deny, first, believer } = await oneDenied()
    const { answer: second } = await deny("second.example")
    await direct.give(SOME)
    expect(await first).toEqual(NO_NAME)
    for (const _ of CANARIES) await direct.give(NO_NAME)
    expect(await second).toEqual(UNAVAILABLE)
    believer.stop()
  })

  test("is not believed, without another round, if the running round finds none alive", async () => {
    const { direct, deny, first, believer } = await oneDenied()
    const { answer: second } = await deny("second.example")
    for (const _ of CANARIES) await direct.give(unknown("timed_out"))
    expect([await first, await second]).toEqual([UNAVAILABLE, UNAVAILABLE])
    expect(direct.open()).toEqual([])
    believer.stop()
  })
})

describe("a resolver whose state is not known yet", () => {
  test("is queried for the canaries and the question at the same time, and the question waits for an alive canary", async () => {
    const { questions, direct, believer } = byHand()
    const queries = believer.resolver({ name: "firm.example", type: "MX" })
    let isSettled = false
    void queries.then(() => {
      isSettled = true
    })
    expect(questions.open()).toHaveLength(1)
    expect(direct.open()).toEqual(["A one.example", "A two.example"])
    await questions.give(SOME)
    expect(isSettled).toBe(false)
    await direct.give(SOME)
    expect(isSettled).toBe(true)
    expect(await queries).toEqual(SOME)
  })

  test("is queried for the canaries once for all concurrent questions, and once more for all negative answers", async () => {
    const { questions, direct, believer } = byHand()
    believer.start()
    const all = Array.from({ length: 100 }, (_, at) => believer.resolver({ name: `${at}.example`, type: "MX" }))
    for (let at = 0; at < 100; at++) await questions.give(NO_NAME)
    expect(direct.open()).toHaveLength(2)
    await direct.give(NO_NAME)
    await direct.give(SOME)
    expect(direct.open()).toEqual(["A two.example"])
    await direct.give(SOME)
    expect(await Promise.all(all)).toEqual(all.map(() => NO_NAME))
  })

  test("does not hold up a question that failed", async () => {
    const { questions, believer } = byHand()
    const queries = believer.resolver({ name: "firm.example", type: "MX" })
    await questions.give(unknown("timed_out"))
    expect(await queries).toEqual(unknown("timed_out"))
  })

  test("is believed in positive but not in negative answers while the canaries time out", async () => {
    const { ask, believer } = system({ ...MAIL, "* one.example": "timed_out", "* two.example": "no_name" })
    expect(await ask("firm.example")).toEqual(result)
    expect(await ask("gone.example")).toEqual(UNAVAILABLE)
    expect(believer.state()).toBe("silent")
    believer.stop()
  })

  test("answers at once if the canaries timed out before", async () => {
    const { believer, questions, direct } = byHand()
    believer.start()
    await direct.give(unknown("timed_out"))
    await direct.give(unknown("timed_out"))
    expect(believer.state()).toBe("silent")
    const queries = believer.resolver({ name: "firm.example", type: "MX" })
    await questions.give(SOME)
    expect(await queries).toEqual(SOME)
    expect(direct.open()).toEqual([])
    believer.stop()
  })

  test("is queried for the canaries by questions and in the background, never by both at once", async () => {
    const { ask, believer, time, canariesAsked } = system({ "* one.example": "timed_out" }, ["one.example"])
    for (let at = 0; at < 5; at++) {
      await ask("gone.example")
      expect(time.waiting()).toBe(1)
    }
    await time.tick(CANARY_INTERVAL_MS)
    expect(canariesAsked).toHaveLength(6)
    believer.stop()
  })

  test("is queried for the canaries from the start, without a question, again and again until one is alive", async () => {
    const { believer, time, records } = system({ "* one.example": "timed_out", "* two.example": "timed_out" })
    expect(believer.state()).toBe("unknown")
    believer.start()
    await settled()
    expect(believer.state()).toBe("silent")
    records["* one.example"] = ["192.0.2.1"]
    await time.tick(CANARY_INTERVAL_MS)
    expect(believer.state()).toBe("believed")
    expect(time.waiting()).toBe(0)
  })
})

test("without canaries the resolver is always believed, and no further query is sent", async () => {
  const { believer, ask, canariesAsked } = system({}, [])
  believer.start()
  expect(believer.state()).toBe("believed")
  expect(await ask("gone.example")).toEqual(NO_NAME)
  expect(canariesAsked).toEqual([])
})

test("after stop no canary is queried in the background", async () => {
  const { believer, time, canariesAsked } = system({})
  believer.start()
  believer.stop()
  await settled()
  canariesAsked.length = 0
  await time.tick(10 * CANARY_INTERVAL_MS)
  expect([canariesAsked, time.waiting()]).toEqual([[], 0])
})
