import { expect, test } from "bun:test"
import { mkdtempSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { StartupError, withPath } from "../../src/base/errors.ts"
import { READ_ONLY_REMEDY, STORE_ERRORS, StoreError } from "../../src/customers/store/core/store-error.ts"
import { operatorMessage } from "../../src/process/startup-error.ts"

/** A host of which nothing is seen. */
const HOST = { hostState: () => null }

/** An error as the system gives it. */
const systemError = (code: string) =>
  Object.assign(new Error(`${code}: no, open '/srv/mailkind/state.json'`), { code, syscall: "open" })

test.each([
  ["EACCES", /readable and writable/],
  ["EPERM", /readable and writable/],
  ["EROFS", /Mount the file system for writing/],
  ["ENOSPC", /Free some space/],
  ["EDQUOT", /Free some space/],
  ["EIO", /system's log/],
])("what the file system refuses by %s is told with the file and what to do", (code, remedy) => {
  const facts = operatorMessage(systemError(code), HOST) ?? ""
  expect(facts).toMatch(remedy)
  expect(facts).toContain("open '/srv/mailkind/state.json'. ")
})

test("a database on a file system that is read-only is not a matter of rights", () => {
  const error = new StoreError("unwritable", "/data", "it does not exist and cannot be created (EROFS)")
  expect(operatorMessage(error, HOST)).toEndWith(READ_ONLY_REMEDY)
})

test("a file in place of a folder is told as such", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "mailkind-remedy-")), "lists")
  writeFileSync(file, "")
  const fault = await readFile(join(file, "state.json")).catch((thrown: unknown) => thrown)
  expect(operatorMessage(fault, HOST)).toMatch(/ENOTDIR.*another directory/)
})

test("what is our own fault has no remedy, whatever it is called", () => {
  for (const fault of [new Error("x"), Object.assign(new Error("x"), { code: "EACCES" }), systemError("ENOENT"), null])
    expect(operatorMessage(fault, HOST)).toBeNull()
  expect(operatorMessage(new StartupError("Do this."), HOST)).toBe("Do this.")
})

test("what the host shows of the fault is told before what to do", () => {
  const host = { hostState: (codes: string, place: string) => `of ${codes} at ${place}` }
  expect(operatorMessage(Object.assign(systemError("ENOSPC"), { path: "/srv" }), host)).toEndWith(
    `of ENOSPC at /srv. ${STORE_ERRORS.full.remedy}`,
  )
  expect(operatorMessage(new StoreError("full", "/data/mk.sqlite", "SQLITE_FULL"), host)).toEndWith(
    `of full SQLITE_FULL at /data/mk.sqlite. ${STORE_ERRORS.full.remedy}`,
  )
})

test("the file of an error that names none is told before it", () => {
  const error = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" })
  expect(operatorMessage(withPath(error, "/data/state.json"), HOST)).toStartWith("/data/state.json: ENOSPC: no space")
  expect(withPath(error, "/other")).toMatchObject({ path: "/data/state.json" })
})
