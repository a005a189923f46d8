import { Database } from "bun:sqlite"
import { expect, setDefaultTimeout, test } from "bun:test"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { backUpDatabase, verifyBackup } from "../../../../src/customers/store/backup/backup.ts"
import { StoreError } from "../../../../src/customers/store/core/store-error.ts"
import { SCHEMA_VERSION } from "../../../../src/customers/store/migrations/migrations.ts"
import { createPrivateFile } from "../../../../src/customers/store/sqlite/database-file.ts"
import { openSqlite } from "../../../../src/customers/store/sqlite-store.ts"
import { newAccount, tempLog, tempPath, tempStore } from "../../temp-store.ts"
import { createOlderDatabase } from "../migrations/older-database.ts"
import { spawnRestoreChild } from "./spawn-restore-child.ts"

setDefaultTimeout(300_000)

test("each backup of a database that another process writes is consistent and complete", async () => {
  const path = tempPath("mailkind.sqlite")
  const child = await spawnRestoreChild(["write", path], "writes")
  const counts: number[] = []
  for (let at = 0; at < 20; at++) {
    const to = join(dirname(path), `copy-${at}`)
    expect(backUpDatabase(path, to, { mustNotExist: true })).toMatchObject({ path: to })
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

test("a backup is readable by its owner only, describes its contents, and leaves no other files", async () => {
  const path = tempPath("mailkind.sqlite")
  await newAccount(tempLog(await tempStore(path)))
  const to = join(dirname(tempPath()), "backup")
  const copied = backUpDatabase(path, to, { mustNotExist: true })
  expect(copied).toEqual({
    path: to,
    bytes: statSync(to).size,
    accountsCount: 1,
    keysCount: 0,
    schemaVersion: SCHEMA_VERSION,
  })
  expect(statSync(to).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(to))).toEqual(["backup"])
})

test("an existing file is replaced only on request", async () => {
  const path = tempPath("mailkind.sqlite")
  await tempStore(path)
  const to = tempPath("backup")
  writeFileSync(to, "mine")
  chmodSync(to, 0o644)
  expect(backUpDatabase(path, to, { mustNotExist: true })).toBeNull()
  expect(readFileSync(to, "utf8")).toBe("mine")
  expect(backUpDatabase(path, to, { mustNotExist: false })).not.toBeNull()
  expect(statSync(to).mode & 0o777).toBe(0o600)
  expect(verifyBackup(to).schemaVersion).toBe(SCHEMA_VERSION)
})

test("a backup of another schema version than the requested one is not made", async () => {
  const path = tempPath("mailkind.sqlite")
  await tempStore(path)
  const to = join(dirname(path), "copy")
  expect(backUpDatabase(path, to, { mustNotExist: false, schemaVersion: SCHEMA_VERSION - 1 })).toBeNull()
  expect(existsSync(to)).toBe(false)
})

test("a damaged database and an unwritable target are errors, and nothing is left behind", async () => {
  const path = tempPath("mailkind.sqlite")
  const store = await openSqlite(path, () => 1)
  await newAccount(tempLog(store))
  await store.close()
  writeFileSync(path, readFileSync(path).fill(0xff, 4096 * 8, 4096 * 9))
  const to = join(dirname(path), "copy")
  expect(() => backUpDatabase(path, to, { mustNotExist: true })).toThrow(StoreError)
  expect(readdirSync(dirname(path)).filter(name => name.startsWith("copy"))).toEqual([])
  expect(() => backUpDatabase(path, "/proc/copy", { mustNotExist: true })).toThrow(StoreError)
})

test("the partial copy of a killed process is removed by the next backup, that of a running one is not", async () => {
  const path = tempPath("mailkind.sqlite")
  await tempStore(path)
  const to = join(dirname(path), "copy")
  const child = await spawnRestoreChild(["hold", path], "holds")
  const [gone, alive] = [`${to}.${2 ** 22 - 1}.half`, `${to}.${child.pid}.half`]
  for (const half of [gone, alive, `${to}.${process.pid}.half`]) writeFileSync(half, "half")
  expect(backUpDatabase(path, to, { mustNotExist: true })).not.toBeNull()
  expect([existsSync(gone), existsSync(alive), existsSync(`${to}.${process.pid}.half`)]).toEqual([false, true, false])
})

const ATTEMPTS_MAX = 5

/** Runs a backup in a process of its own to `to`, and calls `attack` with its partial file while it is stopped. Its exit code. */
async function attackedBackup(to: string, attack: (partialPath: string) => void) {
  const path = createOlderDatabase(3, 20_000)
  for (;;) {
    const child = await spawnRestoreChild(["backup", path, to], null)
    const ended = child.ended()
    const state = { isOver: false, partialName: "" }
    void ended.then(() => {
      state.isOver = true
    })
    while (!state.isOver && state.partialName === "") {
      state.partialName = readdirSync(dirname(to)).find(name => name.endsWith(".half")) ?? ""
      await new Promise(resolve => setImmediate(resolve))
    }
    if (!state.isOver) process.kill(child.pid, "SIGSTOP")
    const partialPath = join(dirname(to), state.partialName)
    // It may have ended before it was stopped.
    if (!state.isOver && existsSync(partialPath)) {
      attack(partialPath)
      process.kill(child.pid, "SIGCONT")
      return { code: await ended, partialName: state.partialName }
    }
    if (!state.isOver) process.kill(child.pid, "SIGCONT")
    await ended
    rmSync(to, { force: true })
  }
}

test("nobody can guess the name of a partial copy", async () => {
  const { code, partialName } = await attackedBackup(tempPath("copy"), () => undefined)
  expect(code).toBe(0)
  expect(partialName).toMatch(/^copy\.\d+\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.half$/)
})

test("a backup fails when its partial copy was replaced, linked elsewhere or made readable for others meanwhile", async () => {
  const attacks: readonly ((partialPath: string, theirs: string) => void)[] = [
    (partialPath, theirs) => renameSync(theirs, partialPath),
    (partialPath, theirs) => {
      rmSync(partialPath)
      symlinkSync(theirs, partialPath)
    },
    partialPath => chmodSync(partialPath, 0o644),
  ]
  for (const attack of attacks) {
    const codes: unknown[] = []
    // An attack that comes between the last look at the file and its renaming is too late to be seen, and rare.
    while (codes.at(-1) !== 1 && codes.length < ATTEMPTS_MAX) {
      const [to, theirs] = [tempPath("copy"), createOlderDatabase(3, 1)]
      codes.push((await attackedBackup(to, partialPath => attack(partialPath, theirs))).code)
      if (codes.at(-1) === 1) expect(existsSync(to)).toBe(false)
    }
    expect(codes.at(-1)).toBe(1)
  }
})

test("a private file is created only where nothing is, and whatever is there stays as it is", () => {
  const victim = tempPath("victim")
  const obstacles: readonly ((path: string) => void)[] = [
    path => writeFileSync(path, "theirs"),
    path => linkSync(victim, path),
    path => symlinkSync(victim, path),
    path => symlinkSync(`${victim}-missing`, path),
    path => mkdirSync(path),
  ]
  writeFileSync(victim, "theirs")
  for (const place of obstacles) {
    const path = tempPath("copy")
    place(path)
    const before = lstatSync(path)
    expect(() => createPrivateFile(path)).toThrow(StoreError)
    expect(lstatSync(path)).toEqual(before)
  }
  expect([readFileSync(victim, "utf8"), existsSync(`${victim}-missing`)]).toEqual(["theirs", false])
})

test("a private file tells when its name leads elsewhere or its mode is another", () => {
  const created = () => createPrivateFile(tempPath("copy"))
  const file = created()
  expect([file.isUnchanged(), statSync(file.path).mode & 0o777]).toEqual([true, 0o600])
  const copied = `${file.path}-2`
  copyFileSync(file.path, copied)
  renameSync(copied, file.path)
  expect(file.isUnchanged()).toBe(false)
  const readable = created()
  chmodSync(readable.path, 0o640)
  expect(readable.isUnchanged()).toBe(false)
  const removed = created()
  rmSync(removed.path)
  expect(removed.isUnchanged()).toBe(false)
  for (const { close } of [file, readable, removed]) close()
})

test("a backup has neither the jobs nor the keys of their files, in no byte of it", async () => {
  const path = tempPath("mailkind.sqlite")
  const store = await tempStore(path)
  const accountId = await newAccount(tempLog(store))
  const insert =
    "INSERT INTO jobs (id, account_id, key_id, state, format, has_header, policy, includes_tenant, file_key, created_at_ms) VALUES ($1, $2, 'k', 'done', 'csv', 1, 'b2b', 1, $3, 1)"
  for (let at = 0; at < 500; at++) await store.run(insert, [`job_${at}`, accountId, `FILEKEY${at}`.padEnd(44, "=")])
  const to = join(dirname(tempPath()), "backup")
  backUpDatabase(path, to, { mustNotExist: true })
  expect(verifyBackup(to).accountsCount).toBe(1)
  expect(readFileSync(to, "latin1")).not.toContain("FILEKEY")
  expect(await store.one("SELECT COUNT(*) AS count FROM jobs")).toEqual({ count: 500 })
})

// A file system of its own is root's to make.
const canMount = process.getuid?.() === 0 && Bun.which("unshare") !== null

const IS_WRITING = "[ -s copy.*.half ]"

/** What a backup over an older one says and leaves on a disk with so much room, where `beside` runs meanwhile and goes first. */
async function backedUpOnSmallDisk(roomBytes: (needed: number) => number, beside: string) {
  const path = createOlderDatabase(SCHEMA_VERSION)
  {
    using database = new Database(path)
    database.run("UPDATE accounts SET suspension_reason = hex(zeroblob(10000000))")
  }
  const room = join(dirname(path), "room")
  mkdirSync(room)
  const inside = `mount -t tmpfs -o size=${roomBytes(statSync(path).size)} tmpfs "$1" && cd "$1" && echo older > copy || exit 1
    { ${beside}; } & nice -n 19 "$2" "$3" backup "$4" "$1/copy"; touch ../ended; wait; rm -f filler; ls; cat copy`
  const words = [room, process.execPath, join(import.meta.dir, "restore-child.ts"), path]
  const child = Bun.spawn(["unshare", "--mount", "--propagation", "private", "sh", "-c", inside, "sh", ...words], {
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { needed: statSync(path).size, err, left: out.trim().split("\n") }
}

test.skipIf(!canMount)(
  "a disk without room is told with its bytes before anything is written, and the older backup stays",
  async () => {
    const tells = `until [ -e ../ended ]; do ! ${IS_WRITING} || touch written; done`
    const { needed, err, left } = await backedUpOnSmallDisk(bytes => Math.floor(bytes / 8192) * 4096, tells)
    expect(err).toMatch(
      new RegExp(`The disk is full\\. \\S+/room: the copy needs up to ${needed} bytes, and \\d+ were free`),
    )
    expect(left).toEqual(["copy", "older"])
  },
)

test.skipIf(!canMount)(
  "a disk that fills while it is backed up to leaves the older backup and no other file",
  async () => {
    const fills = `until ${IS_WRITING}; do :; done; cat /dev/zero > filler 2>/dev/null`
    const { needed, err, left } = await backedUpOnSmallDisk(bytes => bytes + 65_536, fills)
    expect(err).toMatch(
      new RegExp(`The disk is full\\. \\S+/room: the copy needs up to ${needed} bytes, and \\d+ were free`),
    )
    expect(left).toEqual(["copy", "older"])
  },
)
