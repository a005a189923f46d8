import { expect, setDefaultTimeout } from "bun:test"
import { onPostgres } from "../../customers/engines.ts"
import { type Answer, type Node, nodeAt, startNodes } from "./nodes.ts"

setDefaultTimeout(180_000)

const ROUNDS = 12
const entriesOf = (round: number) => Array.from({ length: 200 }, (_, at) => ({ entry: `name${at}-${round}.example` }))

/** Adds the entries of a round, with its idempotency key. */
const add = (node: Node, key: string, round: number): Promise<Answer | null> =>
  node.ask("POST /v1/block-list", key, { entries: entriesOf(round) }, `round ${round}`)

onPostgres(
  "a request that two nodes get, of which one is killed in the middle, is done once, and whoever sends it again reads its first answer",
  async () => {
    const all = await startNodes(2)
    const { key } = await all.newKey(4)
    const [first, second] = [nodeAt(all, 0), nodeAt(all, 1)]
    for (let round = 0; round < ROUNDS; round++) {
      const works = [add(first, key, round), add(second, key, round), add(first, key, round)]
      if (round % 4 === 0) {
        // Somewhere between its arrival and its answer.
        await new Promise(resolve => setImmediate(resolve))
        await first.replace()
      }
      const answers = await Promise.all(works)
      for (const node of [first, second]) answers.push(await add(node, key, round))
      for (const answer of answers)
        if (answer !== null) expect([round, answer.status, answer.body["added"]]).toEqual([round, 200, 200])
      expect(answers.slice(-2)).not.toContain(null)
    }
    expect(all.psql("SELECT count(*) FROM own_list_entries").trim()).toBe(String(ROUNDS * 200))
    expect(all.psql("SELECT count(*) FROM admin_acts WHERE act = 'entries_added'").trim()).toBe(String(ROUNDS))
    expect(all.psql("SELECT count(*) FROM idempotent_requests WHERE answer IS NULL").trim()).toBe("0")
  },
)
