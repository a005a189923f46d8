import { afterEach, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runDirectory } from "./run-directory.ts"

const parent = join(tmpdir(), "parent")
afterEach(() => rmSync(parent, { recursive: true, force: true }))

/** The id of a process that is over. */
function endedPid(): number {
  const { pid, exitCode } = Bun.spawnSync([process.execPath, "--version"])
  expect(exitCode).toBe(0)
  return pid
}

test("temporary files of this run lie in its directory, which it removes with all that is in it", async () => {
  expect(tmpdir()).toMatch(/\/mailkind-tests-\d+-\w+$/)
  mkdirSync(parent)
  const { path, remove } = runDirectory(parent)
  await Bun.write(join(path, "a/b"), "x")
  remove()
  expect(readdirSync(parent)).toEqual([])
})

test("what a run left that was killed goes with the next one; what runs still, and what is not ours, stays", () => {
  const [left, running, foreign] = [`mailkind-tests-${endedPid()}-x`, `mailkind-tests-${process.ppid}-x`, "mailkind-x"]
  for (const name of [left, running, foreign]) mkdirSync(join(parent, name, "within"), { recursive: true })
  const { path } = runDirectory(parent)
  expect([left, running, foreign].map(name => existsSync(join(parent, name)))).toEqual([false, true, true])
  expect(existsSync(path)).toBe(true)
})
