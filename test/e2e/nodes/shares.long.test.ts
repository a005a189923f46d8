import { expect, setDefaultTimeout } from "bun:test"
import { onPostgres } from "../../customers/engines.ts"
import { bounded } from "../../support/bounded.ts"
import { sendSignal } from "../../support/send-signal.ts"
import { type Answer, type Node, type Nodes, startNodes } from "./nodes.ts"

setDefaultTimeout(180_000)

const PER_SECOND = 30
const BURST = 2 * PER_SECOND
/** How long a client waits that was refused: all together they still ask for far more than they may have. */
const REFUSED_PAUSE_MS = 20
const LIMITED = { MAILKIND_TIERS: `0=${PER_SECOND}/-/-` }
const INPUT = { domain: "acme-widgets-of-nodes.com" }

const ask = (node: Node, key: string): Promise<Answer | null> => node.ask("POST /v1/check", key, INPUT)

/** Resolves when each of the nodes has seen that so many share the limits. */
async function seen(nodes: readonly Node[], count: number): Promise<void> {
  // Each line tells of a change: the last one counts.
  const last = new RegExp(`"nodes":${count}\\b(?:(?!"nodes":)[\\s\\S])*$`)
  for (const node of nodes) await node.logged(count === 1 ? /"nodes":1\b/ : last)
}

/** What so many clients, each of which goes from node to node, are let through until that is `wanted`, and how long that took. */
async function letThrough(nodes: readonly Node[], key: string, wanted: number) {
  let admitted = 0
  const startedAt = performance.now()
  const client = async (at: number): Promise<void> => {
    for (let requests = at; admitted < wanted; requests++) {
      const node = nodes[requests % nodes.length]
      const answer = node === undefined ? null : await ask(node, key)
      if (answer?.status === 200) admitted++
      else {
        expect(answer).toMatchObject({ status: 429, body: { code: "rate_limited", limit: PER_SECOND } })
        await Bun.sleep(REFUSED_PAUSE_MS)
      }
    }
  }
  const clients = Array.from({ length: 4 * nodes.length }, (_, at) => client(at))
  await bounded(Promise.all(clients), () => `${admitted} of ${wanted} were let through`)
  return { admitted, seconds: (performance.now() - startedAt) / 1000 }
}

/** Whether the nodes let a new caller through as one node alone would, but for one request a node; more have been asked for. */
async function holdTo({ newKey }: Nodes, nodes: readonly Node[], description: string): Promise<void> {
  const { key } = await newKey(0)
  const { admitted, seconds } = await letThrough(nodes, key, BURST + 3 * PER_SECOND)
  const most = BURST + PER_SECOND * seconds
  console.log(
    `${description}: ${admitted} in ${seconds.toFixed(2)} s, where one node would have admitted ${Math.floor(most)}`,
  )
  expect(admitted).toBeLessThanOrEqual(Math.ceil(most) + nodes.length)
  // They let through as much, too: what is not used of a second is good for the next.
  expect(admitted).toBeGreaterThanOrEqual(BURST - nodes.length + (PER_SECOND * seconds) / 2)
}

onPostgres(
  "all nodes together let through what one would, and those that are left when one is killed or stopped",
  async () => {
    const all = await startNodes(3, LIMITED)
    const [first, second, third] = all.nodes
    if (first === undefined || second === undefined || third === undefined) throw new Error("there are three")
    await seen(all.nodes, 3)
    await holdTo(all, all.nodes, "three nodes")
    const { key } = await all.newKey(0)
    const facts = await ask(first, key)
    // The policy is the account's whole, what is left is this node's part of the burst.
    expect(facts?.rateLimit).toBe(`"second";q=${PER_SECOND};w=1 / "second";r=${BURST / 3 - 1};t=1`)

    await first.kill()
    const killedAt = performance.now()
    await seen([second, third], 2)
    console.log(`a node that was killed was missed after ${Math.round(performance.now() - killedAt)} ms`)
    await holdTo(all, [second, third], "two nodes")

    expect(await second.stop()).toMatchObject({ code: 0 })
    const stoppedAt = performance.now()
    await seen([third], 1)
    console.log(`a node that was stopped was missed ${Math.round(performance.now() - stoppedAt)} ms after its end`)
    await holdTo(all, [third], "one node")
  },
)

onPostgres("the workers of a node are one node, whichever of them is killed or stopped", async () => {
  const all = await startNodes(2, LIMITED, ["serve", "--workers", "2"])
  const [first, second] = all.nodes
  if (first === undefined || second === undefined) throw new Error("there are two")
  for (const node of all.nodes)
    for (const worker of [0, 1]) await node.logged(new RegExp(`"worker":${worker},"nodes":2\\b`))
  /** Ends a worker of the first node, and resolves when another has its seat: the line that tells so is the so manieth. */
  const end = async (worker: number, by: "SIGKILL" | "SIGTERM", linesCount: number): Promise<void> => {
    const started = new RegExp(`"worker":${worker},"pid":(\\d+)`)
    sendSignal(Number(started.exec(await first.logged(started))?.[1]), by)
    await first.logged(new RegExp(`(?:a worker listens[\\s\\S]*){${linesCount}}`))
  }
  await end(0, "SIGKILL", 3)
  await end(1, "SIGTERM", 4)
  await seen([second], 2)
  await holdTo(all, all.nodes, "two nodes of two workers")
  expect(await first.stop()).toMatchObject({ code: 0 })
  for (const worker of [0, 1]) await second.logged(new RegExp(`"worker":${worker},"nodes":1\\b`))
})
