import { expect } from "bun:test"
import { customersAtWork } from "../src/assemble-customers.ts"
import { readSettings } from "../src/config/settings.ts"
import { createKey, revokeKey } from "../src/customers/keys/keys.ts"
import { realWorld } from "../src/world.ts"
import { onPostgres } from "./customers/engines.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "./customers/temp-store.ts"
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
