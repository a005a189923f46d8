import { expect, test } from "bun:test"
import { createContext, faultsOf } from "../../src/assemble/context.ts"
import { logError } from "../../src/base/log.ts"
import { LOG_EVENTS, type LogEvent, type LogMessage } from "../../src/base/log-events.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { outageOf, STORE_ERRORS, StoreError, type StoreErrorCode } from "../../src/customers/store/core/store-error.ts"
import { createDescriptorWatch, DESCRIPTORS_COUNT_MS } from "../../src/process/descriptor-watch.ts"
import { SYSTEM_ERROR_REMEDIES } from "../../src/process/startup-error.ts"
import { createSystem } from "../../src/system/system.ts"

const PASSWORD = "letmein"

/** A context whose lines of the log are kept, with descriptors that the test opens and an interval that it runs. */
function desk(environment: Readonly<Record<string, string>> = {}) {
  const read = parseSettings({
    MAILKIND_DNS_SERVERS: "192.0.2.53",
    MAILKIND_DATA_DIR: "/var/lib/mailkind",
    ...environment,
  })
  if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
  const written: string[] = []
  const works = new Map<number, () => void>()
  const state = { open: 10, max: 100 }
  const system = createSystem()
  const context = createContext(
    {
      ...system,
      isTerminal: false,
      writeStderr: line => void written.push(line),
      processStats: () => ({ ...system.processStats(), descriptorCount: state.open, descriptorsMax: state.max }),
      runInterval: (everyMs, work) => {
        works.set(everyMs, work)
        return () => undefined
      },
    },
    read.settings,
  )
  const takeLines = (): readonly Line[] => written.splice(0).map(line => JSON.parse(line))
  return { context, takeLines, state, pass: (ms: number) => works.get(ms)?.() }
}

type Line = Readonly<Record<string, unknown>> & { readonly msg: LogMessage }

/** The line says which thing is out, what was seen with its code, and what an operator does, in fields that the guide has. */
function expectTold(line: Line | undefined, where: string, why: RegExp): void {
  if (line === undefined) throw new Error("no line was written")
  expect(line).toMatchObject({ where, why: expect.stringMatching(why), remedy: expect.stringMatching(/^[A-Z].{15}/) })
  expect(JSON.stringify(line)).not.toContain(PASSWORD)
  const { fields }: LogEvent = LOG_EVENTS[line.msg]
  const named = Object.keys(line).filter(name => !["time", "level", "msg"].includes(name))
  expect(named.filter(name => !fields.includes(name))).toEqual([])
}

const STORE_CODES = Object.keys(STORE_ERRORS) as StoreErrorCode[] // of the table itself
const PLACE = "postgres://db.example:5432/mailkind"

test("every line about a failing database names the database, what it said, and what to do", () => {
  for (const code of STORE_CODES) {
    const { context, takeLines } = desk()
    const error = new StoreError(code, PLACE, "55P03: canceling statement due to lock timeout")
    logError(context.log, "usage was not written")(error)
    expectTold(takeLines()[0], PLACE, /^55P03: /)
    faultsOf(context).outages("error", "the database does not answer", "the database answers again")(outageOf(error))
    expectTold(takeLines()[0], PLACE, /^55P03: /)
  }
})

test("the line before the first failed request names the database, without the password", () => {
  for (const [environment, where] of [
    [{}, "/var/lib/mailkind/mailkind.sqlite"],
    [{ MAILKIND_DATABASE_URL: `postgres://mailkind:${PASSWORD}@db.example/mailkind` }, /db\.example/],
  ] as const)
    for (const code of STORE_CODES) {
      const { context, takeLines } = desk(environment)
      context.log("info", "a request failed", { request_id: "req_1", fault: code })
      const [line] = takeLines()
      expect(line?.["where"]).toMatch(where)
      expectTold(line, String(line?.["where"]), /^[A-Z]/)
    }
})

test("every line about what the system refuses names the file or the folder, the code, and what to do", () => {
  for (const code of SYSTEM_ERROR_REMEDIES.keys()) {
    const told = (error: Error): Line | undefined => {
      const { context, takeLines } = desk()
      logError(context.log, "a job was interrupted", "/srv/jobs")(error)
      return takeLines()[0]
    }
    const error = Object.assign(new Error(`${code}: it is refused, write`), { code, syscall: "write" })
    expectTold(told(error), "/srv/jobs", new RegExp(`^${code}`))
    expectTold(told(Object.assign(error, { path: "/srv/jobs/one.list" })), "/srv/jobs/one.list", new RegExp(`^${code}`))
  }
})

test("the message of any other error is not logged, since it may hold anything", () => {
  const { context, takeLines } = desk()
  logError(context.log, "a job was interrupted", "/srv/jobs")(new Error("jane@example.com"))
  expect(takeLines()).toMatchObject([{ error: "Error" }])
  expect(Object.keys(takeLines()[0] ?? {})).not.toContain("why")
})

test("a lack of descriptors is told once with the limit and what to do, and once when it is over", () => {
  const { context, takeLines, state, pass } = desk()
  createDescriptorWatch(context.system, faultsOf(context)).start()
  const seen = (open: number): readonly Line[] => {
    state.open = open
    pass(DESCRIPTORS_COUNT_MS)
    return takeLines()
  }
  expect(seen(89)).toEqual([])
  const [line, ...others] = seen(90)
  expectTold(line, "this process", /^90 of 100 .*EMFILE/)
  expect([others, seen(100), seen(85)]).toEqual([[], [], []])
  expect(seen(79)).toMatchObject([{ level: "info", msg: "files and sockets are free again" }])
  expect(seen(90)).toHaveLength(1)
})

test("a system that tells no limit has no lack", () => {
  const { context, takeLines, state, pass } = desk()
  createDescriptorWatch(context.system, faultsOf(context)).start()
  Object.assign(state, { open: 5000, max: 0 })
  pass(DESCRIPTORS_COUNT_MS)
  expect(takeLines()).toEqual([])
})

test("a database that is busy is told in its own words: PostgreSQL by its locks, SQLite by who has the file open", () => {
  const [postgres, sqlite] = [PLACE, "/data/mailkind.sqlite"].map(place => new StoreError("busy", place, "x"))
  expect(postgres?.remedy).toMatch(/pg_stat_activity.*pg_locks/)
  expect(sqlite?.remedy).toContain("fuser")
  expect(`${postgres?.message} ${postgres?.remedy}`).not.toMatch(/process|file/)
  expect(`${sqlite?.message} ${sqlite?.remedy}`).not.toMatch(/pg_|PostgreSQL/)
})
