import { describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Log } from "../../../src/base/log.ts"
import { openActivePack, openListsForCommand, readListsDamage } from "../../../src/check/active-lists/lists-in-place.ts"
import { createListsService, LISTS_COMPARE_MS } from "../../../src/check/active-lists/lists-service.ts"
import { formatManifest } from "../../../src/check/lists/manifest.ts"
import {
  formatRefreshState,
  INITIAL_REFRESH_STATE,
  manifestFileName,
  packFileName,
  type RefreshState,
  STATE_FILE,
} from "../../../src/check/refresh/refresh-state.ts"
import { parseSettings } from "../../../src/config/settings.ts"
import type { SystemFiles } from "../../../src/system/files.ts"
import { createSystem } from "../../../src/system/system.ts"
import { knownLists, type Logged } from "../../support/app.ts"
import { smallPack } from "../lists/pack/small-pack.ts"

const STOCK = knownLists.manifest.pack.sha256
const SHA256 = { one: "1".repeat(64), two: "2".repeat(64) } as const

/** A data directory, with what a refresh has left there, and the lists that a server takes from it. */
function dataDirectory() {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-in-place-"))
  const folder = join(directory, "lists", "refresh")
  mkdirSync(folder, { recursive: true })
  const read = parseSettings({ MAILKIND_DATA_DIR: directory })
  if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
  const { settings } = read
  const logged: Logged[] = []
  const world = createSystem()
  const works = new Map<number, () => void>()
  const runInterval = (ms: number, work: () => void) => {
    works.set(ms, work)
    return () => undefined
  }
  const disk = { isFull: false, isReadOnly: false, hasDamagedPack: false }
  const files: SystemFiles = {
    ...world.files,
    bundled: name => (disk.hasDamagedPack && name === "lists.pack" ? new Blob(["no pack"]) : world.files.bundled(name)),
    folder: path => ({
      ...world.files.folder(path),
      writeAtomic: async (name, bytes) => {
        if (disk.isFull || disk.isReadOnly) throw Object.assign(new Error("no space"), { code: "ENOSPC" })
        await world.files.folder(path).writeAtomic(name, bytes)
      },
      createExclusive: async (name, text) => {
        if (disk.isReadOnly) throw Object.assign(new Error("read-only"), { code: "EROFS" })
        return await world.files.folder(path).createExclusive(name, text)
      },
    }),
  }
  const put = (name: string, content: string | Uint8Array): void => writeFileSync(join(folder, name), content)
  const log: Log = (level, message, fields = {}) => void logged.push({ level, message, fields })
  const context = { system: world, settings, log }
  return {
    folder,
    logged,
    disk,
    look: () => works.get(2000)?.(),
    compare: () => works.get(LISTS_COMPARE_MS)?.(),
    open: () => createListsService({ ...context, system: { ...world, files, runInterval } }),
    damage: () => readListsDamage(context),
    openForCommand: () => openListsForCommand(context),
    openInPlace: () => openActivePack(context),
    put,
    /** Puts a pack in use, in which this name is disposable. */
    putInUse: (sha256: string, name: string, change: Partial<RefreshState> = {}): void => {
      put(packFileName(sha256), smallPack({ [name]: ["disposable"] }))
      put(manifestFileName(sha256), formatManifest(knownLists.manifest))
      put(STATE_FILE, formatRefreshState({ ...INITIAL_REFRESH_STATE, stock: STOCK, in_use: sha256, ...change }))
    },
  }
}

type AtWork = Awaited<ReturnType<typeof createListsService>>

const isListed = (lists: AtWork, name: string): boolean =>
  lists.current().lists.lookupDomain(name, name).listMatch.sets.length > 0

test("the lists that a refresh has put in use are taken at the start, and others when they are there", async () => {
  const directory = dataDirectory()
  directory.putInUse(SHA256.one, "mailkind-one.com")
  const lists = await directory.open()
  expect([isListed(lists, "mailkind-one.com"), isListed(lists, "mailinator.com")]).toEqual([true, false])
  directory.putInUse(SHA256.two, "mailkind-two.com")
  expect(isListed(lists, "mailkind-two.com")).toBe(false)
  await lists.reload()
  expect([isListed(lists, "mailkind-one.com"), isListed(lists, "mailkind-two.com")]).toEqual([false, true])
  expect(directory.logged).toMatchObject([{ level: "info", message: "the lists were reloaded" }])
})

test("a server that looks finds other lists by itself, and reads nothing while they are the same", async () => {
  const directory = dataDirectory()
  const lists = await directory.open()
  lists.start()
  expect(isListed(lists, "mailinator.com")).toBe(true)
  directory.look()
  directory.putInUse(SHA256.one, "mailkind-one.com")
  directory.look()
  // Takes its turn behind what the look has begun.
  await lists.reload()
  expect(isListed(lists, "mailkind-one.com")).toBe(true)
  // Once for the second look, and once since it was asked for.
  expect(directory.logged).toHaveLength(2)
})

/** Lets the files of this process be read. */
const nextTurn = (): Promise<void> => new Promise(resolve => void setImmediate(resolve))

test("a look that finds a state whose pack is the same tells the state, and the lists stay the very same", async () => {
  const directory = dataDirectory()
  directory.putInUse(SHA256.one, "mailkind-one.com")
  const lists = await directory.open()
  const before = lists.current().lists
  lists.start()
  directory.putInUse(SHA256.one, "mailkind-one.com", { refreshed_at_ms: 7 })
  directory.look()
  while (lists.current().refreshState.refreshed_at_ms !== 7) await nextTurn()
  expect(lists.current().lists).toBe(before)
  expect(directory.logged).toEqual([])
})

test("a server keeps its lists when the next version of the program puts others into its data directory", async () => {
  const directory = dataDirectory()
  directory.putInUse(SHA256.one, "mailkind-one.com")
  const lists = await directory.open()
  lists.start()
  directory.putInUse(SHA256.two, "mailkind-two.com", { stock: "another" })
  rmSync(join(directory.folder, packFileName(SHA256.one)))
  directory.look()
  directory.compare()
  await lists.reload()
  expect(isListed(lists, "mailkind-one.com")).toBe(true)
  expect(directory.logged.filter(({ level }) => level !== "info")).toEqual([])
})

test("pinned lists are used whichever version of the program has built them", async () => {
  const directory = dataDirectory()
  directory.putInUse(SHA256.one, "mailkind-one.com", { stock: "another", pinned: "v1" })
  expect(isListed(await directory.open(), "mailkind-one.com")).toBe(true)
})

test("lists over another stock than the program's are not taken", async () => {
  const directory = dataDirectory()
  directory.putInUse(SHA256.one, "mailkind-one.com", { stock: "another" })
  const lists = await directory.open()
  expect([isListed(lists, "mailkind-one.com"), isListed(lists, "mailinator.com")]).toEqual([false, true])
  expect(lists.current().refreshState.in_use).toBeNull()
})

const DAMAGES: Readonly<Record<string, (directory: ReturnType<typeof dataDirectory>, sha256: string) => void>> = {
  "no pack": ({ folder }, sha256) => rmSync(join(folder, packFileName(sha256))),
  "a pack that is cut off": ({ put }, sha256) =>
    put(packFileName(sha256), smallPack({ "cut.com": ["disposable"] }).subarray(0, -1)),
  "a folder in place of the pack": ({ folder }, sha256) => {
    rmSync(join(folder, packFileName(sha256)))
    mkdirSync(join(folder, packFileName(sha256)))
  },
  "no manifest": ({ folder }, sha256) => rmSync(join(folder, manifestFileName(sha256))),
  "half a manifest": ({ put }, sha256) => put(manifestFileName(sha256), '{"format": 1,'),
  "half a state": ({ put }) => put(STATE_FILE, '{"format": 1,'),
}

test.each(Object.entries(DAMAGES))(
  "with %s a server keeps the lists in use and says why, and one that starts takes those that came along",
  async (_, damage) => {
    const directory = dataDirectory()
    directory.putInUse(SHA256.one, "mailkind-one.com")
    const lists = await directory.open()
    directory.putInUse(SHA256.two, "mailkind-two.com")
    damage(directory, SHA256.two)
    await lists.reload()
    expect(isListed(lists, "mailkind-one.com")).toBe(true)
    expect(directory.logged).toMatchObject([{ level: "error", message: "the current lists stay in use" }])
    expect(String(directory.logged[0]?.fields["remedy"])).toContain("lists update")
    const started = await directory.open()
    expect(isListed(started, "mailinator.com")).toBe(true)
    expect((await directory.openForCommand()).refreshState.in_use).toBeNull()
    const warning = { level: "warn", message: "the refreshed lists are damaged; the last good copy is used" }
    expect(directory.logged.slice(1)).toMatchObject([warning, warning])
    expect(started.damage()).toMatchObject({ is_replaced: false })
    expect(await directory.openInPlace()).toMatchObject({
      ...{
        kind: "refused",
        message: expect.stringMatching(/^\/.*refresh\/\S+: /),
        remedy: expect.stringMatching(/update/),
      },
    })
  },
)

test.each(Object.entries({ ...DAMAGES, "a pack in use that is cut": DAMAGES["a pack that is cut off"] }))(
  "with %s, two workers that are told to load the lists at the same time log one error",
  async (how, damage) => {
    const directory = dataDirectory()
    directory.putInUse(SHA256.one, "mailkind-one.com")
    const workers = [await directory.open(), await directory.open()]
    const isInUse = how.includes("in use")
    if (!isInUse) directory.putInUse(SHA256.two, "mailkind-two.com")
    damage?.(directory, isInUse ? SHA256.one : SHA256.two)
    await Promise.all(workers.map(({ reload }) => reload()))
    expect(directory.logged.filter(({ level }) => level === "error")).toHaveLength(1)
    expect(await directory.damage()).toMatchObject({ is_replaced: isInUse })
    expect(workers.every(lists => isListed(lists, "mailkind-one.com"))).toBe(true)
  },
)

test("a damage is named though the disk refuses the lock, as one that has become read-only does", async () => {
  const directory = dataDirectory()
  directory.putInUse(SHA256.one, "mailkind-one.com")
  const lists = await directory.open()
  truncateSync(join(directory.folder, packFileName(SHA256.one)), 0)
  directory.disk.isReadOnly = true
  await lists.reload()
  expect(directory.logged[0]).toMatchObject({ level: "error", message: "a file of the lists was changed on the disk" })
  expect(lists.damage()).toMatchObject({ is_replaced: false })
})

test("lists that cannot be read at all are no end of a server", async () => {
  const directory = dataDirectory()
  directory.putInUse(SHA256.one, "mailkind-one.com")
  const lists = await directory.open()
  lists.start()
  rmSync(directory.folder, { recursive: true })
  writeFileSync(directory.folder, "a file in place of the folder")
  directory.look()
  await lists.reload()
  expect(isListed(lists, "mailkind-one.com")).toBe(true)
  expect(directory.logged.every(({ level }) => level === "error")).toBe(true)
})

/** What is done to a file in place, under a server that has read it. */
const CHANGES: Readonly<Record<string, (path: string) => void>> = {
  "is overwritten in place": path => writeFileSync(path, readFileSync(path).fill(0x61), { flag: "r+" }),
  "has one bit flipped": path => {
    const bytes = readFileSync(path)
    bytes[bytes.length - 9] = (bytes.at(-9) ?? 0) ^ 1
    writeFileSync(path, bytes)
  },
  "is cut": path => truncateSync(path, 100),
  "is emptied": path => truncateSync(path, 0),
  grows: path => writeFileSync(path, "more", { flag: "a" }),
  "is removed": path => rmSync(path),
  "becomes a folder": path => {
    rmSync(path)
    mkdirSync(path)
  },
}

describe.each([packFileName(SHA256.one), manifestFileName(SHA256.one)])("if the file %s in use", name => {
  test.each(Object.entries(CHANGES))(
    "%s, verdicts stay, and a server that compares writes it again and tells",
    async (how, change) => {
      const directory = dataDirectory()
      directory.putInUse(SHA256.one, "mailkind-one.com")
      const path = join(directory.folder, name)
      const before = readFileSync(path)
      const lists = await directory.open()
      lists.start()
      change(path)
      expect(isListed(lists, "mailkind-one.com")).toBe(true)
      directory.compare()
      await lists.reload()
      expect(isListed(lists, "mailkind-one.com")).toBe(true)
      const isMended = how !== "becomes a folder"
      expect(lists.damage()).toMatchObject({ file: name, is_replaced: isMended })
      expect(await directory.damage()).toEqual(lists.damage())
      expect(directory.logged[0]).toMatchObject({
        level: "error",
        message: "a file of the lists was changed on the disk",
        fields: { where: path, remedy: expect.any(String) },
      })
      if (!isMended) return
      expect(readFileSync(path).equals(before)).toBe(true)
      expect(directory.logged.slice(1)).toMatchObject([
        { level: "info", message: "a file of the lists was replaced by its copy in memory", fields: { where: path } },
        { level: "info", message: "the lists were reloaded" },
      ])
      expect(await directory.openInPlace()).toMatchObject({ kind: "open" })
    },
  )
})

test("bundled lists that are damaged while a server runs are named as the cause, and its verdicts stay", async () => {
  const directory = dataDirectory()
  const lists = await directory.open()
  directory.disk.hasDamagedPack = true
  await lists.reload()
  expect(isListed(lists, "mailinator.com")).toBe(true)
  const [line] = directory.logged
  expect(line).toMatchObject({ level: "error", message: "the current lists stay in use" })
  expect(line?.fields).toMatchObject({
    where: "the bundled lists",
    why: "The file is not a pack.",
    remedy: expect.stringContaining("Install mailkind again"),
  })
})

test("a changed file that cannot be written stays damaged in words, until there is room", async () => {
  const directory = dataDirectory()
  directory.putInUse(SHA256.one, "mailkind-one.com")
  const lists = await directory.open()
  lists.start()
  const path = join(directory.folder, packFileName(SHA256.one))
  truncateSync(path, 0)
  directory.disk.isFull = true
  await lists.reload()
  expect(isListed(lists, "mailkind-one.com")).toBe(true)
  expect(lists.damage()).toMatchObject({ is_replaced: false })
  expect(directory.logged.map(({ message, fields }) => [message, fields["where"], fields["why"]])).toContainEqual([
    "a file of the lists could not be written",
    path,
    "ENOSPC",
  ])
  directory.disk.isFull = false
  directory.compare()
  await lists.reload()
  expect(lists.damage()).toMatchObject({ is_replaced: true })
  expect(await directory.openInPlace()).toMatchObject({ kind: "open" })
})

test("a server that starts on damaged lists uses those of the refresh before, and takes the newer ones once they are whole", async () => {
  const directory = dataDirectory()
  const packs = [SHA256.two, SHA256.one].map(sha256 => ({ sha256, version: sha256, made_at_ms: 1 }))
  directory.putInUse(SHA256.one, "mailkind-one.com")
  directory.putInUse(SHA256.two, "mailkind-two.com", { packs })
  const path = join(directory.folder, packFileName(SHA256.two))
  const whole = readFileSync(path)
  truncateSync(path, 0)
  const lists = await directory.open()
  lists.start()
  expect([isListed(lists, "mailkind-one.com"), isListed(lists, "mailkind-two.com")]).toEqual([true, false])
  expect(lists.damage()).toMatchObject({ file: packFileName(SHA256.two), is_replaced: false })
  writeFileSync(path, whole)
  directory.compare()
  while (!isListed(lists, "mailkind-two.com")) await nextTurn()
  expect(lists.damage()).toMatchObject({ is_replaced: true })
})
