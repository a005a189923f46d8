import { expect, setDefaultTimeout, test } from "bun:test"
import {
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { makeFolder } from "../../../src/base/file-owner.ts"
import { createJobFiles } from "../../../src/jobs/job-files.ts"
import { createFolder } from "../../../src/system/files.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(60_000)

/** The user of a server, who is not root. */
const USER = 65_534

/** A directory of root's, which is removed with the test, with one of that user's in it. */
function newDirectories() {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-owner-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const data = join(directory, "data")
  mkdirSync(data, { mode: 0o700 })
  chownSync(data, USER, USER)
  return { directory, data }
}

/** Everything in a directory that does not belong to the user. */
const strangeIn = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(name => {
    const { uid, gid } = lstatSync(join(directory, name))
    return uid !== USER || gid !== USER
  })

// Only root can write for others.
const isRoot = process.getuid?.() === 0

test.skipIf(!isRoot)(
  "what commands of root write into a data directory belongs to its owner, and a backup elsewhere to root",
  async () => {
    const { directory, data } = newDirectories()
    writeFileSync(
      join(directory, "own.txt"),
      Array.from({ length: 500 }, (_, at) => `junk${at}.example.com\n`).join(""),
    )
    const settings = {
      PATH: process.env["PATH"],
      MAILKIND_DATA_DIR: data,
      MAILKIND_OUTSIDE: "off",
      MAILKIND_LISTS_SOURCES: `own=file://${directory}/own.txt`,
    }
    const run = async (...words: readonly string[]) => {
      const { code, err } = await startProgram([...PROGRAM, ...words], directory, settings).ended()
      expect([words, code, err]).toEqual([words, 0, ""])
    }
    const names = (): readonly string[] => readdirSync(data, { recursive: true, encoding: "utf8" })
    const acts = [
      ["account", "create", "jane@example.com"],
      ["lists", "update"],
      ["backup", join(directory, "backup")],
      ["account", "delete", "jane@example.com", "--yes"],
      ["restore", join(directory, "backup")],
    ] as const
    for (const words of acts) {
      await run(...words)
      expect([words, strangeIn(data)]).toEqual([words, []])
    }
    expect(names()).toEqual(
      expect.arrayContaining([
        "mailkind.sqlite",
        "mailkind.sqlite.lock",
        "lists/refresh/state.json",
        "lists/refresh/own.txt",
      ]),
    )
    expect(names().some(name => name.startsWith("deleted-accounts-"))).toBe(true)
    expect(statSync(join(directory, "backup")).uid).toBe(0)
  },
)

test.skipIf(!isRoot)(
  "folders and files that root creates are its own outside the data directory, and behind a link",
  async () => {
    const { directory, data } = newDirectories()
    chownSync(directory, USER, USER)
    const fresh = join(directory, "fresh")
    await createFolder(join(fresh, "lists", "refresh"), fresh).writeAtomic("state.json", "{}")
    expect(statSync(join(fresh, "lists", "refresh", "state.json")).uid).toBe(0)
    expect(statSync(fresh).uid).toBe(0)
    const elsewhere = join(directory, "elsewhere")
    mkdirSync(elsewhere)
    symlinkSync(elsewhere, join(data, "lists"))
    await createFolder(join(data, "lists", "refresh"), data).writeAtomic("state.json", "{}")
    expect(statSync(join(elsewhere, "refresh", "state.json")).uid).toBe(0)
    // A link in the place of the file is not followed.
    writeFileSync(join(directory, "secret"), "secret")
    symlinkSync(join(directory, "secret"), join(data, `state.json.${process.pid}.new`))
    expect(await outcomeOf(createFolder(data).writeAtomic("state.json", "{}"))).toThrow("ELOOP")
    expect(statSync(join(directory, "secret"))).toMatchObject({ uid: 0, size: 6 })
    expect(strangeIn(data).filter(name => !name.startsWith("lists"))).toEqual([])
  },
)

test.skipIf(!isRoot)(
  "the lists of jobs and claims that a server of root writes belong to the owner of the data directory",
  async () => {
    const { data } = newDirectories()
    await (await createJobFiles(join(data, "jobs"), data).create("job")).close()
    await createFolder(join(data, "a", "b", "c"), data).createExclusive("turn", "1")
    await makeFolder(join(data, "d"), data)
    expect(strangeIn(data)).toEqual([])
  },
)
