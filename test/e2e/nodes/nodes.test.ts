import { expect, setDefaultTimeout } from "bun:test"
import { seeded } from "../../../bench/load/seeded-random.ts"
import { onPostgres } from "../../customers/engines.ts"
import { bounded } from "../../support/bounded.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startPostgres } from "../../support/postgres.ts"
import { type Answer, type Node, type Nodes, startNodes } from "./nodes.ts"

setDefaultTimeout(180_000)

// `NODES_UNITS=10000 NODES_KILLS=6 bun test test/e2e/nodes` is the long form; `NODES_SEED` chooses other moments.
const UNITS = Number(process.env["NODES_UNITS"] ?? 1500)
const KILLS = Number(process.env["NODES_KILLS"] ?? 2)
const SEED = Number(process.env["NODES_SEED"] ?? 1)
const CLIENTS = 300

const CHECK = "POST /v1/check"
const INPUT = { email: "jane@acme-widgets-of-nodes.com" }
const FEEDBACK = { ...INPUT, expected_category: "relay" }

const check = (node: Node, key: string): Promise<Answer | null> => node.ask(CHECK, key, INPUT)

/** Asks again until the answer is as wanted; gives it, and how long that took. */
async function until(wanted: (answer: Answer) => boolean, ask: () => Promise<Answer | null>) {
  const startedAt = performance.now()
  let last: Answer | null = null
  const asking = async (): Promise<Answer> => {
    for (;;) {
      last = await ask()
      if (last !== null && wanted(last)) return last
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
  const answer = await bounded(asking(), () => `the last answer was ${JSON.stringify(last)}`)
  return { answer, tookMs: Math.round(performance.now() - startedAt) }
}

const node = ({ nodes }: Nodes, at: number): Node => {
  const found = nodes[at % nodes.length]
  if (found === undefined) throw new Error("there are nodes")
  return found
}

onPostgres(
  "a key that is revoked is refused by every node, told or not, and accepted feedback is live on every one",
  async () => {
    const all = await startNodes(3)
    const seen: number[] = []
    for (const isCut of [false, true]) {
      const { id, key } = await all.newKey(0)
      for (const one of all.nodes) expect(await check(one, key)).toMatchObject({ status: 200 })
      // Nothing is told any more, as when all notifications are lost: who looks from time to time learns it too.
      if (isCut) all.psql("ALTER TABLE change_head DISABLE TRIGGER change_head_tells")
      await all.run("key", "revoke", id)
      const ends = await Promise.all(
        all.nodes.map(one =>
          until(
            ({ status }) => status === 401,
            () => check(one, key),
          ),
        ),
      )
      for (const { answer } of ends) expect(answer.body).toMatchObject({ code: "key_revoked" })
      seen.push(Math.max(...ends.map(({ tookMs }) => tookMs)))
    }
    console.log(`a revocation was seen by three nodes after ${seen[0]} ms, and untold after ${seen[1]} ms`)
    const { key } = await all.newKey(4)
    const sent = await node(all, 0).ask("POST /v1/feedback", key, FEEDBACK)
    expect(sent).toMatchObject({ status: 202 })
    await all.run("feedback", "accept", String(sent?.body["id"]))
    const wanted = (answer: Answer): boolean => answer.body["category"] === "relay"
    for (const one of all.nodes) await until(wanted, () => check(one, key))
  },
)

onPostgres("however nodes are killed, all of them together admit no unit more than the quota", async () => {
  const all = await startNodes(3, { MAILKIND_TIERS: `0=-/-/${UNITS}` })
  const { key } = await all.newKey(0)
  const chance = seeded(SEED)
  const counted = { admitted: 0, refused: 0, unanswered: 0 }
  const client = async (at: number): Promise<void> => {
    for (let queries = at; ; queries++) {
      const answer = await check(node(all, queries), key)
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
      await node(all, Math.floor(chance() * 3)).replace()
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
      await until(
        ({ status }) => status === 200,
        () => check(one, unknown.key),
      )
      await until(
        ({ status }) => status === 202,
        () => one.ask("POST /v1/feedback", known.key, FEEDBACK),
      )
      await one.logged(/the database answers again/)
    }
    await postgres.stop()
    for (const one of all.nodes) expect(await one.stop()).toMatchObject({ code: 0 })
  },
)
