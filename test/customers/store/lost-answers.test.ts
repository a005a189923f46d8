import { describe, expect } from "bun:test"
import { recordFeedback } from "../../../src/customers/feedback/feedback.ts"
import { createKeyOnce, newIdempotencyKey } from "../../../src/customers/keys/idempotent-creation.ts"
import { revokeKey } from "../../../src/customers/keys/keys.ts"
import { StoreError } from "../../../src/customers/store/core/store-error.ts"
import type { PoolBounds } from "../../../src/customers/store/postgres/clients.ts"
import { POOL_BOUNDS } from "../../../src/customers/store/postgres/clients.ts"
import { openPostgres } from "../../../src/customers/store/postgres-store.ts"
import { USAGE_METER_BOUNDS, UsageMeter } from "../../../src/customers/usage/usage-meter.ts"
import { bounded } from "../../support/bounded.ts"
import { later } from "../../support/later.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startTcpProxy } from "../../support/tcp-proxy.ts"
import { onPostgres } from "../engines.ts"
import { newAccount, random, tempLog, tempPlace } from "../temp-store.ts"

/** A store over a way that can cut what is answered. */
async function behindProxy(bounds: Partial<PoolBounds> = {}) {
  const place = new URL(tempPlace())
  const way = await startTcpProxy(Number(place.port))
  onTestEnd(way.stop)
  place.port = String(way.port)
  const store = await openPostgres(place.href, {
    clock: () => 1_000,
    setTimer: later,
    bounds: { ...POOL_BOUNDS, ...bounds },
  })
  onTestEnd(store.close)
  return { store, way }
}

async function errorOf(work: Promise<unknown>): Promise<StoreError> {
  const error = await work.then(
    () => new Error("it did not fail"),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof StoreError)) throw error
  return error
}

/** Asks until it is answered. */
async function untilReachable(ask: () => Promise<unknown>): Promise<void> {
  const state = { isAnswered: false }
  const asking = async (): Promise<void> => {
    while (!state.isAnswered) {
      state.isAnswered = await ask().then(
        () => true,
        () => false,
      )
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  await bounded(asking(), () => "it is still not answered")
}

describe("a write whose response is lost", () => {
  onPostgres("is distinguished from one that did not happen, alone and in a transaction", async () => {
    const { store, way } = await behindProxy()
    const raise = "UPDATE change_head SET id = id + 1"
    const cuts = way.cutAt("UPDATE 1\0", 1)
    expect((await errorOf(store.run(raise))).code).toBe("unsure")
    expect(cuts()).toBe(1)
    expect(await store.one<unknown>("SELECT id FROM change_head")).toEqual({ id: 1 })
    way.cutAt("COMMIT\0", 1)
    expect((await errorOf(store.transaction(inner => inner.run(raise)))).code).toBe("unsure")
    expect(await store.one<unknown>("SELECT id FROM change_head")).toEqual({ id: 2 })
    // Cut off before its end, a transaction has not happened.
    way.cutAt("UPDATE 1\0", 1)
    expect((await errorOf(store.transaction(inner => inner.run(raise)))).code).toBe("away")
    expect(await store.one<unknown>("SELECT id FROM change_head")).toEqual({ id: 2 })
  })

  onPostgres("can be repeated safely: a report is one report, a key is created once, a revocation stands", async () => {
    const { store, way } = await behindProxy()
    const log = tempLog(store)
    const accountId = await newAccount(log)
    const report = () =>
      recordFeedback(log, random, {
        accountId,
        domain: "acme.com",
        roleWord: null,
        currentCategory: "business",
        reportedCategory: "relay",
        comment: null,
      })
    const idempotencyKey = newIdempotencyKey(random)
    const make = () =>
      createKeyOnce(log, random, { accountId, kind: "secret", name: null, origins: [] }, idempotencyKey)
    const lost = async (work: () => Promise<unknown>): Promise<void> => {
      way.cutAt("COMMIT\0", 1)
      expect((await errorOf(work())).code).toBe("unsure")
    }
    await lost(report)
    expect(await report()).toMatchObject({ kind: "reported", receipt: { status: "duplicate" } })
    expect(await store.all("SELECT id FROM feedback")).toHaveLength(1)
    await lost(make)
    const made = await make()
    if (made.kind !== "created_before") throw new Error(made.kind)
    expect(await store.all("SELECT id FROM keys")).toHaveLength(1)
    await lost(() => revokeKey(log, made.key.id, "owner"))
    expect(log.received).toEqual([])
    expect(await revokeKey(log, made.key.id, "owner")).toMatchObject({ kind: "revoked", isNew: false })
    expect(log.received).toEqual([{ kind: "key_revoked", subject: made.key.id }])
  })
})

describe("usage whose commit is not answered", () => {
  const verdict = { category: "business", recommendation: "allow" } as const
  const businessChecks = (meter: UsageMeter, accountId: string, count: number): void => {
    for (let made = 0; made < count; made++)
      meter.record(accountId, { id: "key_s", kind: "secret" }, { kind: "check", verdict })
  }
  const checksOf = async (meter: UsageMeter, accountId: string): Promise<number> => {
    const counts = await meter.counts(accountId, 0, 0)
    return counts.filter(({ measure }) => measure === "checks").reduce((sum, { count }) => sum + count, 0)
  }

  onPostgres("is not written again, and what comes after it is written once", async () => {
    const { store, way } = await behindProxy()
    const log = tempLog(store)
    const accountId = await newAccount(log)
    const meter = new UsageMeter(store, log.clock, () => undefined, USAGE_METER_BOUNDS)
    for (const count of [3, 4]) {
      businessChecks(meter, accountId, count)
      way.cutAt("COMMIT\0", 1)
      expect((await errorOf(meter.flush())).code).toBe("unsure")
      expect(meter.stats().unwritten).toBe(0)
    }
    expect(await checksOf(meter, accountId)).toBe(7)
    businessChecks(meter, accountId, 5)
    while ((await meter.flush()) > 0);
    expect(await checksOf(meter, accountId)).toBe(12)
    expect(
      await store.one<unknown>("SELECT count FROM usage WHERE account_id = $1 AND measure = 'checks'", [accountId]),
    ).toEqual({ count: 12 })
  })

  onPostgres("that was cut off before its commit is written once by the next flush", async () => {
    const { store, way } = await behindProxy()
    const log = tempLog(store)
    const accountId = await newAccount(log)
    const meter = new UsageMeter(store, log.clock, () => undefined, USAGE_METER_BOUNDS)
    businessChecks(meter, accountId, 3)
    way.cutAt("INSERT 0 4\0", 1)
    expect((await errorOf(meter.flush())).code).toBe("away")
    while ((await meter.flush()) > 0);
    expect(await checksOf(meter, accountId)).toBe(3)
  })
})

/** Shorter than in production, and far longer than a busy machine needs for an answer. */
const SHORT: Partial<PoolBounds> = { connectTimeoutMs: 3000, statementTimeoutMs: 2000, responseGraceMs: 2000 }

describe("an unreachable database behind a proxy that accepts connections", () => {
  onPostgres(
    "is probed in the background, while every operation is refused at once; all succeed when it is back",
    async () => {
      const { store, way } = await behindProxy(SHORT)
      const mend = way.dropData()
      await errorOf(store.one("SELECT 1"))
      for (let at = 0; at < 500; at++) {
        const state = { isOver: false }
        const asking = errorOf(store.one("SELECT 1")).finally(() => {
          state.isOver = true
        })
        await new Promise(resolve => setImmediate(resolve))
        expect(state.isOver).toBe(true)
        expect((await asking).code).toBe("away")
      }
      mend()
      await untilReachable(() => store.one("SELECT 1"))
      const all = await Promise.all(Array.from({ length: 20 }, () => store.one<unknown>("SELECT 1 AS one")))
      expect(all).toEqual(all.map(() => ({ one: 1 })))
    },
  )
})

onPostgres(
  "a process that stands still for longer than an answer may take does not call its database silent",
  async () => {
    const answerMsMax = 500
    const bounds = { statementTimeoutMs: 400, responseGraceMs: 100, waitTimeoutMs: 520 }
    const { store, way } = await behindProxy({ ...bounds, connectionsMax: 1 })
    await store.one("SELECT 1 AS one")
    const waiting = [1, 2, 3].map(() => store.one<unknown>("SELECT 1 AS one"))
    const until = performance.now() + 3 * answerMsMax
    while (performance.now() < until);
    expect([await Promise.all(waiting), store.isUnavailable()]).toEqual([[{ one: 1 }, { one: 1 }, { one: 1 }], false])
    // One that is silent is found as ever.
    const mend = way.dropData()
    expect((await errorOf(store.one("SELECT 1 AS one"))).code).toBe("away")
    expect(store.isUnavailable()).toBe(true)
    mend()
  },
)
