import { mkdtempSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ROOT } from "../house/source.ts"

/** What an answer over HTTP held. */
export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Record<string, unknown>
}

type Sent = { readonly key?: string; readonly body?: unknown; readonly headers?: Record<string, string> }

/** A server that runs as a user starts it, from the checkout, and the commands beside it on the same data directory. */
export type ServerProcess = {
  /** The key that the first start printed. */
  readonly firstKey: string
  /** Runs a command and gives the JSON that it prints; rejects when it fails. */
  readonly run: (...args: readonly string[]) => Promise<unknown>
  /** Asks the server as one line: method and path. */
  readonly ask: (line: string, sent?: Sent) => Promise<Answer>
  /** Stops the server and gives its exit code and its log, then removes its data. */
  readonly stop: () => Promise<{ readonly code: number; readonly log: string }>
}

/** Starts the server on a free port over an empty data directory; it asks nobody outside of this machine. */
export async function serverProcess(settings: Record<string, string> = {}): Promise<ServerProcess> {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-day-"))
  const spawn = (args: readonly string[]) =>
    Bun.spawn([process.execPath, join(ROOT, "src/main.ts"), ...args], {
      cwd: directory,
      env: { HOME: directory, PATH: process.env["PATH"] ?? "", ...environment(directory), ...settings },
      stdout: "pipe",
      stderr: "pipe",
    })
  const server = spawn(["serve"])
  const log = new Response(server.stderr).text()
  const printed = await printedUpTo(server.stdout, /curl [^\n]*\n/)
  const url = /listens on (\S+)/.exec(printed)?.[1]
  if (url === undefined) throw new Error(`no start line in ${JSON.stringify(printed)}, but ${await log}`)
  return {
    firstKey: /svc_live_[0-9A-Za-z]{38}/.exec(printed)?.[0] ?? "",
    run: async (...args) => {
      const child = spawn([...args, "--json"])
      const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      if ((await child.exited) !== 0) throw new Error(`${args.join(" ")}: ${err}`)
      return JSON.parse(out)
    },
    ask: (line, sent) => asked(url, line, sent),
    stop: async () => {
      server.kill("SIGTERM")
      const code = await server.exited
      rmSync(directory, { recursive: true, force: true })
      return { code, log: await log }
    },
  }
}

const environment = (directory: string) => ({
  MAILKIND_DATA_DIR: join(directory, "data"),
  MAILKIND_PORT: "0",
  MAILKIND_DNS_SERVERS: "off",
  MAILKIND_IDENTITY_URL: "off",
})

async function printedUpTo(stream: ReadableStream<Uint8Array>, until: RegExp): Promise<string> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let printed = ""
  while (!until.test(printed)) {
    const { value, done } = await reader.read()
    if (done) break
    printed += decoder.decode(value, { stream: true })
  }
  // What comes later is of no interest.
  reader.releaseLock()
  return printed
}

/** `fetch` is shut in tests. */
function asked(url: string, line: string, { key, body, headers = {} }: Sent = {}): Promise<Answer> {
  const [method = "GET", path = "/"] = line.split(" ")
  const all = {
    ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers: all }, answer => {
      const chunks: Buffer[] = []
      answer.on("data", chunk => chunks.push(chunk))
      answer.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text === "" ? {} : JSON.parse(text) })
      })
    })
    sent.on("error", reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
