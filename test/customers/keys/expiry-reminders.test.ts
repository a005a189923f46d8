import { expect, test } from "bun:test"
import { DAY_MS } from "../../../src/base/time.ts"
import { remindOfExpiry } from "../../../src/customers/keys/expiry-reminders.ts"
import { changeKey } from "../../../src/customers/keys/key-changes.ts"
import { NO_CEILING, NO_RESTRICTIONS } from "../../../src/customers/keys/key-restrictions.ts"
import { createKey, revokeKey } from "../../../src/customers/keys/keys.ts"
import { outboxRows } from "../notices/outbox-rows.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

const WEEK_MS = 7 * DAY_MS

async function setUp(expiresInMs: number) {
  const path = tempPlace()
  const log = tempLog(await tempStore(path))
  const accountId = await newAccount(log)
  const expiresAtMs = log.now + expiresInMs
  const restrictions = { ...NO_RESTRICTIONS, expiresAtMs }
  const made = await createKey(log, random, { accountId, kind: "secret", name: "Shop", origins: [], restrictions })
  if (made.kind !== "created") throw new Error(made.kind)
  const reminders = async () =>
    (await outboxRows(log.store))
      .filter(({ notice }) => notice === "key_expiring")
      .map(({ particulars }) => JSON.parse(particulars))
  return { path, log, key: made.key, expiresAtMs, reminders }
}

test("the owner is reminded a week before a key expires, not sooner, and once over restarts and processes", async () => {
  const { path, log, key, expiresAtMs, reminders } = await setUp(30 * DAY_MS)
  expect(await remindOfExpiry(log.store, expiresAtMs - WEEK_MS - 1)).toBe(0)
  expect(await reminders()).toEqual([])
  const others = [await tempStore(path), await tempStore(path), log.store]
  const counts = await Promise.all(others.map(store => remindOfExpiry(store, expiresAtMs - WEEK_MS)))
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1)
  expect(await reminders()).toEqual([{ kind: "secret", name: "Shop", last4: key.last4, atMs: expiresAtMs }])
  // Ended mails are deleted after a month; the key remembers.
  await log.store.run("DELETE FROM outbox")
  for (const nowMs of [expiresAtMs - WEEK_MS, expiresAtMs - 1, expiresAtMs])
    expect(await remindOfExpiry(await tempStore(path), nowMs)).toBe(0)
})

test("a key that is made less than a week before its expiry causes no reminder", async () => {
  const { log, expiresAtMs } = await setUp(WEEK_MS - 1)
  for (const nowMs of [log.now, expiresAtMs - 1]) expect(await remindOfExpiry(log.store, nowMs)).toBe(0)
})

test("a key that is made exactly a week before its expiry causes one", async () => {
  const { log } = await setUp(WEEK_MS)
  expect(await remindOfExpiry(log.store, log.now)).toBe(1)
})

test("a revoked key, and one whose time is over, cause none", async () => {
  const { log, key, expiresAtMs } = await setUp(30 * DAY_MS)
  expect(await remindOfExpiry(log.store, expiresAtMs)).toBe(0)
  await revokeKey(log, key.id, "owner")
  expect(await remindOfExpiry(log.store, expiresAtMs - DAY_MS)).toBe(0)
})

test("an expiry that is put off is told again a week before the new day, and a removed one is not", async () => {
  const { log, key, expiresAtMs, reminders } = await setUp(30 * DAY_MS)
  log.now = expiresAtMs - DAY_MS
  await remindOfExpiry(log.store, log.now)
  const later = expiresAtMs + 60 * DAY_MS
  await changeKey(log, key.id, { restrictions: { ...NO_RESTRICTIONS, expiresAtMs: later } }, NO_CEILING)
  expect(await remindOfExpiry(log.store, log.now)).toBe(0)
  expect(await remindOfExpiry(log.store, later - WEEK_MS)).toBe(1)
  expect((await reminders()).map(({ atMs }) => atMs).toSorted()).toEqual([expiresAtMs, later].toSorted())
  await changeKey(log, key.id, { restrictions: { ...NO_RESTRICTIONS, expiresAtMs: later + DAY_MS } }, NO_CEILING)
  await changeKey(log, key.id, { restrictions: NO_RESTRICTIONS }, NO_CEILING)
  expect(await remindOfExpiry(log.store, later)).toBe(0)
})
