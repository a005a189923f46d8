import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { onTestEnd } from "../../support/on-test-end.ts"

setDefaultTimeout(60_000)

test.skipIf(process.platform !== "linux")("a command whose output is lost says so and has failed", async () => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-full-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const env = { PATH: process.env["PATH"] ?? "", HOME: directory, MAILKIND_DATA_DIR: directory }
  const child = Bun.spawn([...PROGRAM, "check", "--offline", "a@gmail.com"], {
    cwd: directory,
    env,
    stdout: Bun.file("/dev/full"),
    stderr: "pipe",
  })
  expect([await new Response(child.stderr).text(), await child.exited]).toEqual([
    "mailkind: Cannot write the standard output: there is no space left.\n",
    1,
  ])
})
