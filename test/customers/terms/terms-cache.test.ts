import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { findAccount } from "../../../src/customers/accounts/accounts.ts"
import { acceptTerms, publishTerms } from "../../../src/customers/terms/terms.ts"
import { type TermsAcceptance, TermsCache } from "../../../src/customers/terms/terms-cache.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { settled as workSettled } from "../../support/time.ts"
import { newAccount, tempLog, tempPlace, tempStore } from "../temp-store.ts"

const URL = "https://example.com/"
const DAY_MS = 86_400_000
const NOTICE_MS = LIMITS.termsNoticeDays * DAY_MS

/** Terms over a real store that counts what it is asked, and can fail. */
async function opened(path = tempPlace()) {
  const store = await tempStore(path)
  const log = tempLog(store)
  const outside = { requests: 0, isBroken: false, failures: [] as unknown[] }
  const watched = {
    ...store,
    all: <Row>(sql: string) => {
      outside.requests++
      return outside.isBroken ? Promise.reject(new Error("the store is broken")) : store.all<Row>(sql)
    },
  }
  const held = new TermsCache(watched, log.clock, error => void outside.failures.push(error))
  const publish = async (version: string, isMaterial: boolean) => {
    await publishTerms(log, { version, url: `${URL}${version}`, isMaterial })
    await held.load()
  }
  /** Lets a reading that has begun come to its end. */
  const settled = async () => {
    for (let turn = 0; turn < 3; turn++) await store.one("SELECT 1")
    await workSettled()
  }
  return { path, store, log, outside, held, publish, settled }
}

const since = (acceptedTermsAtMs: number): TermsAcceptance => ({ acceptedTermsVersion: null, acceptedTermsAtMs })
const version = (acceptedTermsVersion: string): TermsAcceptance => ({ acceptedTermsVersion, acceptedTermsAtMs: 0 })
const nothing: TermsAcceptance = { acceptedTermsVersion: null, acceptedTermsAtMs: null }

describe("state", () => {
  test("without terms, and with none that are material, everybody has accepted, and nothing is allocated to say so", async () => {
    const { held, publish } = await opened()
    expect(held.stateOf(nothing)).toEqual({ kind: "accepted" })
    await publish("1", false)
    expect(held.stateOf(nothing)).toEqual({ kind: "accepted" })
    expect(held.stateOf(nothing)).toBe(held.stateOf(version("1")))
  })

  test("the notice holds up to its last millisecond", async () => {
    const { held, log, publish } = await opened()
    await publish("1", true)
    const endsAtMs = 5_000 + NOTICE_MS
    const grace = { kind: "grace" as const, version: "1", url: `${URL}1`, endsAtMs }
    const over = { kind: "not_accepted" as const, version: "1", url: `${URL}1`, sinceMs: endsAtMs }
    expect(held.stateOf(since(4_999))).toEqual(grace)
    log.now = endsAtMs - 1
    expect(held.stateOf(since(4_999))).toEqual(grace)
    log.now = endsAtMs
    expect(held.stateOf(since(4_999))).toEqual(over)
    log.now = endsAtMs + 1
    expect(held.stateOf(since(4_999))).toEqual(over)
  })

  test("of two pending versions the earlier one's end holds, and the later one is what is accepted", async () => {
    const { held, log, publish } = await opened()
    await publish("1", true)
    log.now += 10 * DAY_MS
    await publish("2", true)
    const endsAtMs = 5_000 + NOTICE_MS
    expect(held.stateOf(nothing)).toEqual({ kind: "grace", version: "2", url: `${URL}2`, endsAtMs })
    expect(held.stateOf(version("1"))).toMatchObject({ kind: "grace", endsAtMs: endsAtMs + 10 * DAY_MS })
    expect(held.stateOf(version("2"))).toEqual({ kind: "accepted" })
    log.now = endsAtMs
    expect(held.stateOf(nothing)).toMatchObject({ kind: "not_accepted", version: "2", sinceMs: endsAtMs })
    expect(held.stateOf(version("1"))).toMatchObject({ kind: "grace" })
  })

  test("whoever accepted between two versions has the whole notice of the second", async () => {
    const { store, held, log, publish } = await opened()
    const id = await newAccount(log)
    log.now += 1
    await publish("1", true)
    log.now += NOTICE_MS - 1
    await acceptTerms(log, id)
    log.now += 1
    await publish("2", true)
    const account = await findAccount(store, id)
    expect(account && held.stateOf(account)).toMatchObject({ kind: "grace", endsAtMs: log.now + NOTICE_MS })
  })

  test("terms that are not material ask for nothing, before material ones and after", async () => {
    const { held, log, publish } = await opened()
    await publish("1", true)
    log.now += 1
    await publish("2", false)
    expect(held.stateOf(version("1"))).toEqual({ kind: "accepted" })
    expect(held.stateOf(nothing)).toMatchObject({ kind: "grace", version: "2", endsAtMs: 5_000 + NOTICE_MS })
    log.now += 1
    await publish("3", true)
    for (const accepted of ["1", "2"])
      expect(held.stateOf(version(accepted))).toMatchObject({ kind: "grace", endsAtMs: 5_002 + NOTICE_MS })
  })

  test("what was accepted is told by its version, whatever the clock said then", async () => {
    const { held, log, publish } = await opened()
    await publish("1", true)
    log.now = 10
    await publish("2", true)
    expect(held.stateOf({ acceptedTermsVersion: "1", acceptedTermsAtMs: 9_000_000 })).toMatchObject({ kind: "grace" })
    expect(held.stateOf({ acceptedTermsVersion: "2", acceptedTermsAtMs: 10 })).toEqual({ kind: "accepted" })
  })

  test("where no version was accepted its time tells what was, and without a time nothing was", async () => {
    const { held, publish } = await opened()
    await publish("1", true)
    expect(held.stateOf(since(4_999))).toMatchObject({ kind: "grace" })
    expect(held.stateOf(since(5_000))).toEqual({ kind: "accepted" })
    expect(held.stateOf(nothing)).toMatchObject({ kind: "grace" })
  })

  test("a version that this process has not read of is later than all that it has", async () => {
    const { held, publish } = await opened()
    await publish("1", true)
    expect(held.stateOf({ acceptedTermsVersion: "2", acceptedTermsAtMs: 5_001 })).toEqual({ kind: "accepted" })
  })

  test("a clock that is set back gives time back, and takes none when it is right again", async () => {
    const { held, log, publish } = await opened()
    await publish("1", true)
    log.now = 0
    expect(held.stateOf(nothing)).toMatchObject({ kind: "grace", endsAtMs: 5_000 + NOTICE_MS })
    log.now = 5_000 + NOTICE_MS
    expect(held.stateOf(nothing)).toMatchObject({ kind: "not_accepted" })
    log.now -= 1
    expect(held.stateOf(nothing)).toMatchObject({ kind: "grace" })
  })
})

describe("change", () => {
  test("states are told without the store", async () => {
    const { held, outside, publish } = await opened()
    await publish("1", true)
    for (const acceptance of [nothing, version("1"), since(9)]) held.stateOf(acceptance)
    expect(outside.requests).toBe(1)
  })

  test("terms are read again when they change, when the log was lost, and when a change cannot be understood", async () => {
    const { held, log, outside, settled } = await opened()
    await held.load()
    held.applyChanges([])
    held.applyChanges([{ kind: "account_changed", subject: "acc_x" }])
    expect(outside.requests).toBe(1)
    await publishTerms(
      { ...log, notify: changes => held.applyChanges(changes) },
      { version: "1", url: URL, isMaterial: true },
    )
    await settled()
    expect(held.stateOf(nothing)).toMatchObject({ kind: "grace", version: "1" })
    expect(outside.requests).toBe(2)
    held.applyChanges([{ kind: "terms_of_the_future", subject: "x" }])
    held.invalidateAll()
    await settled()
    expect(outside.requests).toBe(4)
  })

  test("a failing store leaves what is held, is told of, and is asked again by the next turn", async () => {
    const { held, log, outside, publish, settled } = await opened()
    await publish("1", true)
    await publishTerms(log, { version: "2", url: URL, isMaterial: true })
    outside.isBroken = true
    for (const again of [
      () => held.applyChanges(log.received),
      () => held.applyChanges([]),
      () => held.invalidateAll(),
    ]) {
      again()
      await settled()
    }
    expect(outside.failures).toHaveLength(3)
    expect(held.stateOf(nothing)).toMatchObject({ kind: "grace", version: "1" })
    expect(await outcomeOf(held.load())).toThrow("broken")
    outside.isBroken = false
    held.applyChanges([])
    await settled()
    expect(held.stateOf(nothing)).toMatchObject({ kind: "grace", version: "2" })
    const requests = outside.requests
    held.applyChanges([])
    expect(outside.requests).toBe(requests)
  })

  test("a reading that began earlier and ends later does not bring back old terms", async () => {
    const store = await tempStore()
    const log = tempLog(store)
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let requests = 0
    const slow = {
      ...store,
      all: async <Row>(sql: string) => {
        const gate = gates[requests++]
        const rows = await store.all<Row>(sql)
        await gate?.promise
        return rows
      },
    }
    const held = new TermsCache(slow, log.clock, () => undefined)
    const early = held.load()
    await publishTerms(log, { version: "1", url: URL, isMaterial: true })
    const late = held.load()
    gates[1]?.resolve()
    await late
    gates[0]?.resolve()
    await early
    expect(held.stateOf(nothing)).toMatchObject({ kind: "grace" })
  })
})
