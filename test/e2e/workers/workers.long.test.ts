import { expect, setDefaultTimeout, test } from "bun:test"
import { sendSignal } from "../../support/send-signal.ts"
import { connectAll, connectionsByWorker } from "./connections.ts"
import { connectRaw } from "./raw-connection.ts"
import { startWorkersServer } from "./workers-server.ts"

setDefaultTimeout(120_000)

const GMAIL = { domain: "gmail.com" }

test("a worker that is killed under load is replaced, while the other one answers", async () => {
  await using server = await startWorkersServer()
  const [victim, other] = server.workers()
  using seats = await connectionsByWorker(server)
  const survivor = seats.connections[1]?.[0]
  let isOver = false
  const statuses = new Set<number>()
  const client = async (): Promise<void> => {
    while (!isOver) {
      // Connections that the victim has not answered when it dies are cut; no answer is wrong.
      const own = await connectRaw(server.port).catch(() => null)
      own?.check(server.firstKey, GMAIL)
      const answer = await own?.answer().catch(() => null)
      if (answer) statuses.add(answer.status)
      own?.close()
    }
  }
  const clients = Array.from({ length: 8 }, client)
  sendSignal(victim, "SIGKILL")
  const [death] = await server.logged(({ msg }) => msg === "a worker ended and is replaced")
  expect(death).toMatchObject({ level: "error", worker: 0, pid: victim, killed_by: "SIGKILL", after_ms: 0 })
  survivor?.check(server.firstKey, GMAIL)
  expect((await survivor?.answer())?.status).toBe(200)
  await server.logged(({ msg, pid }) => msg === "a worker listens" && pid !== victim && pid !== other)
  isOver = true
  await Promise.all(clients)
  expect([...statuses]).toEqual([200])
  expect(server.workers()[0]).not.toBe(victim)
  using again = await connectionsByWorker(server)
  expect(again.connections.map(found => found.length > 0)).toEqual([true, true])
  process.kill(server.pid, "SIGTERM")
  expect(await server.exited).toBe(0)
})

test("a quota is admitted to the unit, whichever worker is asked", async () => {
  await using server = await startWorkersServer({ MAILKIND_TIERS: "0=-/-/1000" })
  const admittedOf = async (key: string): Promise<number> => {
    using all = await connectAll(server.port, 200)
    const counts = await Promise.all(
      all.map(async each => {
        for (let count = 0; ; count++) {
          each.check(key, GMAIL)
          const { status, body } = await each.answer()
          if (status !== 200) {
            expect([status, body["code"]]).toEqual([429, "quota_exceeded"])
            return count
          }
        }
      }),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }
  const day = (): number => Math.floor(Date.now() / 86_400_000)
  const before = day()
  const { key } = await server.newKey()
  const admitted = await admittedOf(key)
  // Where midnight (UTC) came in between, there were two quotas.
  if (day() === before) expect(admitted).toBe(1000)
})

test("a rate holds for all workers together", async () => {
  await using server = await startWorkersServer({ MAILKIND_TIERS: "0=5/-/-" })
  const { key } = await server.newKey()
  for (const sent of [key, null]) {
    using all = await connectAll(server.port, 40)
    const input = sent === null ? { email: "business@mailkind.test" } : GMAIL
    const startedAt = performance.now()
    for (const each of all) each.check(sent, input)
    const answers = await Promise.all(all.map(each => each.answer()))
    const passedS = (performance.now() - startedAt) / 1000
    const admitted = answers.filter(({ status }) => status === 200).length
    const burst = sent === null ? 5 : 10
    expect(admitted).toBeGreaterThanOrEqual(burst)
    expect(admitted).toBeLessThanOrEqual(burst + 5 * passedS + 1)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))
  }
})

test("requests in flight are counted over all workers, and those of a worker that is killed are over", async () => {
  await using server = await startWorkersServer({ MAILKIND_TIERS: "0=-/3/-" })
  const { key } = await server.newKey()
  using seats = await connectionsByWorker(server)
  const [[one, two, free] = [], [three, free2] = []] = seats.connections
  for (const held of [one, two, three]) held?.check(key, GMAIL, true)
  for (const each of [free, free2]) {
    // Where a later request was answered, by a key without limits, the heads of those that are held were read.
    each?.check(server.firstKey, GMAIL)
    expect((await each?.answer())?.status).toBe(200)
  }
  for (const each of [free, free2]) {
    each?.check(key, GMAIL)
    expect(await each?.answer()).toMatchObject({ status: 429, body: { code: "rate_limited" } })
  }
  const [, victim] = server.workers()
  sendSignal(victim, "SIGKILL")
  await server.logged(({ msg, pid }) => msg === "a worker ended and is replaced" && pid === victim)
  free?.check(key, GMAIL)
  expect((await free?.answer())?.status).toBe(200)
  for (const held of [one, two]) {
    held?.finish()
    expect((await held?.answer())?.status).toBe(200)
  }
})

test("a key that is revoked is refused by every worker", async () => {
  await using server = await startWorkersServer({ MAILKIND_TIERS: "0=-/-/-" })
  const { id, key } = await server.newKey()
  using seats = await connectionsByWorker(server)
  for (const [each] of seats.connections) {
    each?.check(key, GMAIL)
    expect((await each?.answer())?.status).toBe(200)
  }
  await server.run("key", "revoke", id)
  for (const [each] of seats.connections) {
    let answer = { status: 200, body: {} }
    while (answer.status === 200) {
      each?.check(key, GMAIL)
      answer = (await each?.answer()) ?? answer
    }
    expect(answer).toMatchObject({ status: 401, body: { code: "key_revoked" } })
  }
})
