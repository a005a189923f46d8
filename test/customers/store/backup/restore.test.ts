import { Database } from "bun:sqlite"
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { DAY_MS } from "../../../../src/base/time.ts"
import { findAccount, removeAccount } from "../../../../src/customers/accounts/accounts.ts"
import { suspendAccount } from "../../../../src/customers/accounts/suspension.ts"
import { changeKey } from "../../../../src/customers/keys/key-changes.ts"
import { NO_CEILING } from "../../../../src/customers/keys/key-restrictions.ts"
import { createKey, findKey, revokeKey } from "../../../../src/customers/keys/keys.ts"
import { isRequestLogOn, switchRequestLogOff } from "../../../../src/customers/request-log/request-log-switch.ts"
import { readRequests } from "../../../../src/customers/request-log/request-rows.ts"
import { backUpDatabase } from "../../../../src/customers/store/backup/backup.ts"
import { readDeletedAccounts, recordDeletedAccount } from "../../../../src/customers/store/backup/deleted-accounts.ts"
import { checkBackup, type RestoreStep, restoreDatabase } from "../../../../src/customers/store/backup/restore.ts"
import { latestChangeId, readChangesSince } from "../../../../src/customers/store/change-log/change-log.ts"
import { createChangePoller } from "../../../../src/customers/store/change-log/change-poller.ts"
import { writeConfirmedTime } from "../../../../src/customers/store/confirmed-time.ts"
import { StoreError } from "../../../../src/customers/store/core/store-error.ts"
import { SCHEMA_VERSION } from "../../../../src/customers/store/migrations/migrations.ts"
import { openSqlite } from "../../../../src/customers/store/sqlite-store.ts"
import { onTestEnd } from "../../../support/on-test-end.ts"
import { ALL } from "../../request-log/logged-store.ts"
import { newAccount, random, tempLog, tempPath } from "../../temp-store.ts"
import { createOlderDatabase } from "../migrations/older-database.ts"
import { spawnRestoreChild } from "./spawn-restore-child.ts"

setDefaultTimeout(300_000)

const now = () => 1_000

/** A closed database with these accounts, and a backup of its first state. */
async function backedUp(
  after: (store: Awaited<ReturnType<typeof openSqlite>>) => Promise<void> = async () => undefined,
) {
  const path = tempPath("mailkind.sqlite")
  const backup = join(dirname(path), "backup")
  const store = await openSqlite(path, now)
  const accountId = await newAccount(tempLog(store), "first@example.com")
  expect(backUpDatabase(path, backup, { mustNotExist: true })).toMatchObject({ accountsCount: 1 })
  await newAccount(tempLog(store), "second@example.com")
  await after(store)
  await store.close()
  return { path, backup, accountId }
}

async function emailsIn(path: string): Promise<string[]> {
  const store = await openSqlite(path, now)
  const rows = await store.all<{ email: string }>("SELECT email FROM accounts ORDER BY email")
  await store.close()
  return rows.map(({ email }) => email)
}

const codeOf = (work: () => unknown): string => {
  try {
    work()
    return "done"
  } catch (error) {
    if (error instanceof StoreError) return error.code
    throw error
  }
}

test("the backup replaces the database, which is kept, and nothing else is left behind", async () => {
  const { path, backup } = await backedUp()
  const restored = restoreDatabase(backup, path, "then")
  expect(restored).toMatchObject({
    path,
    accountsCount: 1,
    previousPath: `${path}.replaced-then`,
    merged: { lostAccountsCount: 1 },
  })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const names = readdirSync(dirname(path)).map(name => name.replace("mailkind.sqlite", ""))
  expect(names.sort()).toEqual(["", ".lock", ".replaced-then", "backup"])
  expect(await emailsIn(path)).toEqual(["first@example.com"])
  expect(await emailsIn(`${path}.replaced-then`)).toEqual(["first@example.com", "second@example.com"])
})

test("the write-ahead log of a killed server is kept with its database and never applied to the new one", async () => {
  const { path, backup } = await backedUp()
  const crashed = join(dirname(path), "crashed.sqlite")
  const store = await openSqlite(path, now)
  await newAccount(tempLog(store), "in-the-log@example.com")
  for (const ending of ["", "-wal", "-shm"]) copyFileSync(path + ending, crashed + ending)
  await store.close()
  const { previousPath } = restoreDatabase(backup, crashed, "then")
  expect(await emailsIn(crashed)).toEqual(["first@example.com"])
  expect(await emailsIn(previousPath ?? "")).toContain("in-the-log@example.com")
})

test("a host without a database gets one", async () => {
  const { backup } = await backedUp()
  const path = join(dirname(tempPath()), "new", "data", "mailkind.sqlite")
  expect(restoreDatabase(backup, path, "then")).toMatchObject({ previousPath: null, merged: null })
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
  expect(await emailsIn(path)).toEqual(["first@example.com"])
})

test("a file that is damaged or no database is kept and replaced", async () => {
  const { path, backup } = await backedUp()
  writeFileSync(path, "broken ".repeat(10_000))
  writeFileSync(`${path}-wal`, "broken too")
  expect(restoreDatabase(backup, path, "then")).toMatchObject({ merged: null })
  expect(readFileSync(`${path}.replaced-then`, "utf8")).toStartWith("broken broken")
  expect(await emailsIn(path)).toEqual(["first@example.com"])
})

describe("a restore is refused, and changes nothing, with", () => {
  const unchanged = async (prepare: (backup: string) => void): Promise<string> => {
    const { path, backup } = await backedUp()
    prepare(backup)
    const before = readFileSync(path)
    const code = codeOf(() => restoreDatabase(backup, path, "then"))
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(readdirSync(dirname(path)).filter(name => /restor|replaced/.test(name))).toEqual([])
    return code
  }

  test("a backup with a damaged page, a truncated one, and a file that is no backup", async () => {
    expect(await unchanged(backup => writeFileSync(backup, readFileSync(backup).fill(0xff, 8192, 12_288)))).toBe(
      "damaged",
    )
    expect(await unchanged(backup => writeFileSync(backup, readFileSync(backup).subarray(0, 50_000)))).toBe("damaged")
    expect(await unchanged(backup => writeFileSync(backup, "a text ".repeat(1000)))).toBe("not_a_database")
    expect(await unchanged(backup => writeFileSync(backup, ""))).toBe("damaged")
  })

  test("a backup of a newer version", async () => {
    const code = await unchanged(backup => {
      const database = new Database(backup)
      database.run("INSERT INTO migrations VALUES (999, 'the future', 1)")
      database.close()
    })
    expect(code).toBe("newer")
  })

  test("any backup, while a process has the database open, whether it runs or is suspended", async () => {
    const { path, backup } = await backedUp()
    const child = await spawnRestoreChild(["hold", path], "holds")
    expect(codeOf(() => restoreDatabase(backup, path, "then"))).toBe("busy")
    process.kill(child.pid, "SIGSTOP")
    expect(codeOf(() => restoreDatabase(backup, path, "then"))).toBe("busy")
    await child.kill()
    expect(codeOf(() => restoreDatabase(backup, path, "then"))).toBe("done")
  })

  test("any backup, while this process has the database open", async () => {
    const { path, backup } = await backedUp()
    const store = await openSqlite(path, now)
    expect(codeOf(() => restoreDatabase(backup, path, "then"))).toBe("busy")
    await store.close()
    expect(codeOf(() => restoreDatabase(backup, path, "then"))).toBe("done")
  })

  test("any backup, while another program has the database open without our lock", async () => {
    const { path, backup } = await backedUp()
    const other = new Database(path)
    other.query("SELECT * FROM accounts").all()
    expect(codeOf(() => restoreDatabase(backup, path, "then"))).toBe("busy")
    other.close()
  })

  test("any backup, when another program opens the database while the backup is copied", async () => {
    const { path, backup } = await backedUp()
    const onStep = (): void => {
      const other = new Database(path)
      onTestEnd(() => other.close())
      other.run("PRAGMA journal_mode = WAL")
      other.query("SELECT * FROM accounts").all()
    }
    expect(codeOf(() => restoreDatabase(backup, path, "then", { onStep }))).toBe("busy")
    expect(readdirSync(dirname(path)).filter(name => /\.re(?:stor|plac)/.test(name))).toEqual([])
  })
})

test("a staged copy of a killed restore is removed by the next process that opens or restores the database", async () => {
  const { path, backup } = await backedUp()
  const left = [`${path}.restoring`, `${path}.restoring-journal`]
  for (const file of left) writeFileSync(file, "half ".repeat(10_000))
  expect(restoreDatabase(backup, path, "then")).toMatchObject({ accountsCount: 1 })
  for (const file of left) writeFileSync(file, "half")
  expect(await emailsIn(path)).toEqual(["first@example.com"])
  expect(left.map(file => existsSync(file))).toEqual([false, false])
})

// A file system of its own is root's to make.
const canMount = process.getuid?.() === 0 && Bun.which("unshare") !== null

test.skipIf(!canMount)("a disk that is full leaves the database as it was, and no file behind", async () => {
  const { path, backup } = await backedUp()
  const script = join(import.meta.dir, "restore-child.ts")
  // Room for the database and half of a second one.
  const roomBytes = Math.ceil(statSync(backup).size * 1.5)
  const inside = `mount -t tmpfs -o size=${roomBytes} tmpfs "$1" && cp "$2" "$1/mailkind.sqlite" && "$3" "$4" restore "$1/mailkind.sqlite" "$2"; ls "$1"; "$3" "$4" count "$1/mailkind.sqlite"`
  const room = join(dirname(path), "room")
  mkdirSync(room)
  const words = [room, backup, process.execPath, script]
  const child = Bun.spawn(["unshare", "--mount", "--propagation", "private", "sh", "-c", inside, "sh", ...words], {
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect(err).toMatch(/The disk is full\. \S+\/room: the copy needs up to \d+ bytes, and \d+ were free/)
  expect(out.trim().split("\n")).toEqual(["mailkind.sqlite", "mailkind.sqlite.lock", "1"])
})

describe("a restore that is killed at the step", () => {
  const STEPS = {
    staged: false,
    previous_saved: false,
    committed: true,
    log_removed: true,
    replaced: true,
  } as const satisfies {
    readonly [S in RestoreStep]: boolean
  }
  for (const [step, hasHappened] of Object.entries(STEPS))
    test(`${step}, it has happened ${hasHappened ? "whole" : "not at all"}, and can be done again`, async () => {
      const { path, backup } = await backedUp()
      const child = await spawnRestoreChild(["restore", path, backup, step], null)
      expect(await child.ended()).toBe("SIGKILL")
      const second = hasHappened ? [] : ["second@example.com"]
      expect(await emailsIn(path)).toEqual(["first@example.com", ...second])
      expect(existsSync(`${path}.restored`)).toBe(false)
      restoreDatabase(backup, path, "again")
      expect(await emailsIn(path)).toEqual(["first@example.com"])
      expect(readdirSync(dirname(path)).filter(name => name.startsWith(`${basename(path)}.restor`))).toEqual([])
    })
})

test("a log of the previous database that is still there when a restore is finished is not applied to the new one", async () => {
  const { path, backup } = await backedUp()
  await (await spawnRestoreChild(["restore", path, backup, "committed"], null)).ended()
  const other = tempPath("other.sqlite")
  const store = await openSqlite(other, now)
  await newAccount(tempLog(store), "of-the-log@example.com")
  copyFileSync(`${other}-wal`, `${path}-wal`)
  await store.close()
  expect(await emailsIn(path)).toEqual(["first@example.com"])
})

test("a restore that was broken off is not finished while another program has the previous database open", async () => {
  const { path, backup } = await backedUp()
  await (await spawnRestoreChild(["restore", path, backup, "committed"], null)).ended()
  const other = new Database(path)
  other.run("PRAGMA journal_mode = WAL")
  other.query("SELECT * FROM accounts").all()
  const opening = openSqlite(path, now).then(
    () => "opened",
    (error: StoreError) => error.code,
  )
  expect(await opening).toBe("busy")
  expect(existsSync(`${path}.restored`)).toBe(true)
  other.close()
  expect(await emailsIn(path)).toEqual(["first@example.com"])
})

describe("a restore merges what happened since the backup:", () => {
  test("a key that ended so long ago that its row is gone is revoked, and no other one", async () => {
    const path = tempPath("mailkind.sqlite")
    const backup = join(dirname(path), "backup")
    const store = await openSqlite(path, now)
    const log = tempLog(store)
    const accountId = await newAccount(log)
    const create = async (): Promise<string> => {
      const made = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
      if (made.kind !== "created") throw new Error(made.kind)
      return made.key.id
    }
    const [forgotten, justForgotten, kept, young] = [await create(), await create(), await create(), await create()]
    const setAge = (id: string, days: number) =>
      store.run("UPDATE keys SET created_at_ms = created_at_ms - $2 WHERE id = $1", [id, days * DAY_MS])
    await setAge(forgotten, 401)
    await setAge(kept, 401)
    // The newest time is stored once in a while, so that it may be of before the deletion.
    await setAge(justForgotten, 399.9)
    await setAge(young, 399)
    backUpDatabase(path, backup, { mustNotExist: true })
    await writeConfirmedTime(store, { confirmedAtMs: now(), heldMs: 0 }, 0)
    await store.run("DELETE FROM keys WHERE id IN ($1, $2, $3)", [forgotten, justForgotten, young])
    await store.close()
    expect(restoreDatabase(backup, path, "then").merged).toMatchObject({ revokedCount: 2 })
    const after = await openSqlite(path, now)
    const revoked = await after.all<{ id: string }>("SELECT id FROM keys WHERE revoked_at_ms IS NOT NULL")
    expect(revoked.map(({ id }) => id).sort()).toEqual([forgotten, justForgotten].sort())
    await after.close()
  })

  test("revocations, units and the ends of mails stay, and all sessions end", async () => {
    const path = tempPath("mailkind.sqlite")
    const backup = join(dirname(path), "backup")
    const store = await openSqlite(path, now)
    const log = tempLog(store)
    const accountId = await newAccount(log)
    const made = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
    if (made.kind !== "created") throw new Error(made.kind)
    await store.run("INSERT INTO units VALUES ('acc_1', 20, 100), ('acc_2', 20, 100)")
    await store.run("INSERT INTO sessions VALUES ('s', 'h', $1, 'a', 1, 1)", [accountId])
    backUpDatabase(path, backup, { mustNotExist: true })
    await revokeKey(log, made.key.id, "owner")
    await store.run("UPDATE units SET leased = 900 WHERE subject = 'acc_1'")
    await store.run("UPDATE units SET leased = 50 WHERE subject = 'acc_2'")
    await store.run("INSERT INTO units VALUES ('acc_1', 21, 7)")
    await store.run("UPDATE outbox SET ending = 'sent', ended_at_ms = 9 WHERE notice = 'key_created'")
    await store.run("DELETE FROM sessions")
    await store.close()
    expect(restoreDatabase(backup, path, "then").merged).toEqual({
      ...{ revokedCount: 1, unitsCount: 2, mailsCount: 1, lostAccountsCount: 0, returnedAccountsCount: 0 },
    })
    const after = await openSqlite(path, now)
    expect(await after.all<unknown>("SELECT revoked_by FROM keys")).toEqual([{ revoked_by: "owner" }])
    expect(await after.all<unknown>("SELECT subject, day, leased FROM units ORDER BY subject, day")).toEqual([
      { subject: "acc_1", day: 20, leased: 900 },
      { subject: "acc_1", day: 21, leased: 7 },
      // What was given back counts as used: too many is no promise broken.
      { subject: "acc_2", day: 20, leased: 100 },
    ])
    expect(await after.all<unknown>("SELECT ending FROM outbox WHERE notice = 'key_created'")).toEqual([
      { ending: "sent" },
    ])
    expect(await after.all("SELECT id FROM sessions")).toEqual([])
    await after.close()
  })

  test("keys and accounts stay as restricted as they were last, and logged requests that were deleted stay unseen", async () => {
    const path = tempPath("mailkind.sqlite")
    const backup = join(dirname(path), "backup")
    const store = await openSqlite(path, now)
    const log = tempLog(store)
    const accountId = await newAccount(log)
    const made = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
    const origins = ["https://old.example", "https://both.example"]
    const page = await createKey(log, random, { accountId, kind: "publishable", name: null, origins })
    if (made.kind !== "created" || page.kind !== "created") throw new Error("no key")
    await store.run(
      `INSERT INTO request_log VALUES ($1, ${now()}, 1, 'key_1', 'r', 200, '', '', '', '', 'acme.com', 1, 1, 0, '', 0, '')`,
      [accountId],
    )
    backUpDatabase(path, backup, { mustNotExist: true })
    const restrictions = { expiresAtMs: 9_000, unitsPerDay: 5, requestsPerSecond: 2, networks: ["192.0.2.0/24"] }
    await changeKey(log, made.key.id, { restrictions }, NO_CEILING)
    await changeKey(log, page.key.id, { origins: ["https://both.example", "https://new.example"] })
    await suspendAccount(log, accountId, "spam")
    await switchRequestLogOff(log, accountId)
    await createKey(log, random, { accountId, kind: "publishable", name: null, origins: ["https://gone.example"] })
    await store.close()
    restoreDatabase(backup, path, "then")
    const after = await openSqlite(path, now)
    expect(await findKey(after, made.key.id)).toMatchObject(restrictions)
    expect((await findKey(after, page.key.id))?.origins).toEqual(["https://both.example", "https://new.example"])
    expect(await after.all<unknown>("SELECT origin, key_id FROM key_origins ORDER BY origin")).toEqual([
      { origin: "https://both.example", key_id: page.key.id },
      { origin: "https://new.example", key_id: page.key.id },
    ])
    expect((await findAccount(after, accountId))?.suspensionReason).toBe("spam")
    expect(await isRequestLogOn(after, accountId)).toBe(false)
    const before = await readRequests(after, accountId, now(), { filter: ALL, before: null, countMax: 10 })
    expect(before).toEqual([])
    await after.close()
  })

  test("a previous database of an earlier version leaves what it does not know as it is in the backup", async () => {
    const [backup, path] = [createOlderDatabase(SCHEMA_VERSION), createOlderDatabase(17)]
    using written = new Database(backup)
    written.run("UPDATE accounts SET suspended_at_ms = 5, suspension_reason = 'spam', request_log_from_ms = 7")
    expect(restoreDatabase(backup, path, "then").merged).not.toBeNull()
    const after = await openSqlite(path, now)
    const kept = await after.all<unknown>("SELECT suspension_reason, request_log_from_ms FROM accounts")
    expect(kept).toEqual([{ suspension_reason: "spam", request_log_from_ms: 7 }])
    await after.close()
  })

  test("accounts that were deleted come back and are counted", async () => {
    const { path, backup } = await backedUp(async store => void (await store.run("DELETE FROM accounts")))
    expect(restoreDatabase(backup, path, "then").merged).toMatchObject({
      returnedAccountsCount: 1,
      lostAccountsCount: 0,
    })
  })

  test("a reader of the change log that continues from before gets `lost`", async () => {
    let since = 0
    const { path, backup } = await backedUp(async store => {
      since = await latestChangeId(store)
    })
    restoreDatabase(backup, path, "then")
    const store = await openSqlite(path, now)
    for (let at = 0; at <= since; at++) {
      // The changes from before the backup are returned, and then `lost`.
      let read = await readChangesSince(store, at)
      while (read.kind === "read" && read.changes.length > 0) read = await readChangesSince(store, read.lastId)
      expect(read.kind).toBe("lost")
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    createChangePoller(store, [{ applyChanges: () => undefined, invalidateAll: resolve }], since, () => undefined)()
    await promise
    await store.close()
  })
})

test("a backup of an older version is migrated when it is opened, and a copy of it is kept", async () => {
  const { path } = await backedUp()
  expect(restoreDatabase(createOlderDatabase(8), path, "then")).toMatchObject({ schemaVersion: 8 })
  expect(await emailsIn(path)).toEqual(["a0@b.c"])
  expect(existsSync(`${path}.before-9`)).toBe(true)
})

test("a restore is recorded with the operator and the time of the backup, unless the backup is older than the trail", async () => {
  const { path, backup } = await backedUp(async () => undefined)
  utimesSync(backup, 86_400, 86_400)
  const act = { kind: "database_restored", operatorId: "ada", atMs: 5 }
  restoreDatabase(backup, path, "then", { act })
  const store = await openSqlite(path, now)
  expect(await store.all("SELECT admin_id, details, at_ms, source FROM admin_acts WHERE act = $1", [act.kind])).toEqual(
    [{ admin_id: "ada", details: "the backup of 1970-01-02T00:00:00.000Z", at_ms: 5, source: "command" }],
  )
  await store.close()
  expect(restoreDatabase(createOlderDatabase(8), path, "again", { act })).toMatchObject({ schemaVersion: 8 })
})

describe("accounts that were deleted since the backup", () => {
  test("stay deleted, with their rows, as the previous database and the ids beside the backup know them", async () => {
    const { path, backup, accountId } = await backedUp(async store => {
      const log = tempLog(store)
      const [row] = await store.all<{ id: string }>("SELECT id FROM accounts WHERE email = 'first@example.com'")
      await removeAccount(log, row?.id ?? "")
    })
    expect(restoreDatabase(backup, path, "then")).toMatchObject({ deletedAgainCount: 1, accountsCount: 0 })
    const store = await openSqlite(path, now)
    for (const table of ["keys", "units", "usage"]) expect(await store.all(`SELECT 1 FROM ${table}`)).toEqual([])
    const acts = await store.all<{ act: string }>("SELECT act FROM admin_acts WHERE account_id = $1 ORDER BY act", [
      accountId,
    ])
    expect(acts.map(({ act }) => act)).toEqual(["account_created", "account_deleted"])
    await store.close()
  })

  test("stay deleted also where the previous database is lost", async () => {
    const { backup, accountId } = await backedUp()
    const directory = dirname(backup)
    for (const id of [accountId, "acc_unknown"]) recordDeletedAccount(directory, { id, atMs: 5_000 })
    const target = tempPath("mailkind.sqlite")
    const restored = restoreDatabase(backup, target, "then", { deleted: readDeletedAccounts([directory]) })
    expect(restored).toMatchObject({ deletedAgainCount: 1, accountsCount: 0, merged: null })
    expect(await emailsIn(target)).toEqual([])
  })
})

describe("a check", () => {
  test("tells what a backup holds and changes nothing", async () => {
    const { path, backup } = await backedUp()
    const before = readFileSync(path)
    expect(checkBackup(backup)).toMatchObject({ accountsCount: 1, schemaVersion: SCHEMA_VERSION })
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(readdirSync(dirname(path)).filter(name => name.includes("restor"))).toEqual([])
  })

  test.each([0.1, 0.5, 0.99])(
    "says of a backup of which %p is there that it is cut, and how much is missing",
    async share => {
      const { backup } = await backedUp()
      const bytes = readFileSync(backup)
      const kept = Math.floor(bytes.length * share)
      writeFileSync(backup, bytes.subarray(0, kept))
      for (const work of [() => checkBackup(backup), () => restoreDatabase(backup, tempPath(), "then")])
        expect(work).toThrow(`it is cut: it has ${kept} of ${bytes.length} bytes`)
    },
  )

  test("says of another file that it is no database", async () => {
    const path = tempPath("notes")
    writeFileSync(path, "x".repeat(5000))
    expect(codeOf(() => checkBackup(path))).toBe("not_a_database")
    writeFileSync(path, "")
    expect(codeOf(() => checkBackup(path))).not.toBe("done")
  })
})
