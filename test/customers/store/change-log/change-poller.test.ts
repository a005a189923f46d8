import { expect } from "bun:test"
import { KEY_AUTHENTICATOR_BOUNDS, KeyAuthenticator } from "../../../../src/customers/keys/key-authenticator.ts"
import { createKey, revokeKey } from "../../../../src/customers/keys/keys.ts"
import {
  CHANGES_PER_READ_MAX,
  type Change,
  latestChangeId,
  recordChanges,
} from "../../../../src/customers/store/change-log/change-log.ts"
import { createChangePoller } from "../../../../src/customers/store/change-log/change-poller.ts"
import type { Store } from "../../../../src/customers/store/core/store.ts"
import { settled } from "../../../support/time.ts"
import { test } from "../../engines.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../../temp-store.ts"

test("a key that another process revoked is refused after the next poll, also after a poll that failed", async () => {
  const path = tempPlace()
  const [ours, theirs] = [await tempStore(path), await tempStore(path)]
  const log = tempLog(theirs)
  const accountId = await newAccount(log)
  const made = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  const authenticator = new KeyAuthenticator(ours, log.clock, () => 0, KEY_AUTHENTICATOR_BOUNDS)
  let fails = true
  const failures: unknown[] = []
  const one = <Row>(...requested: Parameters<Store["one"]>) =>
    fails ? Promise.reject(new Error("away")) : ours.one<Row>(...requested)
  const store = { ...ours, one }
  const turn = createChangePoller(
    store,
    [authenticator],
    await latestChangeId(ours),
    error => void failures.push(error),
  )
  await authenticator.lookup(made.text)
  await revokeKey(log, made.key.id, "owner")
  turn()
  turn()
  await settled()
  expect(failures).toHaveLength(1)
  expect(await authenticator.lookup(made.text)).toMatchObject({ kind: "active" })
  fails = false
  turn()
  await settled()
  expect(await authenticator.lookup(made.text)).toMatchObject({ kind: "revoked" })
})

test("polls during a read cause one more read after it, however many there are", async () => {
  const store = await tempStore()
  const log = tempLog(store)
  const gate = Promise.withResolvers<void>()
  let readsCount = 0
  const received: string[] = []
  const listener = {
    applyChanges: (changes: readonly Change[]) => void received.push(...changes.map(({ subject }) => subject)),
    invalidateAll: () => undefined,
  }
  const slow = {
    ...store,
    one: async <Row>(...requested: Parameters<Store["one"]>) => {
      const row = await store.one<Row>(...requested)
      // What is appended after this first look is missed by the first reading.
      if (++readsCount === 1) await gate.promise
      return row
    },
  }
  const turn = createChangePoller(slow, [listener], 0, error => {
    throw error
  })
  turn()
  await recordChanges(log, (_, note) => note("key_revoked", "key_1"))
  for (let at = 0; at < 5; at++) turn()
  gate.resolve()
  await settled()
  expect([received, readsCount]).toEqual([["key_1"], 2])
})

test("more changes than one read returns are read at once, and only then everything is known", async () => {
  const store = await tempStore()
  const log = tempLog(store)
  const count = CHANGES_PER_READ_MAX + 1
  await recordChanges(log, async (_, note) => {
    for (let at = 0; at < count; at++) await note("key_revoked", `key_${at}`)
  })
  const received: string[] = []
  const readCounts: number[] = []
  const turn = createChangePoller(
    store,
    [
      {
        applyChanges: changes => void received.push(...changes.map(one => one.subject)),
        invalidateAll: () => undefined,
      },
    ],
    0,
    error => {
      throw error
    },
    { now: () => 0, note: () => void readCounts.push(received.length) },
  )
  turn()
  await turn.idle()
  expect([received.length, received.at(-1), readCounts]).toEqual([count, `key_${count - 1}`, [count]])
})
