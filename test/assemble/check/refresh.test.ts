import { expect, test } from "bun:test"
import { startScheduledRefresh } from "../../../src/assemble/check/refresh.ts"
import type { Log } from "../../../src/base/log.ts"
import { formatRefreshState, INITIAL_REFRESH_STATE, STATE_FILE } from "../../../src/check/refresh/refresh-state.ts"
import { parseSettings } from "../../../src/config/settings.ts"
import type { CommandResult } from "../../../src/system/child-processes.ts"
import { createSystem } from "../../../src/system/system.ts"
import { knownLists, type Logged } from "../../support/app.ts"
import { stoppedClock } from "../../support/clock.ts"
import { memoryFolder } from "../../support/memory-folder.ts"

const MINUTE_MS = 60_000
const DAY_MINUTES = 1440
const START_MS = Date.UTC(2030, 0, 1)

/** A schedule in a time that the test moves; `run` stands for the command. */
function scheduled(hours: string, run: () => CommandResult | null) {
  const read = parseSettings({ MAILKIND_LISTS_REFRESH_HOURS: hours })
  if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
  const clock = stoppedClock(START_MS)
  const real = createSystem()
  const folder = memoryFolder()
  const manifest = new Blob([JSON.stringify(knownLists.manifest)])
  const logged: Logged[] = []
  const ran: (readonly string[])[] = []
  const written: string[] = []
  let look = (): void => undefined
  const world = {
    ...real,
    clock,
    files: { ...real.files, folder: () => folder, bundled: () => manifest },
    writeStderr: (text: string) => void written.push(text),
    random: (count: number) => new Uint8Array(count),
    runInterval: (_: number, work: () => void) => {
      look = work
      return () => {
        look = () => undefined
      }
    },
    processes: {
      ...real.processes,
      run: async (words: readonly string[]) => {
        ran.push(words)
        return run()
      },
    },
  }
  const log: Log = (level, message, fields = {}) => void logged.push({ level, message, fields })
  const end = startScheduledRefresh({ system: world, settings: read.settings, log })
  return {
    end,
    logged,
    ran,
    written,
    refreshed: () =>
      folder.writeAtomic(
        STATE_FILE,
        formatRefreshState({
          ...INITIAL_REFRESH_STATE,
          stock: knownLists.manifest.pack.sha256,
          refreshed_at_ms: clock(),
        }),
      ),
    /** Lets so many minutes pass, with a look after each. */
    pass: async (minutes: number): Promise<void> => {
      for (let minute = 0; minute < minutes; minute++) {
        clock.tick(MINUTE_MS)
        look()
        // A look reads two files, in memory.
        for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
      }
    },
  }
}

const ended = (facts: unknown, exitCode = 0, stderr = ""): CommandResult => ({
  exitCode,
  stderr,
  stdout: facts === null ? "" : JSON.stringify(facts),
})

test("lists are refreshed by a command of their own soon after the start, and what it says of sources is logged", async () => {
  const sources = {
    good: { outcome: "taken", says: "" },
    bad: { url: "https://user:secret@lists.example:8443/token?key=1", outcome: "refused", says: "It has no names." },
    mixed: { outcome: "taken", says: "", left_out: { count: 1, names: ["gmail.com"] } },
  }
  const schedule = scheduled("24", () => ended({ version: "v2", sources, faults: [] }))
  await schedule.pass(1)
  expect(schedule.ran).toEqual([["lists", "update", "--json"]])
  expect(schedule.logged).toEqual([
    {
      level: "warn",
      message: "a source of the lists could not be used",
      fields: {
        source: "bad",
        outcome: "refused",
        where: "https://lists.example:8443",
        why: "It has no names.",
        remedy: expect.stringContaining("mailkind lists update"),
      },
    },
    {
      level: "warn",
      message: "names of a source of the lists were left out",
      fields: {
        source: "mixed",
        count: 1,
        why: "It lists gmail.com, which cannot be on such a list and is left out.",
      },
    },
    { level: "info", message: "the lists were refreshed", fields: { version: "v2" } },
  ])
})

test("a refresh while another node refreshes is no failure, and is tried again within the hour", async () => {
  const busy = { version: null, sources: {}, faults: [], is_busy: true }
  const schedule = scheduled("24", () => ended(busy, 1, "error"))
  await schedule.pass(1)
  expect(schedule.logged).toEqual([{ level: "info", message: "another process refreshes the lists", fields: {} }])
  await schedule.pass(60)
  expect(schedule.ran).toHaveLength(2)
})

test("the next refresh comes with its time, and none after the end", async () => {
  const schedule = scheduled("24", () => ended({ version: null, sources: {}, faults: [] }))
  await schedule.refreshed()
  await schedule.pass(0.9 * DAY_MINUTES - 1)
  expect(schedule.ran).toHaveLength(0)
  await schedule.pass(1)
  expect(schedule.ran).toHaveLength(1)
  await schedule.refreshed()
  schedule.end()
  await schedule.pass(10)
  expect(schedule.ran).toHaveLength(1)
}, 30_000)

/** The fields of a line about a refresh that failed for this reason. */
const told = (why: string) => ({
  where: expect.stringContaining("lists"),
  why,
  remedy: expect.stringContaining("mailkind lists update"),
})

test.each<[string, CommandResult | null, string]>([
  ["takes too long", null, "It took too long or was killed."],
  ["fails before it asks", ended(null, 1), "It failed."],
  [
    "says why it fails",
    ended(null, 1, "The disk is full.\n  Free some space.\n"),
    "The disk is full. Free some space.",
  ],
])("a command that %s is logged, and not tried again for an hour", async (_, end, why) => {
  const schedule = scheduled("24", () => end)
  await schedule.pass(50)
  expect(schedule.ran).toHaveLength(1)
  expect(schedule.logged).toEqual([{ level: "error", message: "the lists were not refreshed", fields: told(why) }])
  await schedule.pass(10)
  expect(schedule.ran).toHaveLength(2)
})

test("lists that could not be made of what came are told as such", async () => {
  const schedule = scheduled("24", () => ended({ version: null, sources: {}, faults: ["Two words.", "Three."] }, 1))
  await schedule.pass(1)
  expect(schedule.logged).toEqual([
    {
      level: "error",
      message: "no new lists were built; the current ones stay in use",
      fields: told("Two words. Three."),
    },
  ])
})

test("a refresh without a useful source is a warning, and raw words of the command are not among the lines of the log", async () => {
  const sources = {
    one: { url: "https://one.example/", outcome: "failed", says: "It did not answer." },
    two: { url: "https://two.example/", outcome: "refused", says: "It has no names." },
  }
  const schedule = scheduled("24", () =>
    ended({ version: null, sources, faults: [] }, 1, '{"level":"debug","msg":"x"}\nNo source could be used.\n'),
  )
  await schedule.pass(1)
  expect(schedule.logged.at(-1)).toEqual({
    level: "warn",
    message: "the lists were not refreshed",
    fields: told("No source could be used. The last good copy of each is in use."),
  })
  expect(schedule.written).toEqual(['{"level":"debug","msg":"x"}\n'])
})

test("where it is off nothing is ever downloaded", async () => {
  const schedule = scheduled("off", () => null)
  await schedule.pass(30)
  expect(schedule.ran).toEqual([])
})
