import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { startProgram } from "../../support/program.ts"

/** One line of the log, as it was written. */
export type LogLine = { readonly msg: string; readonly [field: string]: unknown }

/** A server of several workers that runs as a user starts it, from the checkout, in a directory and a process group of its own. */
export type WorkersServer = AsyncDisposable & {
  readonly port: number
  readonly firstKey: string
  readonly startLines: string
  /** The supervisor's id. */
  readonly pid: number
  /** The ids of the workers that listen, by their seats. */
  readonly workers: () => readonly number[]
  /** Resolves with the first `count` log lines that match, also of those that were written before. Rejects when the log ends. */
  readonly logged: (isWanted: (line: LogLine) => boolean, count?: number) => Promise<readonly LogLine[]>
  /** The log lines so far. */
  readonly lines: readonly LogLine[]
  /** Resolves with the whole log when neither the supervisor nor any worker is left. */
  readonly log: Promise<readonly LogLine[]>
  readonly exited: Promise<number>
  /** Runs a command on the same data directory and gives the JSON that it prints. */
  readonly run: (...args: readonly string[]) => Promise<unknown>
  /** Makes an account of tier 0, and gives its key. */
  readonly newKey: () => Promise<{ readonly id: string; readonly key: string }>
}

/** An environment in which everything stays in the directory, and nobody outside of this machine is asked. */
export const environment = (directory: string) => ({
  HOME: directory,
  PATH: process.env["PATH"] ?? "",
  MAILKIND_DATA_DIR: join(directory, "data"),
  MAILKIND_PORT: "0",
  MAILKIND_DNS_SERVERS: "off",
  MAILKIND_IDENTITY_URL: "off",
  MAILKIND_LISTS_REFRESH_HOURS: "off",
  // On a machine that is busy otherwise anything may be slow.
  MAILKIND_SLOW_MS: "off",
})

/** Starts a server of two workers on a free port over an empty data directory, and waits until it listens. */
export async function startWorkersServer(
  settings: Readonly<Record<string, string>> = {},
  program: readonly string[] = PROGRAM,
): Promise<WorkersServer> {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-crew-"))
  const env = { ...environment(directory), ...settings }
  // A group of its own: what a terminal sends to all of its processes can be sent to these.
  const grouped = { cwd: directory, env, stdout: "pipe", stderr: "pipe", detached: true } as const
  const server = Bun.spawn([...program, "serve", "--workers", "2"], grouped)
  const { logged, log, lines } = follow(server.stderr)
  const startLines = await printedUpTo(server.stdout, /leads to the dashboard\.\n/)
  const port = Number(/listens on http:\/\/[^:\s]+:(\d+)/.exec(startLines)?.[1])
  const run = async (...args: readonly string[]): Promise<unknown> => {
    const { out, err, code } = await startProgram([...PROGRAM, ...args, "--json"], directory, env).ended()
    if (code !== 0) throw new Error(`${args.join(" ")}: ${err}`)
    return JSON.parse(out)
  }
  let accountCount = 0
  return {
    port,
    firstKey: /svc_live_[0-9A-Za-z]{38}/.exec(startLines)?.[0] ?? "",
    startLines,
    pid: server.pid,
    workers: () => {
      const pids: number[] = []
      for (const { msg, worker, pid } of lines) if (msg === "a worker listens") pids[Number(worker)] = Number(pid)
      return pids
    },
    logged,
    lines,
    log,
    exited: server.exited,
    run,
    newKey: async () => {
      const email = `crew-${accountCount++}@example.com`
      await run("account", "create", email, "--tier", "0")
      return (await run("key", "create", "--account", email)) as { id: string; key: string } // as documented
    },
    [Symbol.asyncDispose]: async () => {
      server.kill("SIGKILL")
      await log
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Reads a log line by line. */
function follow(
  stream: ReadableStream<Uint8Array>,
): Pick<WorkersServer, "logged" | "log"> & { readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const looks = new Set<(isOver: boolean) => void>()
  const read = async (): Promise<readonly LogLine[]> => {
    const decoder = new TextDecoder()
    let text = ""
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true })
      const whole = text.split("\n")
      text = whole.pop() ?? ""
      for (const line of whole) lines.push(line.startsWith("{") ? JSON.parse(line) : { msg: line })
      for (const look of looks) look(false)
    }
    for (const look of looks) look(true)
    return lines
  }
  const logged: WorkersServer["logged"] = (isWanted, count = 1) =>
    new Promise((resolve, reject) => {
      const look = (isOver: boolean): void => {
        const found = lines.filter(isWanted).slice(0, count)
        if (found.length === count) resolve(found)
        else if (isOver) reject(new Error(`the log ended: ${JSON.stringify(lines)}`))
        else return
        looks.delete(look)
      }
      looks.add(look)
      look(false)
    })
  return { logged, log: read(), lines }
}

async function printedUpTo(stream: ReadableStream<Uint8Array>, until: RegExp): Promise<string> {
  const decoder = new TextDecoder()
  let printed = ""
  for await (const chunk of stream) {
    printed += decoder.decode(chunk, { stream: true })
    if (until.test(printed)) break
  }
  return printed
}
