import { expect, test } from "bun:test"
import { mkdtempSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { StartupError } from "../../src/base/errors.ts"
import { operatorMessage } from "../../src/process/startup-error.ts"

/** An error as the system gives it. */
const systemError = (code: string) =>
  Object.assign(new Error(`${code}: no, open '/srv/mailkind/state.json'`), { code, syscall: "open" })

test.each([
  ["EACCES", /readable and writable/],
  ["EPERM", /readable and writable/],
  ["EROFS", /readable and writable/],
  ["ENOSPC", /Free some space/],
  ["EDQUOT", /Free some space/],
  ["EIO", /system's log/],
])("what the file system refuses by %s is told with the file and what to do", (code, remedy) => {
  const facts = operatorMessage(systemError(code)) ?? ""
  expect(facts).toMatch(remedy)
  expect(facts).toContain("open '/srv/mailkind/state.json'. ")
})

test("a file in place of a folder is told as such", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "mailkind-remedy-")), "lists")
  writeFileSync(file, "")
  const fault = await readFile(join(file, "state.json")).catch((thrown: unknown) => thrown)
  expect(operatorMessage(fault)).toMatch(/ENOTDIR.*another directory/)
})

test("what is our own fault has no remedy, whatever it is called", () => {
  for (const fault of [new Error("x"), Object.assign(new Error("x"), { code: "EACCES" }), systemError("ENOENT"), null])
    expect(operatorMessage(fault)).toBeNull()
  expect(operatorMessage(new StartupError("Do this."))).toBe("Do this.")
})
