import { expect } from "bun:test"
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
} from "fast-check"
import type { TakeUnitsResult } from "../../src/customers/quota/units/unit-lease.ts"
import { UNIT_QUOTA_BOUNDS, UnitQuota } from "../../src/customers/quota/units/unit-quota.ts"
import type { Store } from "../../src/customers/store/core/store.ts"
import { engineNow, test } from "../customers/engines.ts"
import { tempStore } from "../customers/temp-store.ts"
import { stoppedClock } from "../support/clock.ts"
import { pendingSettled } from "../support/pending-work.ts"

const DAY_MS = 86_400_000
const SERVERS = 3
const PER_DAY = 400

/** What can happen, and to which of the processes. */
type Step =
  | { readonly does: "take"; readonly by: number; readonly subject: string; readonly count: number }
  | { readonly does: "give back" | "tidy" | "crash" | "stop" | "fail"; readonly by: number }
  | { readonly does: "tick"; readonly ms: number }
  | { readonly does: "reach"; readonly which: number }
  | { readonly does: "shrink"; readonly perDay: number }

const by = integer({ min: 0, max: SERVERS - 1 })
const take: Arbitrary<Step> = record({
  does: constant("take"),
  by,
  subject: constantFrom("a", "b"),
  count: oneof(constant(1), integer({ min: 1, max: 120 })),
})
const reach: Arbitrary<Step> = record({ does: constant("reach"), which: integer({ min: 0, max: 9 }) })
const giveBack: Arbitrary<Step> = record({ does: constant("give back"), by })
const tidy: Arbitrary<Step> = record({ does: constant("tidy"), by })
const stop: Arbitrary<Step> = record({ does: constant("stop"), by })
const wait: Arbitrary<Step> = record({ does: constant("tick"), ms: constantFrom(1, 999, 2000) })
const setBack: Arbitrary<Step> = record({ does: constant("tick"), ms: constantFrom(-1, -1000) })
const calm = [take, take, take, reach, reach, reach, giveBack, tidy, stop, wait, setBack]
const crash: Arbitrary<Step> = record({ does: constantFrom("crash", "fail"), by })
const otherDay: Arbitrary<Step> = record({
  does: constant("tick"),
  ms: constantFrom(1, 1, 1, -1, -1, -2, -3, 500, -500).map(days => days * DAY_MS),
})
const shrink: Arbitrary<Step> = record({ does: constant("shrink"), perDay: integer({ min: 0, max: PER_DAY }) })
const steps = (...kinds: readonly Arbitrary<Step>[]) => array(oneof(...kinds), { minLength: 20, maxLength: 120 })

let runs = 0

/** Processes on one store whose every transaction waits, before it begins and after it ended, until a step lets it go on. */
class Town {
  readonly #store: Store
  readonly #run = runs++
  readonly #clock = stoppedClock(DAY_MS * 20_000 + DAY_MS / 2)
  readonly #waiting: (() => void)[] = []
  #servers: Server[]
  #perDay = PER_DAY
  /** Admitted units less those given back, by day and subject. */
  readonly admitted = new Map<string, number>()
  /** When a quota was passed, and by how much. */
  readonly passed: string[] = []

  constructor(store: Store) {
    this.#store = store
    this.#servers = Array.from({ length: SERVERS }, () => this.#started())
  }

  #started(): Server {
    const alive = {
      isAlive: true,
      isFailing: false,
      taken: [] as (TakeUnitsResult & { subject: string; count: number })[],
    }
    const turn = () => new Promise<void>(go => this.#waiting.push(go))
    const transaction = async <T>(work: (inner: Store) => Promise<T>): Promise<T> => {
      await turn()
      const result = await this.#store.transaction(work)
      await turn()
      // It happened, and the process will never know.
      if (alive.isFailing) throw new Error("the connection is lost")
      return result
    }
    const units = new UnitQuota({ ...this.#store, transaction }, this.#clock, UNIT_QUOTA_BOUNDS, () => undefined)
    return Object.assign(alive, { units })
  }

  async step(step: Step): Promise<void> {
    if (step.does === "tick") this.#clock.tick(step.ms)
    else if (step.does === "reach") this.#waiting.splice(step.which % Math.max(1, this.#waiting.length), 1)[0]?.()
    else if (step.does === "shrink") await this.#shrink(step.perDay)
    else this.#act(step, step.by)
    await new Promise(resolve => setImmediate(resolve))
  }

  #act(step: Exclude<Step, { does: "tick" | "reach" | "shrink" }>, at: number): void {
    const server = this.#servers[at]
    if (server === undefined) return
    if (step.does === "take") this.#take(server, `${this.#run} ${step.subject}`, step.count)
    if (step.does === "give back") this.#giveBack(server)
    if (step.does === "tidy") void server.units.maintain()
    if (step.does === "fail") server.isFailing = !server.isFailing
    if (step.does === "stop") void server.units.releaseAll()
    if (step.does === "crash") server.isAlive = false
    if (step.does === "stop" || step.does === "crash") this.#servers[at] = this.#started()
  }

  #take(server: Server, subject: string, count: number): void {
    const seen = (taken: TakeUnitsResult): void => {
      if (!taken.isTaken || !server.isAlive) return
      server.taken.push({ ...taken, subject, count })
      this.#count(taken.day, subject, count)
    }
    const answer = server.units.take(subject, count, this.#perDay)
    if (answer instanceof Promise) answer.then(seen, () => undefined)
    else seen(answer)
  }

  #giveBack(server: Server): void {
    const taken = server.taken.pop()
    if (taken === undefined) return
    this.#count(taken.day, taken.subject, -taken.count)
    server.units.refund(taken.subject, taken.count, taken.day)
  }

  #count(day: number, subject: string, count: number): void {
    const key = `${day} ${subject}`
    const sum = (this.admitted.get(key) ?? 0) + count
    this.admitted.set(key, sum)
    if (count > 0 && sum > this.#perDay) this.passed.push(`${key}: ${sum} of ${this.#perDay}`)
  }

  /** Makes the quota smaller when nothing is under way, so that it is plain which requests know of it. */
  async #shrink(perDay: number): Promise<void> {
    await this.settle()
    this.#perDay = Math.min(this.#perDay, perDay)
  }

  async settle(): Promise<void> {
    do while (this.#waiting.length > 0) await this.step({ does: "reach", which: 0 })
    while (await pendingSettled())
    // What ended last may go on to wait once more.
    await new Promise(resolve => setImmediate(resolve))
    if (this.#waiting.length > 0) await this.settle()
  }

  /** Stops all processes cleanly. */
  async stop(): Promise<void> {
    await this.settle()
    const state = { isOver: false }
    const stops = Promise.all(this.#servers.map(({ units }) => units.releaseAll())).then(() => {
      state.isOver = true
    })
    while (!state.isOver) await this.settle()
    await stops
  }

  /** What the store has of every subject's day of this town, as `admitted` has it. */
  async leased(): Promise<Map<string, number>> {
    const rows = await this.#store.all<{ subject: string; day: number; leased: number }>(
      "SELECT subject, day, leased FROM units WHERE subject LIKE $1 AND leased > 0",
      [`${this.#run} %`],
    )
    return new Map(rows.map(({ subject, day, leased }) => [`${day} ${subject}`, leased]))
  }
}

type Server = {
  readonly units: UnitQuota
  readonly taken: (TakeUnitsResult & { readonly subject: string; readonly count: number })[]
  isAlive: boolean
  isFailing: boolean
}

/** A server that is asked over a connection takes a tenth of the runs, for they take ten times as long. */
const runsOf = (count: number): number => (engineNow() === "sqlite" ? count : count / 10)

const used = (town: Town) => new Map([...town.admitted].filter(([, count]) => count > 0))

test("whatever crashes, stops, fails or does to the clock, no day of a subject admits more than its quota", async () => {
  const store = await tempStore()
  await assert(
    asyncProperty(steps(...calm, crash, otherDay), async happening => {
      const town = new Town(store)
      for (const step of happening) await town.step(step)
      await town.stop()
      expect(town.passed).toEqual([])
      const leased = await town.leased()
      for (const [key, count] of used(town)) expect(leased.get(key) ?? 0).toBeGreaterThanOrEqual(count)
      for (const count of leased.values()) expect(count).toBeLessThanOrEqual(PER_DAY)
    }),
    { numRuns: runsOf(100) },
  )
}, 300_000)

test("when nothing crashes, no unit is lost: what is leased after a stop is what was admitted", async () => {
  const store = await tempStore()
  await assert(
    asyncProperty(steps(...calm), async happening => {
      const town = new Town(store)
      for (const step of happening) await town.step(step)
      await town.stop()
      expect(town.passed).toEqual([])
      expect(await town.leased()).toEqual(used(town))
    }),
    { numRuns: runsOf(60) },
  )
}, 300_000)

test("once a quota is smaller, nothing is admitted beyond it, whoever leased what before", async () => {
  const store = await tempStore()
  await assert(
    asyncProperty(steps(...calm, crash, shrink), async happening => {
      const town = new Town(store)
      for (const step of happening) await town.step(step)
      expect(town.passed).toEqual([])
    }),
    { numRuns: runsOf(60) },
  )
}, 300_000)
