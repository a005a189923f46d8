import { expect } from "bun:test"
import {
  appendChange,
  CHANGES_PER_READ_MAX,
  CHANGES_STORED_MAX,
  latestChangeId,
  pruneChanges,
  readChangesSince,
  recordChanges,
} from "../../../../src/customers/store/change-log/change-log.ts"
import type { OpenStore } from "../../../../src/customers/store/core/store.ts"
import { outcomeOf } from "../../../support/outcome-of.ts"
import { test } from "../../engines.ts"
import { tempLog, tempPlace, tempStore } from "../../temp-store.ts"

function append(store: OpenStore, count: number, named = "key"): Promise<void> {
  return store.transaction(async inner => {
    for (let n = 0; n < count; n++)
      await appendChange(inner, () => 7, { kind: "key_revoked", subject: `${named}_${n}` })
  })
}

test("an empty log is at zero and has nothing to read", async () => {
  const store = await tempStore()
  expect(await latestChangeId(store)).toBe(0)
  expect(await readChangesSince(store, 0)).toMatchObject({ kind: "read", changes: [], lastId: 0 })
})

test("a reader gets the changes after its cursor in order, and continues from there", async () => {
  const store = await tempStore()
  await append(store, 3)
  expect(await readChangesSince(store, 1)).toMatchObject({
    kind: "read",
    changes: [
      { id: 2, kind: "key_revoked", subject: "key_1", atMs: 7 },
      { id: 3, kind: "key_revoked", subject: "key_2", atMs: 7 },
    ],
    lastId: 3,
  })
  expect(await readChangesSince(store, 3)).toMatchObject({ kind: "read", changes: [], lastId: 3 })
})

test("one read is bounded, and the next continues where it ended", async () => {
  const store = await tempStore()
  await append(store, CHANGES_PER_READ_MAX + 1)
  const first = await readChangesSince(store, 0)
  expect(first).toMatchObject({ kind: "read", lastId: CHANGES_PER_READ_MAX })
  const second = await readChangesSince(store, first.lastId)
  expect(second).toMatchObject({
    kind: "read",
    changes: [{ id: CHANGES_PER_READ_MAX + 1 }],
    lastId: CHANGES_PER_READ_MAX + 1,
  })
})

test("a reader that is further behind than the log reaches gets `lost`", async () => {
  const store = await tempStore()
  await append(store, 10)
  expect(await pruneChanges(store, 4)).toBe(6)
  expect(await readChangesSince(store, 5)).toMatchObject({ kind: "lost", lastId: 10 })
  expect(await readChangesSince(store, 6)).toMatchObject({ kind: "read", changes: [{ id: 7 }, {}, {}, {}] })
})

test("a reader of a log that was restored and has grown beyond its cursor gets `lost`", async () => {
  const path = tempPlace()
  const store = await tempStore(path)
  await append(store, 3)
  const place = await readChangesSince(store, 0)
  expect(place).toMatchObject({ kind: "read", lastId: 3 })
  // As a copy of the time of the first change has it: what came next there has the same numbers.
  await store.run("DELETE FROM changes WHERE id > 1")
  await store.run("UPDATE change_head SET id = 1")
  await append(store, 2, "other")
  expect(await readChangesSince(store, place.lastId, place.lastFingerprint)).toMatchObject({ kind: "lost", lastId: 3 })
  await append(store, 1, "other")
  expect(await readChangesSince(store, place.lastId, place.lastFingerprint)).toMatchObject({ kind: "lost", lastId: 4 })
  const again = await readChangesSince(store, 4)
  expect(await readChangesSince(store, 4, again.lastFingerprint)).toEqual(again)
  await append(store, 1, "other")
  expect(await readChangesSince(store, 4, again.lastFingerprint)).toMatchObject({ kind: "read", lastId: 5 })
})

test("a reader that is ahead of the log, as after a restore, gets `lost`", async () => {
  const store = await tempStore()
  await append(store, 2)
  expect(await readChangesSince(store, 5)).toMatchObject({ kind: "lost", lastId: 2 })
})

test("the log is bounded, and ids continue even when all of it was pruned", async () => {
  const store = await tempStore()
  await store.run(
    `WITH RECURSIVE numbers (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM numbers WHERE id < $1)
     INSERT INTO changes (id, kind, subject, at_ms) SELECT id, 'key_revoked', 'key_0', 7 FROM numbers`,
    [CHANGES_STORED_MAX],
  )
  await store.run("UPDATE change_head SET id = $1", [CHANGES_STORED_MAX])
  await append(store, 5)
  expect(await store.one<unknown>("SELECT COUNT(*) AS count, MIN(id) AS first FROM changes")).toEqual({
    count: CHANGES_STORED_MAX,
    first: 6,
  })
  await pruneChanges(store, 0)
  expect(await latestChangeId(store)).toBe(CHANGES_STORED_MAX + 5)
  await append(store, 1)
  expect(await readChangesSince(store, CHANGES_STORED_MAX + 5)).toMatchObject({
    changes: [{ id: CHANGES_STORED_MAX + 6 }],
  })
})

test("changes are notified when they are durable, and not when their transaction is rolled back", async () => {
  const path = tempPlace()
  const store = await tempStore(path)
  const other = await tempStore(path)
  const log = tempLog(store)
  await recordChanges(log, async (_, note) => {
    await note("key_revoked", "key_1")
    expect(log.received).toEqual([])
  })
  expect(log.received).toEqual([{ kind: "key_revoked", subject: "key_1" }])
  expect(await latestChangeId(other)).toBe(1)
  const failing = recordChanges(log, async (_, note) => {
    await note("key_revoked", "key_2")
    throw new Error("taken back")
  })
  expect(await outcomeOf(failing)).toThrow("taken back")
  expect(log.received).toHaveLength(1)
  expect(await latestChangeId(store)).toBe(1)
})

test("two connections that append share one sequence of ids", async () => {
  const path = tempPlace()
  const [one, other] = [await tempStore(path), await tempStore(path)]
  for (let round = 0; round < 5; round++) await Promise.all([append(one, 2), append(other, 2)])
  const read = await readChangesSince(one, 0)
  expect(read.kind === "read" && read.changes.map(change => change.id)).toEqual(
    Array.from({ length: 20 }, (_, n) => n + 1),
  )
})
