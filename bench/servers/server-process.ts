import { availableParallelism } from "node:os"
import type { Subprocess } from "bun"
import { cpuMsOf, processTree } from "./process-stats.ts"

/** A program to start: its command, what its environment has beside ours, and the core that it is bound to, if any. */
export type Program = {
  readonly command: readonly [string, ...string[]]
  readonly environment?: Readonly<Record<string, string>>
  readonly core?: Core
}

/** The core that servers get, or the one for what asks them. */
type Core = keyof typeof CORES
const CORES = { server: "0", load: "1" } as const

/** A server in a process of its own. Disposing of it ends the process. */
export type ServerProcess = AsyncDisposable & {
  /** The address from its start line: `http://host:port/`, or `dns://host:port`. */
  readonly url: URL
  /** Waits for the secret key that a first start prints. Rejects when the server ends without, and after the start's time. */
  readonly key: () => Promise<string>
  readonly pid: number
  /** Whether it is bound to the core of servers, so that what asks it gets the other. */
  readonly isBound: boolean
  /** CPU time that it and the processes that it has started had so far, in steps of 10 ms; NaN where the system does not tell. */
  readonly cpuMs: () => number
}

const ADDRESS = /(?:http|dns):\/\/[\w.:[\]-]+:\d+/
const KEY = /svc_live_[0-9A-Za-z]{38}/
const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 15_000
const SAID_MAX = 65_536

/** Whether programs are bound to cores: `taskset` is here, and a core for each. */
export const CAN_PIN = Bun.which("taskset") !== null && availableParallelism() >= 2

/** Starts a server and waits for the line that tells its address. Rejects with what it said when there is none. */
export async function startServer(program: Program): Promise<ServerProcess> {
  const child = Bun.spawn(spawnable(program), {
    env: environmentOf(program),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const received = listening(child)
  const stop = () => stopped(child)
  try {
    const [address] = await received(ADDRESS)
    return {
      url: new URL(address),
      key: async () => (await received(KEY))[0],
      pid: child.pid,
      isBound: CAN_PIN && program.core === "server",
      cpuMs: () => processTree(child.pid).reduce((sum, pid) => sum + cpuMsOf(pid), 0),
      [Symbol.asyncDispose]: stop,
    }
  } catch (fault) {
    await stop()
    throw fault
  }
}

/** Runs a program with `input` to its end and gives what it printed. Rejects with its complaint when it fails. */
export const runToEnd = async (program: Program, input: string, timeoutMs: number): Promise<string> =>
  (await runMeasured(program, timeoutMs, input)).out

/** The same, with the most resident memory that the process had, and its processor time. */
export async function runMeasured(
  program: Program,
  timeoutMs: number,
  input = "",
): Promise<{ readonly out: string; readonly peakBytes: number; readonly cpuMs: number }> {
  await using child = Bun.spawn(spawnable(program), {
    env: environmentOf(program),
    stdin: new TextEncoder().encode(input),
    stdout: "pipe",
    stderr: "pipe",
    timeout: timeoutMs,
  })
  const [out, complaint, exitCode] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited])
  if (exitCode !== 0) throw new Error(`${program.command.join(" ")} failed (${exitCode}): ${complaint.trim()}`)
  const usage = child.resourceUsage()
  // The system counts processor time in microseconds.
  return { out, peakBytes: usage?.maxRSS ?? Number.NaN, cpuMs: Number(usage?.cpuTime.total ?? Number.NaN) / 1000 }
}

const textOf = (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text()

function spawnable({ command, core }: Program): string[] {
  if (core === undefined || !CAN_PIN) return [...command]
  return ["taskset", "--cpu-list", CORES[core], ...command]
}

/** Our environment without settings of the product: a bench decides them itself. */
function environmentOf({ environment = {} }: Program): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("MAILKIND_"))
  return { ...Object.fromEntries(inherited), ...environment }
}

type Child = Subprocess<"ignore", "pipe", "pipe">

/** Reads all that a server says, and gives a function that waits until it has said something that matches. */
function listening(child: Child): (wanted: RegExp) => Promise<RegExpExecArray> {
  let reply = ""
  const waits = new Set<() => void>()
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      // The end is kept: a server that logs much must not fill our memory.
      reply = (reply + decoder.decode(chunk, { stream: true })).slice(-SAID_MAX)
      for (const look of waits) look()
    }
  }
  const ended = Promise.all([read(child.stdout), read(child.stderr)])
  return async wanted => {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
    const giveUp = (): void => reject(new Error(`the server never said what was waited for; it said: ${reply.trim()}`))
    const look = (): void => {
      // Only whole lines: an address must not be cut in its port.
      const match = wanted.exec(reply.slice(0, reply.lastIndexOf("\n") + 1))
      if (match !== null) resolve(match)
    }
    const timer = setTimeout(giveUp, START_TIMEOUT_MS)
    waits.add(look)
    look()
    void ended.then(giveUp, giveUp)
    return await promise.finally(() => {
      clearTimeout(timer)
      waits.delete(look)
    })
  }
}

/** Asks the server to stop, and ends it when it does not. */
async function stopped(child: Child): Promise<void> {
  child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS)
  await child.exited
  clearTimeout(timer)
}
