import { expect, spyOn, test } from "bun:test"
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { killEndless, noteFile } from "./running-files.ts"

test("a test file that does not end is named and its process killed, and one that has ended or may go on is let be", async () => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-running-"))
  const endless = Bun.spawn(["sleep", "600"])
  writeFileSync(join(directory, `running-${endless.pid}`), "/tests/endless.test.ts")
  noteFile(directory, "/tests/ended.test.ts")()
  const told = spyOn(console, "error").mockImplementation(() => undefined)
  killEndless(directory, 600_000)
  expect([told.mock.calls, readdirSync(directory)]).toEqual([[], [`running-${endless.pid}`]])
  killEndless(directory, 0)
  expect(told.mock.calls).toEqual([[expect.stringContaining("/tests/endless.test.ts does not end")]])
  told.mockRestore()
  await endless.exited
  expect([endless.signalCode, readdirSync(directory)]).toEqual(["SIGKILL", []])
})
