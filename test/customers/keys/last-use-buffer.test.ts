import { expect } from "bun:test"
import { KEY_AUTHENTICATOR_BOUNDS, KeyAuthenticator } from "../../../src/customers/keys/key-authenticator.ts"
import { createKey, findKey, revokeKey } from "../../../src/customers/keys/keys.ts"
import { LastUseBuffer } from "../../../src/customers/keys/last-use-buffer.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { test } from "../engines.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

/** A key, and when it was last used as the store has it. */
async function setUp(path = tempPlace()) {
  const store = await tempStore(path)
  const log = tempLog(store)
  const add = async (email?: string) => {
    const accountId = await newAccount(log, email)
    const creation = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
    if (creation.kind !== "created") throw new Error(creation.kind)
    return { id: creation.key.id, text: creation.text }
  }
  const usedAt = async (id: string) => (await findKey(store, id))?.lastUsedAtMs
  return { store, log, add, usedAt, lastUse: new LastUseBuffer(log.clock) }
}

test("a flush writes the last use to the second, once for many uses, and a request writes nothing", async () => {
  const { store, log, add, usedAt } = await setUp()
  const { id, text } = await add()
  const authenticator = new KeyAuthenticator(
    store,
    log.clock,
    () => (log.now - 9_000) * 1_500,
    KEY_AUTHENTICATOR_BOUNDS,
  )
  for (log.now of [9_001, 9_002, 9_003]) await authenticator.lookup(text)
  expect(await usedAt(id)).toBeNull()
  expect(await authenticator.flush()).toBe(1)
  expect(await usedAt(id)).toBe(9_003)
  expect(await authenticator.flush()).toBe(0)
})

test("a refused key is not recorded as used", async () => {
  const { store, log, add, usedAt } = await setUp()
  const { id, text } = await add()
  const authenticator = new KeyAuthenticator(store, log.clock, () => 0, KEY_AUTHENTICATOR_BOUNDS)
  await revokeKey(log, id, "owner")
  expect(await authenticator.lookup(text)).toMatchObject({ kind: "revoked" })
  expect(authenticator.lookup(text)).toMatchObject({ kind: "revoked" })
  expect(await authenticator.flush()).toBe(0)
  expect(await usedAt(id)).toBeNull()
})

test("an earlier use that is flushed later does not undo a later one", async () => {
  const path = tempPlace()
  const [here, there] = [await setUp(path), await setUp(path)]
  const { id } = await here.add()
  here.log.now = 9_001
  there.log.now = 9_002
  here.lastUse.record(id)
  there.lastUse.record(id)
  await there.lastUse.flush(there.store)
  await here.lastUse.flush(here.store)
  expect(await here.usedAt(id)).toBe(9_002)
})

test("a flush writes a bounded batch, in the order of the first use", async () => {
  const { store, add, usedAt, lastUse } = await setUp()
  const { id } = await add()
  for (let n = 0; n < 2000; n++) lastUse.record(`key_${n}`)
  lastUse.record(id)
  expect(await lastUse.flush(store)).toBe(2000)
  expect(await usedAt(id)).toBeNull()
  expect(await lastUse.flush(store)).toBe(1)
  expect(await usedAt(id)).toBe(5_000)
  expect(await lastUse.flush(store)).toBe(0)
})

test("uses that a failing store did not take are written by the next flush, and later ones are kept", async () => {
  const { store, log, add, usedAt, lastUse } = await setUp()
  const { id } = await add()
  lastUse.record(id)
  await store.run("ALTER TABLE keys RENAME TO hidden")
  const failing = lastUse.flush(store)
  log.now = 9_000
  lastUse.record(id)
  expect(await outcomeOf(failing)).toThrow(/no such table|42P01/)
  await store.run("ALTER TABLE hidden RENAME TO keys")
  expect(await lastUse.flush(store)).toBe(1)
  expect(await usedAt(id)).toBe(9_000)
})

test("processes that write the last use of the same keys do not deadlock, and no key is created", async () => {
  const path = tempPlace()
  const [here, there] = [await setUp(path), await setUp(path)]
  const ids: string[] = []
  while (ids.length < 70) ids.push((await here.add(`jane${ids.length}@example.com`)).id)
  for (let round = 1; round <= 10; round++) {
    const flushes = [here, there].map(async ({ log, lastUse, store }, at) => {
      log.now = 9_000 + round * 10 + at
      for (const id of at === 0 ? ids : ids.toReversed()) lastUse.record(id)
      lastUse.record("key_gone")
      await lastUse.flush(store)
    })
    await Promise.all(flushes)
  }
  for (const id of ids) expect(await here.usedAt(id)).toBe(9_101)
  expect(await here.store.one<unknown>("SELECT COUNT(*) AS count FROM keys")).toEqual({ count: 70 })
})
