import { expect, setDefaultTimeout, test } from "bun:test"
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { createJobFiles } from "../../../src/jobs/job-files.ts"
import { createFolder } from "../../../src/system/files.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(60_000)

/** The user of a server, who is not root. */
const USER = 65_534

// Only root can write for others.
const isRoot = process.getuid?.() === 0

/** A directory of root's, which is removed with the test, with one of that user's in it. */
function newDirectories() {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-owner-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const data = join(directory, "data")
  mkdirSync(data, { mode: 0o700 })
  if (isRoot) chownSync(data, USER, USER)
  return { directory, data }
}

test.skipIf(!isRoot)("a command of root in another user's data directory says whose it is, once", async () => {
  const { directory, data } = newDirectories()
  const run = (...words: readonly string[]) =>
    startProgram([...PROGRAM, ...words], directory, { PATH: process.env["PATH"], MAILKIND_DATA_DIR: data }).ended()
  const { code, err } = await run("account", "create", "jane@example.com")
  expect(code).toBe(0)
  expect(err).toMatch(/^[^\n]*\/data belongs to the user 65534\. [^\n]*run commands as that user too[^\n]*\n$/)
  chownSync(data, 0, 0)
  expect((await run("account", "list")).err).toBe("")
})

test("what is written below the data directory goes through no link, and stays the writer's", async () => {
  const { directory, data } = newDirectories()
  const secret = join(directory, "secret")
  writeFileSync(secret, "secret")
  for (const name of [`state.json.${process.pid}.new`, "job"]) symlinkSync(secret, join(data, name))
  await createFolder(data).writeAtomic("state.json", "{}")
  expect(await outcomeOf(createJobFiles(data).create("job"))).toThrow("ELOOP")
  expect(readFileSync(secret, "utf8")).toBe("secret")
  const own = process.getuid?.() ?? 0
  for (const path of [secret, join(data, "state.json")]) expect(statSync(path).uid).toBe(own)
})
