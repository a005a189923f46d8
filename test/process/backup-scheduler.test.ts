import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { backupName, knownBackupAtMs, startBackupScheduler } from "../../src/process/backup-scheduler.ts"
import type { CommandResult } from "../../src/system/child-processes.ts"
import { tempPath } from "../customers/temp-store.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { createFakeTime, repeatingOn } from "../support/time.ts"

const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 0, 1)

/** A scheduler whose command writes the file that it is told to, or does what the test sets. */
function scheduled({ hours = 24, keep = 3 } = {}) {
  const directory = tempPath("backups")
  mkdirSync(directory)
  const time = createFakeTime(START_MS)
  const state = { offsetMs: 0, answer: null as CommandResult | null | "done" }
  state.answer = "done"
  const lines: { readonly level: string; readonly msg: string; readonly where?: unknown; readonly why?: unknown }[] = []
  const run = async (args: readonly string[]): Promise<CommandResult | null> => {
    if (state.answer !== "done") return state.answer
    writeFileSync(args[1] ?? "", "a database")
    return { exitCode: 0, stdout: JSON.stringify({ bytes: 10 }), stderr: "" }
  }
  const stop = startBackupScheduler({
    system: {
      clock: () => time.clock() + state.offsetMs,
      stopwatch: time.stopwatch,
      runInterval: repeatingOn(time.later),
      processes: { run },
    },
    log: (level, msg, fields) => void lines.push({ level, msg, ...fields }),
    directory,
    intervalMs: hours * HOUR_MS,
    keep,
  })
  onTestEnd(stop)
  return { directory, time, state, lines, stop, names: () => readdirSync(directory).sort() }
}

const full: CommandResult = {
  exitCode: 1,
  stdout: "",
  stderr: JSON.stringify({ error: { code: "failed", message: "The disk is full.", exit_code: 1 } }),
}

describe("a backup", () => {
  test("is made soon after the start, then at each interval, and as many as wanted are kept", async () => {
    const { time, names, lines } = scheduled()
    await time.tick(60_000)
    expect(names()).toEqual(["mailkind-20260101T000100Z.sqlite"])
    await time.tick(5 * 24 * HOUR_MS)
    expect(names()).toEqual([4, 5, 6].map(day => expect.stringContaining(`2026010${day}T`)))
    expect(new Set(lines.map(({ msg }) => msg))).toEqual(new Set(["a backup was written"]))
  })

  test("is not made again at a start while the last one is young", async () => {
    const { time, names, directory } = scheduled()
    writeFileSync(join(directory, backupName(START_MS - 23 * HOUR_MS)), "young")
    await time.tick(30 * 60_000)
    expect(names()).toHaveLength(1)
    await time.tick(HOUR_MS)
    expect(names()).toHaveLength(2)
  })

  test("leaves other files alone, and removes what a killed one has left", async () => {
    const { time, names, directory } = scheduled({ keep: 1 })
    for (const name of ["notes.txt", "mailkind-monday.sqlite", `${backupName(0)}.999999999.half`])
      writeFileSync(join(directory, name), "")
    await time.tick(60_000)
    await time.tick(24 * HOUR_MS)
    expect(names()).toEqual([
      expect.stringMatching(/^mailkind-20260102T\d{6}Z\.sqlite$/),
      "mailkind-monday.sqlite",
      "notes.txt",
    ])
  })
})

describe("a failure", () => {
  test("is logged with its reason, tried again after ten minutes, and removes no older backup", async () => {
    const { time, names, lines, state, directory } = scheduled({ keep: 1 })
    writeFileSync(join(directory, backupName(START_MS - 48 * HOUR_MS)), "old")
    state.answer = full
    await time.tick(30 * 60_000)
    const line = { msg: "no backup was written", where: directory, why: "The disk is full." }
    expect(lines).toMatchObject(["error", "debug", "debug"].map(level => ({ level, ...line })))
    expect(names()).toHaveLength(1)
    state.answer = "done"
    await time.tick(10 * 60_000)
    expect(names()).toEqual([expect.stringContaining("20260101T")])
  })

  test("of a command that was killed, or that says nothing, is told too", async () => {
    for (const [answer, why] of [
      [null, "It took too long or was killed."],
      [{ exitCode: 1, stdout: "", stderr: "" }, "It failed."],
    ] as const) {
      const { time, lines, state, directory } = scheduled()
      state.answer = answer
      await time.tick(60_000)
      expect(lines).toMatchObject([{ level: "error", msg: "no backup was written", where: directory, why }])
    }
  })

  test("of a directory whose disk is gone says so, and is over when it is back", async () => {
    const { time, lines, directory } = scheduled()
    rmSync(directory, { recursive: true })
    await time.tick(60_000)
    expect(lines.at(-1)?.why).toContain("does not exist. Is its disk mounted?")
    mkdirSync(directory)
    await time.tick(60_000)
    expect(lines.at(-1)?.msg).toBe("a backup was written")
  })
})

test("a clock that was set back makes one backup, and then one at each interval", async () => {
  const { time, names, state } = scheduled({ keep: 10 })
  await time.tick(60_000)
  state.offsetMs = -365 * 24 * HOUR_MS
  await time.tick(24 * HOUR_MS - 60_000)
  expect(names()).toHaveLength(1)
  await time.tick(60_000)
  expect(names()).toHaveLength(2)
  await time.tick(24 * HOUR_MS)
  expect(names()).toHaveLength(3)
})

test("nothing is begun after the end", async () => {
  const { time, stop, directory } = scheduled()
  stop()
  await time.tick(48 * HOUR_MS)
  expect([existsSync(directory), await knownBackupAtMs(directory, START_MS)]).toEqual([true, null])
  expect(await knownBackupAtMs(tempPath("nowhere"), START_MS)).toBeNull()
  for (const hours of [-2, -1, 1]) writeFileSync(join(directory, backupName(START_MS + hours * HOUR_MS)), "")
  // The age of a backup of the future is not known.
  expect(await knownBackupAtMs(directory, START_MS)).toBe(START_MS - HOUR_MS)
})
