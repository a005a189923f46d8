import { expect, test } from "bun:test"
import { customersAtWork } from "../src/assemble-customers.ts"
import { readSettings } from "../src/config/settings.ts"
import { createKey, revokeKey } from "../src/customers/keys/keys.ts"
import { beatOnce, readBeats, removeNode } from "../src/customers/nodes/node-rows.ts"
import { LocalRates } from "../src/customers/quota/local-rates.ts"
import type { Cell } from "../src/customers/store/store.ts"
import { realWorld } from "../src/world.ts"
import { onPostgres } from "./customers/engines.ts"
import { newAccount, random, tempLog, tempPath, tempPlace, tempStore } from "./customers/temp-store.ts"
import { afterwards } from "./world/afterwards.ts"
import { bounded } from "./world/bounded.ts"

onPostgres("what another node changes is learnt from its notification, without looking from time to time", async () => {
  const place = tempPlace()
  const [ours, theirs] = [await tempStore(place), await tempStore(place)]
  const log = tempLog(theirs)
  const made = await createKey(log, random, {
    accountId: await newAccount(log),
    kind: "secret",
    name: null,
    origins: [],
  })
  if (made.kind !== "created") throw new Error(made.kind)
  const read = readSettings({})
  if (read.kind !== "read") throw new Error(read.faults.join())
  // No time passes for whoever wants to look again.
  const world = { ...realWorld(), every: () => () => undefined }
  const customers = await customersAtWork(world, read.settings, ours, () => undefined)
  const listening = Promise.withResolvers<void>()
  ours.onChange(() => listening.resolve())
  await bounded(listening.promise, () => "nobody listens")
  customers.begin()
  afterwards(customers.end)
  expect(await customers.keys.lookup(made.text)).toMatchObject({ kind: "active" })
  await revokeKey(log, made.key.id, "owner")
  const refused = async (): Promise<void> => {
    while ((await customers.keys.lookup(made.text)).kind !== "revoked")
      await new Promise(resolve => setImmediate(resolve))
  }
  await bounded(refused(), () => "the key is still active")
})

onPostgres("that a node came or went is learnt from its notification, and its share is taken at once", async () => {
  const place = tempPlace()
  const [ours, theirs] = [await tempStore(place), await tempStore(place)]
  await beatOnce(theirs, "node_1")
  const read = readSettings({ MAILKIND_DATABASE_URL: place })
  if (read.kind !== "read") throw new Error(read.faults.join())
  const world = { ...realWorld(), every: () => () => undefined }
  const logged: unknown[] = []
  const customers = await customersAtWork(world, read.settings, ours, (_, says, fields) => logged.push([says, fields]))
  const atOnce = (caller: string): number => {
    let count = 0
    while (customers.rates.admit(caller, { perSecond: 0.001, burst: 12 }).waitS === 0) count++
    return count
  }
  // It knows of the other before it serves; the other knows of it when it does.
  expect([customers.nodesCount(), atOnce("a"), (await readBeats(theirs)).length]).toEqual([2, 6, 1])
  customers.begin()
  const counted = async (wanted: number): Promise<void> => {
    const waiting = async (): Promise<void> => {
      while (customers.nodesCount() !== wanted) await new Promise(resolve => setImmediate(resolve))
    }
    await bounded(waiting(), () => `it counts ${customers.nodesCount()} nodes, not ${wanted}`)
  }
  const listening = Promise.withResolvers<void>()
  ours.onChange(() => listening.resolve())
  await bounded(listening.promise, () => "nobody listens")
  await beatOnce(theirs, "node_2")
  await counted(3)
  expect([atOnce("b"), customers.inFlight.enter("a", 1), customers.inFlight.enter("a", 1)]).toEqual([4, true, false])
  for (const id of ["node_1", "node_2"]) await removeNode(theirs, id)
  await counted(1)
  expect(atOnce("c")).toBe(12)
  await customers.end()
  expect(await readBeats(theirs)).toEqual([])
  expect(logged).toContainEqual(["so many nodes share the limits now", { nodes: 3 }])
  expect(JSON.stringify(logged)).not.toContain("node_")
})

test("where the database is a file nobody else has it, and no statement is asked about nodes", async () => {
  const store = await tempStore(tempPath())
  const asked: string[] = []
  const watched = {
    ...store,
    all: <Row>(sql: string, params?: readonly Cell[]) => {
      asked.push(sql)
      return store.all<Row>(sql, params)
    },
  }
  const read = readSettings({})
  if (read.kind !== "read") throw new Error(read.faults.join())
  const works: (() => void)[] = []
  const every = (_: number, work: () => void) => {
    works.push(work)
    return () => undefined
  }
  const world = { ...realWorld(), every }
  const customers = await customersAtWork(world, read.settings, watched, () => undefined)
  customers.begin()
  for (const work of works) work()
  expect([customers.nodesCount(), customers.rates instanceof LocalRates]).toEqual([1, true])
  await customers.end()
  expect(asked.filter(sql => sql.includes("nodes"))).toEqual([])
})
