import { expect, setDefaultTimeout } from "bun:test"
import { seeded } from "../../../bench/load/seeded-random.ts"
import { onPostgres } from "../../customers/engines.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startPostgres } from "../../support/postgres.ts"
import { check, FEEDBACK, nodeAt, startNodes, untilAnswered } from "./nodes.ts"

setDefaultTimeout(180_000)

// `NODES_UNITS=10000 NODES_KILLS=6 bun run test test/e2e/nodes` is the long form; `NODES_SEED` chooses other moments.
const UNITS = Number(process.env["NODES_UNITS"] ?? 1500)
const KILLS = Number(process.env["NODES_KILLS"] ?? 2)
const SEED = Number(process.env["NODES_SEED"] ?? 1)
const CLIENTS = 300

onPostgres("however nodes are killed, all of them together admit no unit more than the quota", async () => {
  const all = await startNodes(3, { MAILKIND_TIERS: `0=-/-/${UNITS}` })
  const { key } = await all.newKey(0)
  const chance = seeded(SEED)
  const counted = { admitted: 0, refused: 0, unanswered: 0 }
  const client = async (at: number): Promise<void> => {
    for (let queries = at; ; queries++) {
      const answer = await check(nodeAt(all, queries), key)
      if (answer === null) counted.unanswered++
      else if (answer.status === 200) counted.admitted++
      else {
        expect(answer).toMatchObject({ status: 429, body: { code: "quota_exceeded" } })
        if (++counted.refused >= CLIENTS) return
      }
    }
  }
  const moments = Array.from({ length: KILLS }, () => Math.floor(chance() * UNITS * 0.8)).toSorted((a, b) => a - b)
  const killer = async (): Promise<void> => {
    for (const moment of moments) {
      while (counted.admitted < moment) await new Promise(resolve => setTimeout(resolve, 5))
      await nodeAt(all, Math.floor(chance() * 3)).replace()
    }
  }
  await Promise.all([killer(), ...Array.from({ length: CLIENTS }, (_, at) => client(at))])
  console.log(`of ${UNITS} units ${counted.admitted} were admitted, ${counted.unanswered} requests had no answer`)
  expect(counted.admitted).toBeLessThanOrEqual(UNITS)
  // A node that is killed takes a block of a hundredth with it, and what it had admitted and not answered.
  expect(counted.admitted + counted.unanswered).toBeGreaterThanOrEqual(UNITS - KILLS * (UNITS / 100) - 1)
})

onPostgres(
  "while the database is away what is in hand is used, the rest is refused with when to come back, and then all goes on",
  async () => {
    const postgres = await startPostgres()
    onTestEnd(postgres.remove)
    const all = await startNodes(2, { MAILKIND_DATABASE_URL: postgres.url("postgres") })
    const [known, unknown] = [await all.newKey(4), await all.newKey(4)]
    for (const one of all.nodes) expect(await check(one, known.key)).toMatchObject({ status: 200 })
    await postgres.stop("immediate")
    for (const one of all.nodes) {
      expect(await check(one, known.key)).toMatchObject({ status: 200 })
      const refused = { status: 503, retryAfter: "5", body: { code: "overloaded", retry_after: 5 } }
      expect(await check(one, unknown.key)).toMatchObject(refused)
      expect(await one.ask("POST /v1/feedback", known.key, FEEDBACK)).toMatchObject(refused)
      await one.logged(/the database does not answer/)
    }
    await postgres.start()
    for (const one of all.nodes) {
      await untilAnswered(
        ({ status }) => status === 200,
        () => check(one, unknown.key),
      )
      await untilAnswered(
        ({ status }) => status === 202,
        () => one.ask("POST /v1/feedback", known.key, FEEDBACK),
      )
      await one.logged(/the database answers again/)
    }
    await postgres.stop()
    for (const one of all.nodes) expect(await one.stop()).toMatchObject({ code: 0 })
  },
)
