import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { startProgram } from "../../support/program.ts"
import { sendSignal } from "../../support/send-signal.ts"
import { until } from "../../support/until.ts"
import { connectionsByWorker } from "./connections.ts"
import type { RawConnection } from "./raw-connection.ts"
import { environment, startWorkersServer, type WorkersServer } from "./workers-server.ts"

setDefaultTimeout(120_000)

const GMAIL = { domain: "gmail.com" }
const isStopping = ({ msg, worker }: { readonly msg: string; readonly worker?: unknown }): boolean =>
  msg === "stopping" && worker !== undefined

/** A request in flight at each worker: its head and the first octet of its body were sent, and the head was read. */
async function heldByEach(server: WorkersServer) {
  const seats = await connectionsByWorker(server)
  const held = seats.connections.map(([first]) => first).filter(each => each !== undefined)
  for (const each of held) each.check(server.firstKey, GMAIL, true)
  // What comes on another connection of a worker comes later, and is answered.
  for (const [, next] of seats.connections) {
    next?.check(server.firstKey, GMAIL)
    await next?.answer()
  }
  return { held, [Symbol.dispose]: () => seats[Symbol.dispose]() }
}

async function finished(held: readonly RawConnection[]): Promise<readonly number[]> {
  for (const each of held) each.finish()
  const answers = await Promise.all(held.map(each => each.answer()))
  return answers.map(({ status }) => status)
}

describe("a stop", () => {
  test("lets every worker finish what is in flight, and ends with 0", async () => {
    await using server = await startWorkersServer()
    using requests = await heldByEach(server)
    process.kill(server.pid, "SIGTERM")
    await server.logged(isStopping, 2)
    expect(await finished(requests.held)).toEqual([200, 200])
    expect(await server.exited).toBe(0)
    const log = await server.log
    expect(log.filter(({ level }) => level !== "info")).toEqual([])
    expect(log.find(({ msg, worker }) => msg === "stopping" && worker === undefined)).toMatchObject({
      asked_by: "SIGTERM",
    })
  })

  test("by Ctrl-C, which reaches the whole group, waits for what is in flight too", async () => {
    await using server = await startWorkersServer()
    using requests = await heldByEach(server)
    process.kill(-server.pid, "SIGINT")
    await server.logged(isStopping, 2)
    expect(await finished(requests.held)).toEqual([200, 200])
    expect(await server.exited).toBe(0)
  })

  test("of the whole group, as an init system does it, is one stop", async () => {
    await using server = await startWorkersServer()
    using requests = await heldByEach(server)
    process.kill(-server.pid, "SIGTERM")
    await server.logged(isStopping, 2)
    // The supervisor has asked them too before they take the lists anew.
    process.kill(-server.pid, "SIGHUP")
    await server.logged(({ msg }) => msg === "the lists were reloaded", 2)
    expect(await finished(requests.held)).toEqual([200, 200])
    expect(await server.exited).toBe(0)
    expect((await server.log).filter(({ level }) => level !== "info")).toEqual([])
  })

  test("that is asked for again at once is one stop, and a second later ends without waiting, with a line that says so", async () => {
    await using server = await startWorkersServer()
    using requests = await heldByEach(server)
    process.kill(server.pid, "SIGTERM")
    await server.logged(isStopping, 2)
    process.kill(server.pid, "SIGTERM")
    expect(await finished(requests.held.slice(1))).toEqual([200])
    await until(
      () => {
        try {
          sendSignal(server.pid, "SIGTERM")
        } catch {
          // It has ended, and its line is on the way.
        }
        return server.lines.some(({ msg }) => msg === "stopping at once")
      },
      () => "a second signal changes nothing",
    )
    expect(await server.exited).toBe(1)
    const killed = (await server.log).filter(({ killed_by: by }) => by === "SIGKILL")
    expect(killed).toHaveLength(1)
  })

  test("of the supervisor by force leaves nobody behind, and what is in flight is finished", async () => {
    await using server = await startWorkersServer()
    using requests = await heldByEach(server)
    process.kill(server.pid, "SIGKILL")
    await server.logged(isStopping, 2)
    expect(await finished(requests.held)).toEqual([200, 200])
    // The log ends when nobody is left who could write to it.
    const log = await server.log
    expect(log.filter(isStopping).map(({ asked_by: by }) => by)).toEqual(
      Array.from({ length: 2 }, () => "the end of the supervisor"),
    )
  })
})

test("lists are read anew by every worker", async () => {
  await using server = await startWorkersServer()
  process.kill(server.pid, "SIGHUP")
  const taken = await server.logged(({ msg }) => msg === "the lists were reloaded", 2)
  expect(taken.map(({ worker }) => worker).toSorted()).toEqual([0, 1])
})

describe("a start", () => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-start-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const failed = async (args: readonly string[], settings: Readonly<Record<string, string>>) => {
    const child = startProgram([...PROGRAM, ...args], directory, { ...environment(directory), ...settings })
    const { out, err, code } = await child.ended()
    return { out, lines: err.trim().split("\n"), code }
  }

  test("on a port that somebody listens on is refused in one sentence, also when they would share it", async () => {
    await using server = await startWorkersServer()
    for (const args of [["serve", "--workers", "2"], ["serve"]]) {
      const { out, lines, code } = await failed(args, { MAILKIND_PORT: String(server.port) })
      expect({ out, code, lines: lines.length }).toEqual({ out: "", code: 1, lines: 1 })
      expect(lines[0]).toContain(`Cannot listen on 127.0.0.1 port ${server.port}`)
    }
  })

  test("that cannot listen is told once", async () => {
    // An address of documentation (RFC 5737) is nobody's here.
    for (const port of ["0", "8080"]) {
      const settings = { MAILKIND_HOST: "203.0.113.1", MAILKIND_PORT: port }
      const { out, lines, code } = await failed(["serve", "--workers", "3"], settings)
      expect({ out, code, lines: lines.length }).toEqual({ out: "", code: 1, lines: 1 })
      expect(lines[0]).toContain("mailkind: Cannot listen on 203.0.113.1")
    }
  })

  test("that is wrong use ends with 2, before anything is made", async () => {
    const wrong = [
      { args: ["serve", "--workers", "0"], says: "from 1 to 128, or auto" },
      { args: ["serve", "--worker"], says: "Start workers with" },
    ]
    for (const { args, says } of wrong) {
      const { lines, code } = await failed(args, { MAILKIND_DATA_DIR: join(directory, "never") })
      expect([code, lines.join()]).toEqual([2, expect.stringContaining(says)])
    }
    expect(existsSync(join(directory, "never"))).toBe(false)
  })

  test("leaves only the store and the folder of jobs in the data directory, and the lists that an executable unpacks", async () => {
    await using server = await startWorkersServer({ MAILKIND_DATA_DIR: join(directory, "own") })
    expect(server.workers()).toHaveLength(2)
    const others = readdirSync(join(directory, "own")).filter(name => !name.startsWith("mailkind.sqlite"))
    expect(["jobs", "jobs,lists"]).toContain(others.toSorted().join())
  })

  test("with `auto` takes a worker for each core", async () => {
    const child = startProgram([...PROGRAM, "serve", "--workers", "auto"], directory, environment(directory))
    const printed = await child.printed(/curl [^\n]*\n/)
    const cores = availableParallelism()
    expect(/with (\d+) workers/.exec(printed)?.[1]).toBe(cores > 1 ? String(cores) : undefined)
    expect(await child.stop()).toMatchObject({ code: 0 })
  })
})
