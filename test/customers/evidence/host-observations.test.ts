import { expect, test as onSqlite } from "bun:test"
import {
  OBSERVATIONS_START,
  type ObservationCursor,
  pruneHostObservations,
  readHostObservations,
  type StoredHostObservation,
  writeHostObservations,
} from "../../../src/customers/evidence/host-observations.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { trustedAt } from "../../support/clock.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { test } from "../engines.ts"
import { tempStore } from "../temp-store.ts"

const DAY = 20_000
const NOW = trustedAt(DAY * 86_400_000)

const sighting = (domainHash: number, changes: Partial<StoredHostObservation> = {}): StoredHostObservation => ({
  domainHash,
  host: "throw-away.com",
  addresses: [],
  isListed: true,
  seenOn: DAY,
  ...changes,
})

/** The hashes of all that was written after `upTo`, in the order of reading, page by page. */
async function hashesAfter(
  store: Store,
  upTo: ObservationCursor = OBSERVATIONS_START,
  rowsMax = 100,
): Promise<number[]> {
  const { observations, cursor: next } = await readHostObservations(store, upTo, rowsMax)
  const hashes = observations.map(({ domainHash }) => domainHash)
  return observations.length < rowsMax ? hashes : [...hashes, ...(await hashesAfter(store, next, rowsMax))]
}

test("what was written is read as it was, the largest hash included", async () => {
  const store = await tempStore()
  const written = [
    sighting(1),
    sighting(2, { isListed: false, host: null, addresses: ["198.51.99.25", "2a01:4f8::1"] }),
    sighting(2 ** 53 - 1),
  ]
  await writeHostObservations(store, written)
  expect((await readHostObservations(store, OBSERVATIONS_START, 10)).observations).toEqual(written)
})

test("a domain has one row: that of where it was seen last", async () => {
  const store = await tempStore()
  await writeHostObservations(store, [sighting(1)])
  const moved = sighting(1, { host: "other.net", isListed: false, seenOn: DAY + 1 })
  for (const now of [moved, { ...moved, addresses: ["198.51.99.25"] }, { ...moved, addresses: ["198.51.99.26"] }]) {
    await writeHostObservations(store, [now])
    expect((await readHostObservations(store, OBSERVATIONS_START, 10)).observations).toEqual([now])
  }
})

test("a reader goes on where it was, in pages of any size, and misses nothing", async () => {
  const store = await tempStore()
  await writeHostObservations(
    store,
    [3, 1, 2].map(hash => sighting(hash)),
  )
  await writeHostObservations(
    store,
    [5, 4].map(hash => sighting(hash)),
  )
  for (const rowsMax of [1, 2, 3, 4, 5, 6])
    expect(await hashesAfter(store, OBSERVATIONS_START, rowsMax)).toEqual([1, 2, 3, 4, 5])
  const { cursor } = await readHostObservations(store, OBSERVATIONS_START, 4)
  expect(await hashesAfter(store, cursor)).toEqual([5])
  const end = await readHostObservations(store, cursor, 10)
  expect((await readHostObservations(store, end.cursor, 10)).cursor).toEqual(end.cursor)
  await writeHostObservations(store, [sighting(1, { seenOn: DAY + 1 })])
  expect(await hashesAfter(store, end.cursor)).toEqual([1])
})

test("what is written alike once more is not read once more", async () => {
  const store = await tempStore()
  await writeHostObservations(store, [sighting(1), sighting(2)])
  const { cursor } = await readHostObservations(store, OBSERVATIONS_START, 10)
  await writeHostObservations(store, [sighting(1), sighting(2, { isListed: false })])
  expect(await hashesAfter(store, cursor)).toEqual([2])
})

test("no sightings are no batch", async () => {
  const store = await tempStore()
  await writeHostObservations(store, [])
  expect(await store.one<unknown>("SELECT batch FROM host_sightings_head")).toEqual({ batch: 0 })
})

test("a batch that fails is not written in part", async () => {
  const store = await tempStore()
  await store.run("CREATE UNIQUE INDEX one_host ON host_sightings (host)")
  expect(await outcomeOf(writeHostObservations(store, [sighting(1), sighting(2)]))).toThrow()
  expect(await hashesAfter(store)).toEqual([])
})

test("rows from before a day are deleted, those of the day are kept", async () => {
  const store = await tempStore()
  await writeHostObservations(store, [sighting(1, { seenOn: DAY - 91 }), sighting(2, { seenOn: DAY - 90 })])
  expect(await pruneHostObservations(store, NOW, { rowsMax: 100, daysMax: 90 })).toBe(1)
  expect(await hashesAfter(store)).toEqual([2])
})

test("of rows beyond the bound those that were written least recently go, a batch at a time", async () => {
  const store = await tempStore()
  for (const batch of [[1, 2], [3], [4, 5]])
    await writeHostObservations(
      store,
      batch.map(hash => sighting(hash)),
    )
  await writeHostObservations(store, [sighting(1, { seenOn: DAY + 1 })])
  expect(await pruneHostObservations(store, null, { rowsMax: 5, daysMax: 90 })).toBe(0)
  expect(await pruneHostObservations(store, null, { rowsMax: 4, daysMax: 90 })).toBe(1)
  expect(await hashesAfter(store)).toEqual([3, 4, 5, 1])
  expect(await pruneHostObservations(store, null, { rowsMax: 2, daysMax: 90 })).toBe(3)
  expect(await hashesAfter(store)).toEqual([1])
})

test("a turn of pruning looks at a bounded number of rows, and the next one goes on", async () => {
  const store = await tempStore()
  await writeHostObservations(
    store,
    [1, 2, 3, 4, 5].map(hash => sighting(hash, { seenOn: 0 })),
  )
  const kept = { rowsMax: 100, daysMax: 0 }
  const turns = [await pruneHostObservations(store, NOW, kept, 2), await pruneHostObservations(store, NOW, kept, 2)]
  expect([
    ...turns,
    await pruneHostObservations(store, NOW, kept, 2),
    await pruneHostObservations(store, NOW, kept, 2),
  ]).toEqual([2, 2, 1, 0])
})

test("pruning begins at what was written least recently", async () => {
  const store = await tempStore()
  for (const hash of [1, 2]) await writeHostObservations(store, [sighting(hash, { seenOn: 0 })])
  await writeHostObservations(store, [sighting(1)])
  expect(await pruneHostObservations(store, NOW, { rowsMax: 100, daysMax: 0 }, 1)).toBe(1)
  expect(await hashesAfter(store)).toEqual([1])
})

onSqlite("to read a page the store goes by the order of batches and sorts nothing", async () => {
  const store = await tempStore()
  const plan = await store.all<{ detail: string }>(
    `EXPLAIN QUERY PLAN SELECT domain_hash, host FROM host_sightings
     WHERE (batch, domain_hash) > ($1, $2) ORDER BY batch, domain_hash LIMIT $3`,
    [1, 1, 1],
  )
  expect(plan.map(({ detail }) => detail).join()).toMatch(/SEARCH host_sightings USING INDEX host_sightings_by_batch/)
  expect(plan).toHaveLength(1)
})
