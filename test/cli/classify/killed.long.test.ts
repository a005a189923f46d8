import { afterEach, expect, test } from "bun:test"
import { mkdtempSync, rmSync, watch } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { processTree } from "../../../bench/servers/process-stats.ts"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { systemProcesses } from "../../../src/system/child-processes.ts"

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

/** A directory with a CSV file of so many records, each of two lines. */
async function inputsOf(count: number): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-killed-"))
  directories.push(directory)
  const rows = Array.from(
    { length: count },
    (_, at) => `"Jane\n${at}",jane.${at}@${at % 3 === 0 ? "gmail.com" : `acme-${at}.com`}\n`,
  )
  await writeFile(join(directory, "in.csv"), `name,email\n${rows.join("")}`)
  return directory
}

/** A run of the real command in a directory of its own. */
function running(directory: string, out: string, ...args: string[]) {
  const command = ["classify", join(directory, "in.csv"), "--offline", "--out", join(directory, out), ...args]
  return Bun.spawn([...PROGRAM, ...command], { stdout: "ignore", stderr: "pipe" })
}

/** Resolves when so much of the file was written. */
function begun(directory: string, name: string, bytes = 1): Promise<void> {
  return new Promise(resolve => {
    const watcher = watch(directory, (_, changed) => {
      if (changed !== name || Bun.file(join(directory, name)).size < bytes) return
      watcher.close()
      resolve()
    })
  })
}

test.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
  "a run that is ended by %s goes on to the same file as one that is not",
  async signal => {
    const directory = await inputsOf(25_000)
    const interrupted = running(directory, "out.csv")
    await begun(directory, "out.csv")
    interrupted.kill(signal)
    expect(await interrupted.exited).not.toBe(0)
    const left = await readFile(join(directory, "out.csv"))
    if (signal !== "SIGKILL") {
      expect(left.at(-1)).toBe(10)
      expect(await new Response(interrupted.stderr).text()).toContain("--resume")
    }
    expect(await running(directory, "out.csv", "--resume").exited).toBe(0)
    expect(await running(directory, "whole.csv").exited).toBe(0)
    const whole = await readFile(join(directory, "whole.csv"))
    expect(left.length).toBeLessThan(whole.length)
    expect(whole.equals(await readFile(join(directory, "out.csv")))).toBe(true)
  },
  300_000,
)

test.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
  "a run of several processes that is ended by %s leaves no process, and goes on to the same file as one process",
  async signal => {
    const directory = await inputsOf(100_000)
    const interrupted = running(directory, "out.csv", "--jobs", "2")
    await begun(directory, "out.csv", 4_000_000)
    const family = processTree(interrupted.pid)
    expect(family).toHaveLength(2)
    interrupted.kill(signal)
    expect(await interrupted.exited).not.toBe(0)
    const left = await readFile(join(directory, "out.csv"))
    expect(await running(directory, "out.csv", "--resume", "--jobs", "2").exited).toBe(0)
    expect(await running(directory, "whole.csv", "--jobs", "1").exited).toBe(0)
    const whole = await readFile(join(directory, "whole.csv"))
    expect(left.length).toBeLessThan(whole.length)
    expect(whole.equals(await readFile(join(directory, "out.csv")))).toBe(true)
    expect(family.filter(systemProcesses.isRunning)).toEqual([])
  },
  300_000,
)

test("whoever reads the output and has enough ends the run without a word", async () => {
  const inputs = "jane@gmail.com\n".repeat(50_000)
  const child = Bun.spawn([...PROGRAM, "classify", "-", "--offline"], {
    stdin: Buffer.from(inputs),
    stdout: "pipe",
    stderr: "pipe",
  })
  const reader = child.stdout.getReader()
  await reader.read()
  await reader.cancel()
  expect(await child.exited).not.toBe(0)
  expect(await new Response(child.stderr).text()).toBe("")
}, 30_000)
