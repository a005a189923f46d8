import { expect } from "bun:test"
import { StartupError } from "../../../src/base/errors.ts"
import type { OpenStore } from "../../../src/customers/store/core/store.ts"
import {
  LEASE_BOUNDS,
  listSharedFiles,
  readListsMark,
  readSharedFile,
  type SharedFilesWriter,
  withSharedFiles,
} from "../../../src/customers/store/shared-files.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { test } from "../engines.ts"
import { random, tempStore } from "../temp-store.ts"

/** A process that changes the files. Its renewals happen when `renew` is called. */
function fileWriter(store: OpenStore) {
  const time = { atMs: 1_000 }
  const works = new Set<() => void>()
  const runInterval = (_: number, work: () => void) => {
    works.add(work)
    return () => void works.delete(work)
  }
  return {
    time,
    renewalsCount: () => works.size,
    change: <T>(work: (writer: SharedFilesWriter) => Promise<T>) =>
      withSharedFiles(store, { clock: () => time.atMs, random, runInterval }, work),
  }
}

/** Bytes that do not compress, so that a file has several parts. */
const noise = (bytesCount: number): Uint8Array =>
  Buffer.concat(Array.from({ length: bytesCount / 4096 }, () => random(4096)))

/** The process that holds the files is silent for too long, by whichever clock decides. */
const letExpire = (store: OpenStore) => store.run("UPDATE lists_head SET held_until_ms = 0")

test("a file of any size is read as it was written, and what was not written is absent", async () => {
  const store = await tempStore()
  const { change } = fileWriter(store)
  const files = { none: new Uint8Array(), small: new Uint8Array([1, 2, 3]), large: noise(1_048_576) }
  await change(async ({ write }) => {
    for (const [name, bytes] of Object.entries(files)) await write(name, bytes, false)
  })
  for (const [name, bytes] of Object.entries(files)) {
    const file = await readSharedFile(store, name)
    expect(file.kind === "read" && Buffer.compare(file.bytes, bytes)).toBe(0)
  }
  expect(await readSharedFile(store, "other")).toEqual({ kind: "absent" })
  expect((await listSharedFiles(store)).map(({ name }) => name).sort()).toEqual(["large", "none", "small"])
})

test("a file that is written again has nothing of the one before, and one that is removed leaves no part", async () => {
  const store = await tempStore()
  const { change } = fileWriter(store)
  await change(async ({ write, remove }) => {
    await write("a", noise(1_048_576), false)
    await write("a", new Uint8Array([7]), false)
    expect(await readSharedFile(store, "a")).toMatchObject({ kind: "read", bytes: new Uint8Array([7]) })
    await remove("a")
  })
  expect(await store.all("SELECT name FROM lists_file_parts")).toEqual([])
})

test("a file whose part, order of parts, size or checksum differs is damaged, and never unpacked beyond its size", async () => {
  const store = await tempStore()
  const { change } = fileWriter(store)
  const damages = [
    "DELETE FROM lists_file_parts WHERE part = 1",
    "UPDATE lists_file_parts SET data = '' WHERE part = 0",
    "UPDATE lists_file_parts SET data = 'AAAA' || substr(data, 5) WHERE part = 2",
    "UPDATE lists_file_parts SET part = -part",
    "UPDATE lists_files SET bytes = 10",
    "UPDATE lists_files SET parts = 1000000000",
    "UPDATE lists_files SET parts = 0",
    "UPDATE lists_files SET sha256 = 'x'",
  ]
  for (const damage of damages) {
    await change(({ write }) => write("a", noise(1_048_576), false))
    await store.run(damage)
    expect([damage, await readSharedFile(store, "a")]).toEqual([damage, { kind: "damaged" }])
  }
})

test("a part that is longer than a part can be is not read", async () => {
  const store = await tempStore()
  await fileWriter(store).change(({ write }) => write("a", new Uint8Array([1]), false))
  expect((await readSharedFile(store, "a")).kind).toBe("read")
  await store.run("UPDATE lists_file_parts SET data = $1", [(await part(store)).concat(" ".repeat(300_000))])
  expect(await readSharedFile(store, "a")).toEqual({ kind: "damaged" })
})

const part = async (store: OpenStore): Promise<string> =>
  (await store.one<{ data: string }>("SELECT data FROM lists_file_parts"))?.data ?? ""

test("a process that died while the clock was ahead holds the files no longer than any other", async () => {
  const store = await tempStore()
  await store.run(
    `INSERT INTO lists_head (singleton, mark, holder, held_until_ms) VALUES (1, '', 'dead', COALESCE(${store.clockSql}, 1000) + 86400000)`,
  )
  expect(await fileWriter(store).change(async () => "done")).toBe("done")
})

test("the mark changes with what is announced, and with nothing else", async () => {
  const store = await tempStore()
  const { change } = fileWriter(store)
  expect(await readListsMark(store)).toBeNull()
  await change(({ write }) => write("a", new Uint8Array([1]), false))
  expect(await readListsMark(store)).toBeNull()
  await change(({ write }) => write("a", new Uint8Array([1]), true))
  const first = await readListsMark(store)
  expect(first).toBeString()
  await change(({ write }) => write("a", new Uint8Array([1]), true))
  expect(await readListsMark(store)).not.toBe(first)
})

test("one process changes the files at a time, and the next one when it is done, also if it failed", async () => {
  const store = await tempStore()
  const [one, two] = [fileWriter(store), fileWriter(store)]
  await one.change(async () => {
    expect(await two.change(async () => "done")).toBeNull()
    expect(one.renewalsCount()).toBe(1)
  })
  expect(one.renewalsCount()).toBe(0)
  expect(await two.change(async () => "done")).toBe("done")
  expect(await outcomeOf(one.change(() => Promise.reject(new Error("a fault"))))).toThrow("a fault")
  expect(await two.change(async () => "done")).toBe("done")
})

test("who was silent for too long changes nothing once another process has taken over, and does not end its turn", async () => {
  const store = await tempStore()
  const [silent, next] = [fileWriter(store), fileWriter(store)]
  const lost = silent.change(async ({ write }) => {
    await write("a", new Uint8Array([1]), true)
    await letExpire(store)
    await next.change(async writer => {
      await writer.write("a", new Uint8Array([2]), true)
      const late = await outcomeOf(write("a", new Uint8Array([3]), true))
      expect(late).toThrow(StartupError)
      expect(await fileWriter(store).change(async () => "done")).toBeNull()
    })
    await write("a", new Uint8Array([4]), true)
  })
  expect(await outcomeOf(lost)).toThrow(/Another process has begun/)
  expect(await readSharedFile(store, "a")).toMatchObject({ kind: "read", bytes: new Uint8Array([2]) })
})

test("a process that died is taken over once its time is up, and each change of a live one renews that time", async () => {
  const store = await tempStore()
  await store.run(
    `INSERT INTO lists_head (singleton, mark, holder, held_until_ms) VALUES (1, '', 'dead', COALESCE(${store.clockSql}, 1000) + 60000)`,
  )
  expect(await fileWriter(store).change(async () => "done")).toBeNull()
  await letExpire(store)
  const heldUntil = async () => (await store.one<{ at: number }>("SELECT held_until_ms AS at FROM lists_head"))?.at ?? 0
  await fileWriter(store).change(async ({ write }) => {
    const taken = await heldUntil()
    await store.run("UPDATE lists_head SET held_until_ms = held_until_ms - 1000")
    await write("a", new Uint8Array([1]), false)
    expect(await heldUntil()).toBeGreaterThanOrEqual(taken)
    expect(taken).toBeGreaterThan(LEASE_BOUNDS.heldMs)
  })
})
