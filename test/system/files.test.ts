import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createFiles, createFolder, writeFileAtomic } from "../../src/system/files.ts"
import { outcomeOf } from "../support/outcome-of.ts"

/** A directory of the run's, which is removed with it. */
const newDirectory = (): string => mkdtempSync(join(tmpdir(), "mailkind-folder-"))

test("a file is replaced whole, in a folder that is made for its owner alone, and nothing else is left there", async () => {
  const path = join(newDirectory(), "a", "b", "file")
  await writeFileAtomic(path, "first")
  await writeFileAtomic(path, new Uint8Array([50]))
  expect(readFileSync(path, "utf8")).toBe("2")
  expect(readdirSync(join(path, ".."))).toEqual(["file"])
  expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700)
})

test("what cannot be put in place leaves what was there, and nothing beside it", async () => {
  const directory = newDirectory()
  mkdirSync(join(directory, "taken", "by-a-folder"), { recursive: true })
  expect(await outcomeOf(writeFileAtomic(join(directory, "taken"), "text"))).toThrow()
  expect(readdirSync(directory)).toEqual(["taken"])
})

test("a folder that is not there has no file; what is no file is a fault", async () => {
  const directory = newDirectory()
  const folder = createFolder(join(directory, "missing"))
  expect(await folder.list()).toEqual([])
  expect(await folder.read("file")).toBeNull()
  await folder.remove("file")
  expect(readdirSync(directory)).toEqual([])
  await folder.writeAtomic("file", "text")
  expect(Buffer.from((await folder.read("file")) ?? []).toString()).toBe("text")
  expect(await folder.list()).toEqual(["file"])
  mkdirSync(join(directory, "missing", "folder"))
  expect(await outcomeOf(folder.read("folder"))).toThrow("EISDIR")
})

test("of many that claim a file one has it, with its text at every moment", async () => {
  const folder = createFolder(join(newDirectory(), "made-by-the-first"))
  const claims = Array.from({ length: 20 }, (_, at) => folder.createExclusive("turn", `holder ${at}`))
  const seen: string[] = []
  const watch = async (): Promise<void> => {
    for (let look = 0; look < 200; look++) {
      const bytes = await folder.read("turn")
      if (bytes !== null) seen.push(Buffer.from(bytes).toString())
    }
  }
  const [won] = await Promise.all([Promise.all(claims), watch()])
  const holder = won.indexOf(true)
  expect(won.filter(isMine => isMine)).toHaveLength(1)
  expect(new Set(seen)).toEqual(new Set([`holder ${holder}`]))
  expect(await folder.list()).toEqual(["turn"])
  expect(await folder.createExclusive("turn", "late")).toBe(false)
  await folder.remove("turn")
  expect(await folder.createExclusive("turn", "late")).toBe(true)
})

test("a file of exactly the bound is read, and one byte more is too much", () => {
  const path = join(mkdtempSync(join(tmpdir(), "mailkind-files-")), "text")
  writeFileSync(path, "x".repeat(1000))
  expect(createFiles().readTexts(path, 1000)).toMatchObject({ kind: "read" })
  expect(createFiles().readTexts(path, 999)).toEqual({ kind: "unreadable", why: "it has more than 999 bytes" })
})

test("the room of a disk is told of a directory, also of one that is not there yet, and not of what is no directory", async () => {
  const { diskSpace } = createFiles()
  const directory = newDirectory()
  const known = await diskSpace(directory)
  expect(known?.freeBytes).toBeGreaterThan(0)
  expect(known?.sizeBytes).toBeGreaterThanOrEqual(known?.freeBytes ?? 0)
  expect((await diskSpace(join(directory, "jobs", "later")))?.sizeBytes).toBe(known?.sizeBytes ?? 0)
  writeFileSync(join(directory, "file"), "")
  expect(await diskSpace(join(directory, "file", "below"))).toBeNull()
})
