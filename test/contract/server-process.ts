import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../bench/servers/product.ts"
import { type Answered, askLoopback } from "../support/loopback.ts"
import { startProgram } from "../support/program.ts"

/** What an answer over HTTP held. */
export type Answer = Omit<Answered, "body"> & { readonly body: Record<string, unknown> }

type Sent = { readonly key?: string; readonly body?: unknown; readonly headers?: Record<string, string> }

/** A server that runs as a user starts it, from the checkout, and the commands beside it on the same data directory. */
export type ServerProcess = {
  readonly url: string
  /** The key that the first start printed. */
  readonly firstKey: string
  /** Runs a command and gives the JSON that it prints; rejects when it fails. */
  readonly run: (...args: readonly string[]) => Promise<unknown>
  /** Asks the server as one line: method and path. */
  readonly ask: (line: string, sent?: Sent) => Promise<Answer>
  /** All that the server has logged as soon as that matches. */
  readonly logged: (wanted: RegExp) => Promise<string>
  /** Stops the server and gives its exit code and its log, then removes its data. */
  readonly stop: () => Promise<{ readonly code: number; readonly log: string }>
}

/** Starts the server on a free port over an empty data directory; it asks nobody outside of this machine. */
export async function serverProcess(settings: Record<string, string> = {}): Promise<ServerProcess> {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-day-"))
  const environment = { ...environmentIn(directory), ...settings }
  const start = (...args: readonly string[]) => startProgram([...PROGRAM, ...args], directory, environment)
  const server = start("serve")
  const printed = await server.printed(/curl [^\n]*\n/)
  const url = /listens on (\S+)/.exec(printed)?.[1]
  if (url === undefined) throw new Error(`no start line in ${JSON.stringify(printed)}`)
  return {
    url,
    firstKey: /svc_live_[0-9A-Za-z]{38}/.exec(printed)?.[0] ?? "",
    run: async (...args) => {
      const { code, out, err } = await start(...args, "--json").ended()
      if (code !== 0) throw new Error(`${args.join(" ")}: ${err}`)
      return JSON.parse(out)
    },
    ask: (line, sent) => request(url, line, sent),
    logged: server.complained,
    stop: async () => {
      const { code, err: log } = await server.stop()
      rmSync(directory, { recursive: true, force: true })
      return { code, log }
    },
  }
}

const environmentIn = (directory: string) => ({
  HOME: directory,
  PATH: process.env["PATH"] ?? "",
  MAILKIND_DATA_DIR: join(directory, "data"),
  MAILKIND_PORT: "0",
  MAILKIND_DNS_SERVERS: "off",
  // On a machine that is busy otherwise anything may be slow.
  MAILKIND_SLOW_MS: "off",
  MAILKIND_IDENTITY_URL: "off",
  MAILKIND_LISTS_REFRESH_HOURS: "off",
})

async function request(url: string, line: string, { key, body, headers = {} }: Sent = {}): Promise<Answer> {
  const [method = "GET", path = "/"] = line.split(" ")
  const all = {
    ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...headers,
  }
  const text = body === undefined ? undefined : JSON.stringify(body)
  const answered = await askLoopback(`${url}${path}`, { method, headers: all, body: text })
  return { ...answered, body: answered.body === "" ? {} : JSON.parse(answered.body) }
}
