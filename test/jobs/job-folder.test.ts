import { describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createContext } from "../../src/assemble/context.ts"
import { ensureBootstrapAccount } from "../../src/assemble/customers/bootstrap-account.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { readStoredMark, storeMark } from "../../src/customers/jobs/jobs-folder.ts"
import { diagnoseJobsFolder } from "../../src/doctor/jobs.ts"
import { createJobFiles } from "../../src/jobs/job-files.ts"
import { checkJobFolder } from "../../src/jobs/job-folder.ts"
import { createSystem } from "../../src/system/system.ts"
import { random, tempStore } from "../customers/temp-store.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { jobDesk } from "./job-desk.ts"

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "mailkind-folder-"))
  onTestEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe("the folder with the lists of jobs", () => {
  test("is marked by the first server, and known by others over the same database", async () => {
    const store = await tempStore()
    const files = createJobFiles(newFolder())
    for (let server = 0; server < 3; server++)
      expect(await checkJobFolder({ store, files, random }, true)).toEqual({ kind: "own" })
  })

  test("is told apart from one that another server has for itself, which is not marked", async () => {
    const store = await tempStore()
    await checkJobFolder({ store, files: createJobFiles(newFolder()), random }, true)
    const other = createJobFiles(newFolder())
    expect(await checkJobFolder({ store, files: other, random }, true)).toMatchObject({ kind: "not_shared" })
    expect(await other.names()).toEqual([])
    // Alone, a server takes a new disk.
    expect(await checkJobFolder({ store, files: other, random }, false)).toEqual({ kind: "own" })
  })

  test("is the own one of all servers that start together", async () => {
    const store = await tempStore()
    const folder = newFolder()
    const starts = Array.from({ length: 8 }, () =>
      checkJobFolder({ store, files: createJobFiles(folder), random }, true),
    )
    expect(new Set((await Promise.all(starts)).map(({ kind }) => kind))).toEqual(new Set(["own"]))
    expect(readdirSync(folder)).toEqual([`installation.${await readStoredMark(store)}`])
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("stays the own one when the first server dies at its step %i", async step => {
    const store = await tempStore()
    const files = createJobFiles(newFolder())
    let left = step
    const dying = <T extends object>(part: T): T =>
      new Proxy(part, {
        get: (target, name) => {
          if (left-- <= 0) throw new Error("dead")
          const member = Reflect.get(target, name)
          return typeof member === "function" ? member.bind(target) : member
        },
      })
    await checkJobFolder({ store: dying(store), files: dying(files), random }, true).catch(() => null)
    expect(await checkJobFolder({ store, files, random }, true)).toEqual({ kind: "own" })
    expect(await files.names()).toEqual([`installation.${await readStoredMark(store)}`])
  })

  test("of another database is left alone: no file in it is swept, and no job is checked with it", async () => {
    const [one, other] = [await jobDesk(), await jobDesk()]
    const { id } = await one.upload("jane@gmail.com\n")
    await one.process("one").sweep()
    const intruder = other.process("other", { files: one.files })
    await intruder.sweep()
    expect(one.left()).toEqual([`${id}.list`])
    await other.upload("jane@gmail.com\n")
    await other.workOff(intruder)
    expect((await other.store.one<{ state: string }>("SELECT state FROM jobs"))?.state).toBe("queued")
    expect(other.state.errors.length).toBeGreaterThan(0)
  })
})

test("the first start stores the mark before there is a key, so every backup has it", async () => {
  const read = parseSettings({ MAILKIND_DATA_DIR: newFolder() })
  if (read.kind === "faulty") throw new Error("faulty")
  const store = await tempStore()
  expect((await ensureBootstrapAccount(createContext(createSystem(), read.settings), store)).kind).toBe("created")
  expect(await readStoredMark(store)).toMatch(/^[0-9a-f]{32}$/)
})

describe("doctor tells of that folder", () => {
  test("that it can be written, or is not there yet", () => {
    const folder = newFolder()
    expect(diagnoseJobsFolder(folder, null, "t").verdict).toBe("ok")
    expect(diagnoseJobsFolder(join(folder, "new/jobs"), null, "t").verdict).toBe("ok")
  })

  test("that no file can be written", () => {
    const folder = newFolder()
    writeFileSync(join(folder, "jobs"), "a file")
    expect(diagnoseJobsFolder(join(folder, "jobs"), null, "t")).toMatchObject({
      verdict: "failed",
      seen: expect.stringContaining("ENOTDIR"),
      remedy: expect.stringContaining("MAILKIND_JOBS_DIR"),
    })
  })

  test("that other servers use another one, with the line that makes it theirs", async () => {
    const [store, folder, unshared] = [await tempStore(), newFolder(), newFolder()]
    await checkJobFolder({ store, files: createJobFiles(folder), random }, true)
    const mark = await readStoredMark(store)
    expect(readdirSync(folder)).toEqual([`installation.${mark}`])
    expect(diagnoseJobsFolder(folder, { mark, isShared: true }, "t").verdict).toBe("ok")
    const { verdict, remedy } = diagnoseJobsFolder(unshared, { mark, isShared: true }, "t")
    expect([verdict, remedy]).toEqual(["failed", expect.stringContaining(String(mark))])
    mkdirSync(join(unshared, "sub"))
    expect(diagnoseJobsFolder(unshared, { mark: null, isShared: true }, "t").verdict).toBe("warning")
  })

  // As after the restore of a backup: the database knows another mark, or none.
  test.each([
    { isShared: false, stored: null, verdict: "ok" },
    { isShared: false, stored: "0123456789abcdef", verdict: "ok" },
    { isShared: true, stored: null, verdict: "warning" },
    { isShared: true, stored: "0123456789abcdef", verdict: "ok" },
  ])(
    "that it is another database's, with the command that makes it the own one: %p",
    async ({ isShared, stored, verdict }) => {
      const [store, other, folder] = [await tempStore(), await tempStore(), newFolder()]
      const files = createJobFiles(folder)
      await checkJobFolder({ store: other, files, random }, false)
      const mark = String(await readStoredMark(other))
      if (stored !== null) await storeMark(store, stored)
      expect(await checkJobFolder({ store, files, random }, isShared)).toEqual({ kind: "foreign", mark, stored })
      const found = diagnoseJobsFolder(folder, { mark: stored, isShared }, "t")
      expect([found.verdict, found.seen]).toEqual(["failed", expect.stringContaining(mark)])
      const [, command = ""] = /`(.*)`/.exec(String(found.remedy)) ?? []
      expect(Bun.spawnSync(["sh", "-c", command]).exitCode).toBe(0)
      expect(diagnoseJobsFolder(folder, { mark: stored, isShared }, "t").verdict).toBe(verdict)
      expect(await checkJobFolder({ store, files, random }, isShared)).toEqual({ kind: "own" })
    },
  )
})
