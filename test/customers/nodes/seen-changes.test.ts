import { expect } from "bun:test"
import { createSeenChanges, SEEN_CHANGES_FILE } from "../../../src/customers/nodes/seen-changes.ts"
import {
  appendChange,
  CHANGES_STORED_MAX,
  type ChangeCursor,
  cursorOf,
  LATEST_CHANGE_POLLED,
  type LatestChangeRow,
} from "../../../src/customers/store/change-log/change-log.ts"
import type { OpenStore } from "../../../src/customers/store/core/store.ts"
import { memoryFolder } from "../../support/memory-folder.ts"
import { test } from "../engines.ts"
import { tempStore } from "../temp-store.ts"

/** A database with a key revoked at each of these instants. */
async function revokedAt(...instants: readonly number[]): Promise<OpenStore> {
  const store = await tempStore()
  for (const atMs of instants) await appendChange(store, () => atMs, { kind: "key_revoked", subject: `key_${atMs}` })
  return store
}

/** The latest change of a database, as its poll has it. */
async function latestOf(store: OpenStore): Promise<ChangeCursor> {
  const columns = Object.entries(LATEST_CHANGE_POLLED.columns).map(([name, sql]) => `${sql} AS "${name}"`)
  const row = await store.one<LatestChangeRow>(
    `SELECT 0 AS "polledAtMs", ${columns.join(", ")} FROM change_head ${LATEST_CHANGE_POLLED.joins}`,
  )
  return row === null ? expect.unreachable() : cursorOf(row)
}

/** A node, which starts on a database, polls it and stops; it gives how often it tells of an earlier state. */
function node() {
  const folder = memoryFolder()
  const runOn = async (store: OpenStore, place = "db:5432"): Promise<number> => {
    let count = 0
    const onError = (error: unknown) => expect(error).toBeNull()
    const seen = createSeenChanges({ store, folder, place, claim: () => true, onEarlier: () => count++, onError })
    for (let polls = 0; polls < 2; polls++) seen.observe(await latestOf(store))
    await seen.stop()
    return count
  }
  return { folder, runOn }
}

test("a start tells once that the database was restored meanwhile, however many changes it has had since", async () => {
  const before = await revokedAt(1, 2, 3)
  for (const restored of [
    await revokedAt(),
    await revokedAt(1, 2),
    await revokedAt(1, 2, 4),
    await revokedAt(1, 2, 4, 5),
  ]) {
    const { runOn } = node()
    expect([await runOn(before), await runOn(before), await runOn(restored), await runOn(restored)]).toEqual([
      0, 0, 1, 0,
    ])
  }
})

test("a start tells nothing of a database with more changes, even if they pushed out those that it knew, of one elsewhere, and of a file that cannot be read", async () => {
  const { folder, runOn } = node()
  const store = await revokedAt(1)
  await runOn(store)
  await appendChange(store, () => 2, { kind: "key_revoked", subject: "key_2" })
  expect(await runOn(store)).toBe(0)
  await store.run("UPDATE change_head SET id = id + $1", [CHANGES_STORED_MAX])
  await appendChange(store, () => 3, { kind: "key_revoked", subject: "key_3" })
  expect(await runOn(store)).toBe(0)
  expect(await runOn(await revokedAt(), "other:5432")).toBe(0)
  folder.put(SEEN_CHANGES_FILE, '{"place":"other:5432","lastId":"9"')
  expect(await runOn(await revokedAt(), "other:5432")).toBe(0)
})

test("what is seen is kept at most every few seconds and at the stop, and a change that comes twice is kept once", async () => {
  const store = await revokedAt(1)
  const written: string[] = []
  const folder = { read: async () => null, writeAtomic: async (_: string, text: string) => void written.push(text) }
  let mayKeep = false
  const fail = () => expect.unreachable()
  const deps = { store, folder, place: "db", claim: () => mayKeep, onEarlier: fail, onError: fail }
  const seen = createSeenChanges(deps)
  seen.observe(await latestOf(store))
  expect(written).toEqual([])
  mayKeep = true
  for (let polls = 0; polls < 2; polls++) seen.observe(await latestOf(store))
  await seen.stop()
  expect(written).toHaveLength(1)
  mayKeep = false
  await appendChange(store, () => 2, { kind: "key_revoked", subject: "key_2" })
  seen.observe(await latestOf(store))
  expect(written).toHaveLength(1)
  await seen.stop()
  expect(written.map(text => JSON.parse(text).lastId)).toEqual([1, 2])
})
