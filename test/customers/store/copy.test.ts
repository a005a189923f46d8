import { Database } from "bun:sqlite"
import { expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { copyDatabase, verifiedCopy } from "../../../src/customers/store/copy.ts"
import { KNOWN_HEAD } from "../../../src/customers/store/look.ts"
import { openSqlite } from "../../../src/customers/store/sqlite.ts"
import { StoreFault } from "../../../src/customers/store/store-fault.ts"
import { newAccount, tempLog, tempPath, tempStore } from "../temp-store.ts"
import { spawnChild } from "./children.ts"

setDefaultTimeout(60_000)

test("each copy of a database that another process writes is one moment between two of its commits, and whole", async () => {
  const path = tempPath("mailkind.sqlite")
  const child = await spawnChild(["write", path], "writes")
  const counts: number[] = []
  for (let at = 0; at < 20; at++) {
    const to = join(dirname(path), `copy-${at}`)
    expect(copyDatabase(path, to, { isNew: true })).toMatchObject({ path: to })
    const copy = new Database(to, { readonly: true })
    const [[left, right] = []] = copy
      .query("SELECT SUM(side = 'left'), SUM(side = 'right') FROM pairs")
      .values() as number[][]
    copy.close()
    expect(left).toBe(right as number)
    counts.push(left ?? 0)
  }
  await child.kill()
  // It went on writing all the while.
  expect(counts.at(-1)).toBeGreaterThan(counts[0] ?? 0)
})

test("a copy is for its owner alone, tells what it holds, and leaves nothing beside it", async () => {
  const path = tempPath("mailkind.sqlite")
  await newAccount(tempLog(await tempStore(path)))
  const to = join(dirname(tempPath()), "backup")
  const copied = copyDatabase(path, to, { isNew: true })
  expect(copied).toEqual({ path: to, bytes: statSync(to).size, accountsCount: 1, keysCount: 0, head: KNOWN_HEAD })
  expect(statSync(to).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(to))).toEqual(["backup"])
})

test("a file that is there is replaced only where that is wanted", async () => {
  const path = tempPath("mailkind.sqlite")
  await tempStore(path)
  const to = tempPath("backup")
  writeFileSync(to, "mine")
  chmodSync(to, 0o644)
  expect(copyDatabase(path, to, { isNew: true })).toBeNull()
  expect(readFileSync(to, "utf8")).toBe("mine")
  expect(copyDatabase(path, to, { isNew: false })).not.toBeNull()
  expect(statSync(to).mode & 0o777).toBe(0o600)
  expect(verifiedCopy(to).head).toBe(KNOWN_HEAD)
})

test("a copy of another migration than the one that is wanted is not made", async () => {
  const path = tempPath("mailkind.sqlite")
  await tempStore(path)
  const to = join(dirname(path), "copy")
  expect(copyDatabase(path, to, { isNew: false, head: KNOWN_HEAD - 1 })).toBeNull()
  expect(existsSync(to)).toBe(false)
})

test("a damaged database is not copied, and a place that cannot be written is a fault; nothing is left of either", async () => {
  const path = tempPath("mailkind.sqlite")
  const store = await openSqlite(path, () => 1)
  await newAccount(tempLog(store))
  await store.close()
  writeFileSync(path, readFileSync(path).fill(0xff, 4096 * 8, 4096 * 9))
  const to = join(dirname(path), "copy")
  expect(() => copyDatabase(path, to, { isNew: true })).toThrow(StoreFault)
  expect(readdirSync(dirname(path)).filter(name => name.startsWith("copy"))).toEqual([])
  expect(() => copyDatabase(path, "/proc/copy", { isNew: true })).toThrow(StoreFault)
})

test("what a killed process left of a copy is removed by the next one, and that of one that runs is not", async () => {
  const path = tempPath("mailkind.sqlite")
  await tempStore(path)
  const to = join(dirname(path), "copy")
  const child = await spawnChild(["hold", path], "holds")
  const [gone, alive] = [`${to}.${2 ** 22 - 1}.half`, `${to}.${child.pid}.half`]
  for (const half of [gone, alive, `${to}.${process.pid}.half`]) writeFileSync(half, "half")
  expect(copyDatabase(path, to, { isNew: true })).not.toBeNull()
  expect([existsSync(gone), existsSync(alive), existsSync(`${to}.${process.pid}.half`)]).toEqual([false, true, false])
})
