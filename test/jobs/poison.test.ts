import { describe, expect, test } from "bun:test"
import type { Job } from "../../src/customers/jobs/job-row.ts"
import type { Store } from "../../src/customers/store/core/store.ts"
import { SITE_KEY } from "../../src/customers/usage/measures.ts"
import type { JobService } from "../../src/jobs/job-service.ts"
import { newAccount } from "../customers/temp-store.ts"
import { check } from "../support/app.ts"
import { jobDesk, withFaults } from "./job-desk.ts"

type Desk = Awaited<ReturnType<typeof jobDesk>>

const POISON = "poison.example"
const ROWS = 120
/** So long that a block has 20 rows: each suspect one costs a transaction. */
const PADDING = "x".repeat(3270)

/** A table of addresses, of which one ends whoever checks it. */
const listWith = (poisonAt: number): string =>
  `email,padding\n${Array.from({ length: ROWS }, (_, at) => `jane${at}@${at === poisonAt ? POISON : "gmail.com"},${PADDING}\n`).join("")}`

/** Processes that end at that row: nothing that one does afterwards has an effect. `stopsAfter`: each is stopped in good order after so many turns. */
function mortals(desk: Desk) {
  let endedCount = 0
  const start = (stopsAfter = Number.POSITIVE_INFINITY): JobService => {
    let isDead = false
    let turns = 0
    const assertAlive = (): void => {
      if (isDead) throw new Error("ended")
    }
    const store: Store = {
      ...desk.store,
      run: async (...args) => {
        assertAlive()
        return await desk.store.run(...args)
      },
      transaction: async work => {
        assertAlive()
        return await desk.store.transaction(work)
      },
    }
    const service = desk.process(`dead ${crypto.randomUUID()}`, {
      store,
      commitBounds: { rows: 70, ms: 1000 },
      files: withFaults(desk.files, assertAlive),
      check: (request, context) => {
        assertAlive()
        if (request.subject.domain !== POISON) return check(request, context)
        isDead = true
        endedCount++
        throw new Error("ended")
      },
      waitForTurn: async () => {
        if (++turns === stopsAfter) void service.stop()
      },
    })
    return service
  }
  const run = async (service: JobService): Promise<void> => {
    await desk.workOff(service)
    await service.stop()
  }
  return { start, run, endedCount: () => endedCount }
}

/** The inputs of a list, or of its results. */
const inputsOf = (results: string): readonly string[] =>
  results
    .trimEnd()
    .split("\n")
    .slice(1)
    .map(line => line.split(",", 1).join())

describe("a row that ends its process", () => {
  test("ends two of them wherever it stands, and then its list fails with every row before it done", async () => {
    for (const poisonAt of [0, 1, 19, 20, 21, 79, 80, 81, 95, ROWS - 1]) {
      const desk = await jobDesk(1_000_000)
      const list = listWith(poisonAt)
      const { id } = await desk.upload(list, { format: "csv" })
      const { start, run, endedCount } = mortals(desk)
      for (let at = 0; at < 6; at++) await run(start())
      const { state, reason, rowsDone, unitsUsed } = await desk.jobOf(id)
      expect({ poisonAt, state, reason, rowsDone, unitsUsed, ended: endedCount(), told: desk.state.givenUpAt }).toEqual(
        {
          ...{ poisonAt, state: "failed", reason: "no_progress", rowsDone: poisonAt, unitsUsed: poisonAt },
          ...{ ended: 2, told: [poisonAt + 1] },
        },
      )
      expect(inputsOf(await desk.results(id))).toEqual(inputsOf(list).slice(0, poisonAt))
    }
  })

  test("ends no third one after stops in good order, wherever these come", async () => {
    for (const stopsAfter of [1, 2, 9, 20, 40]) {
      const desk = await jobDesk()
      const { id } = await desk.upload(listWith(93), { format: "csv" })
      const { start, run, endedCount } = mortals(desk)
      for (let at = 0; at < 12; at++) await run(start(at % 2 === 0 ? Number.POSITIVE_INFINITY : stopsAfter))
      const { state, reason, rowsDone } = await desk.jobOf(id)
      expect({ stopsAfter, state, reason, rowsDone, ended: endedCount() }).toEqual({
        ...{ stopsAfter, state: "failed", reason: "no_progress", rowsDone: 93, ended: 2 },
      })
    }
  })

  test("fails no other list that the same processes check", async () => {
    for (const isFirst of [true, false]) {
      const desk = await jobDesk()
      const harmless = async (): Promise<Job> => {
        const job = await desk.upload(listWith(-1), { format: "csv" })
        const other = await newAccount(desk.log, "john@example.com", 0)
        await desk.store.run("UPDATE jobs SET account_id = $2, key_id = $3 WHERE id = $1", [job.id, other, SITE_KEY.id])
        return job
      }
      const before = isFirst ? null : await harmless()
      const poisonous = await desk.upload(listWith(93), { format: "csv" })
      const { id } = before ?? (await harmless())
      const { start, run, endedCount } = mortals(desk)
      for (let at = 0; at < 6; at++) await run(start())
      expect(await desk.jobOf(poisonous.id)).toMatchObject({ state: "failed", reason: "no_progress", rowsDone: 93 })
      const others = await desk.store.all("SELECT state, rows_done FROM jobs WHERE id = $1", [id])
      expect([others, endedCount()]).toEqual([[{ state: "done", rows_done: ROWS }], 2])
    }
  })
})

test("a list whose process is stopped again and again in good order before it gets further is checked to its end", async () => {
  const desk = await jobDesk()
  const { id } = await desk.upload(listWith(-1), { format: "csv" })
  const { start, run } = mortals(desk)
  for (let at = 0; at < 8; at++) await run(start(1 + at))
  expect(await desk.jobOf(id)).toMatchObject({ state: "queued", rowsDone: 0, stalledClaims: 0 })
  await run(start())
  expect(await desk.jobOf(id)).toMatchObject({ state: "done", rowsDone: ROWS })
})

test("a list that has ended a process keeps others waiting for half a minute and no longer, however slow it is", async () => {
  const desk = await jobDesk()
  const slow = await desk.upload(listWith(-1), { format: "csv" })
  await desk.store.run("UPDATE jobs SET stalled_claims = 1 WHERE id = $1", [slow.id])
  desk.state.now++
  const { id } = await desk.upload("email\njane@acme.com\n", { format: "csv" })
  const other = await newAccount(desk.log, "john@example.com", 0)
  await desk.store.run("UPDATE jobs SET account_id = $2, key_id = $3 WHERE id = $1", [id, other, SITE_KEY.id])
  const answer = Promise.withResolvers<void>()
  const service = desk.process("one", {
    check: async (request, context) => {
      if (request.subject.domain === "gmail.com") await answer.promise
      return await check(request, context)
    },
  })
  const stateOf = async () =>
    (await desk.store.one<{ state: string }>("SELECT state FROM jobs WHERE id = $1", [id]))?.state
  await service.look()
  await service.look()
  expect(await stateOf()).toBe("queued")
  desk.state.now += 30_000
  await service.look()
  expect(await stateOf()).not.toBe("queued")
  answer.resolve()
  await desk.workOff(service)
  expect([await stateOf(), (await desk.jobOf(slow.id)).state]).toEqual(["done", "done"])
  await service.stop()
})

test("a row at which we fail by a defect is tried twice, and other lists go on", async () => {
  const desk = await jobDesk()
  let triedCount = 0
  const service = desk.process("one", {
    check: (request, context) => {
      if (request.subject.domain !== POISON) return check(request, context)
      triedCount++
      throw new TypeError("a defect")
    },
  })
  const { id } = await desk.upload(listWith(53), { format: "csv" })
  for (let at = 0; at < 5; at++) {
    await desk.workOff(service)
    desk.state.now += 10_000
  }
  expect(await desk.jobOf(id)).toMatchObject({ state: "failed", reason: "no_progress", rowsDone: 53 })
  expect(triedCount).toBe(2)
  const next = await desk.upload(listWith(-1), { format: "csv" })
  await desk.workOff(service)
  expect(await desk.jobOf(next.id)).toMatchObject({ state: "done", rowsDone: ROWS })
})
