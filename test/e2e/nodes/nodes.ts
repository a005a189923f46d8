import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { bounded } from "../../support/bounded.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { programsDatabase } from "../../support/postgres-databases.ts"
import { startProgram } from "../../support/program.ts"

/** What an answer was: its status, what it tells of limits, and the members of its body. */
export type Answer = {
  readonly status: number
  readonly retryAfter: string | null
  /** Its `RateLimit-Policy` and `RateLimit`. */
  readonly rateLimit: string
  readonly body: Readonly<Record<string, unknown>>
}

/** One server of several that share a database, as a user starts it. */
export type Node = {
  /** Asks it with a key, and maybe an idempotency key; null: it did not answer. */
  readonly ask: (line: string, key: string, body?: unknown, again?: string) => Promise<Answer | null>
  /** Kills it and starts it anew. */
  readonly replace: () => Promise<void>
  readonly logged: (wanted: RegExp) => Promise<string>
  /** Kills it. */
  readonly kill: () => Promise<unknown>
  readonly stop: () => Promise<{ readonly code: number; readonly err: string }>
}

/** So many nodes over one database, the commands of an operator, and a new account's key. */
export type Nodes = {
  /** Sends the database a statement, and gives what it prints. */
  readonly psql: (sql: string) => string
  readonly nodes: readonly Node[]
  readonly run: (...args: readonly string[]) => Promise<unknown>
  readonly newKey: (tier: number) => Promise<{ readonly id: string; readonly key: string }>
}

/** Starts them, by these words, over a database of their own or another one; they end with the test. */
export async function startNodes(
  count: number,
  settings: Readonly<Record<string, string>> = {},
  words: readonly string[] = ["serve"],
): Promise<Nodes> {
  const { url, psql } = await programsDatabase()
  const directory = mkdtempSync(join(tmpdir(), "mailkind-nodes-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const environment = (name: string) => ({
    HOME: directory,
    PATH: process.env["PATH"] ?? "",
    MAILKIND_DATA_DIR: join(directory, name),
    MAILKIND_DATABASE_URL: url,
    MAILKIND_PORT: "0",
    MAILKIND_DNS_SERVERS: "off",
    MAILKIND_IDENTITY_URL: "off",
    MAILKIND_LISTS_REFRESH_HOURS: "off",
    MAILKIND_SLOW_MS: "off",
    ...settings,
  })
  const start = (name: string, ...args: readonly string[]) =>
    startProgram([...PROGRAM, ...args], directory, environment(name))
  const run = async (...args: readonly string[]): Promise<unknown> => {
    const { code, out, err } = await start("operator", ...args, "--json").ended()
    if (code !== 0) throw new Error(`${args.join(" ")}: ${err}`)
    return JSON.parse(out)
  }
  const nodes = await Promise.all(Array.from({ length: count }, (_, at) => startNode(() => start(`${at}`, ...words))))
  let accountCount = 0
  return {
    psql,
    nodes,
    run,
    newKey: async tier => {
      const email = `node-${accountCount++}@example.com`
      await run("account", "create", email, "--tier", String(tier))
      return (await run("key", "create", "--account", email)) as { id: string; key: string } // as documented
    },
  }
}

async function startNode(start: () => ReturnType<typeof startProgram>): Promise<Node> {
  const begin = async () => {
    const program = start()
    const address = /listens on (\S+)/.exec(await program.printed(/listens on \S+/))?.[1] ?? ""
    return { program, address }
  }
  let now = await begin()
  onTestEnd(() => now.program.kill())
  return {
    ask: async (line, key, body, again) => {
      const [method = "", path = ""] = line.split(" ")
      const once = again === undefined ? {} : { "idempotency-key": again }
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...once }
      const text = body === undefined ? undefined : JSON.stringify(body)
      const answered = await askLoopback(`${now.address}${path}`, { method, headers, body: text }).catch(() => null)
      if (answered === null) return null
      const retryAfter = answered.headers["retry-after"]
      return {
        status: answered.status,
        rateLimit: [answered.headers["ratelimit-policy"], answered.headers["ratelimit"]].join(" / "),
        retryAfter: typeof retryAfter === "string" ? retryAfter : null,
        body: JSON.parse(answered.body),
      }
    },
    replace: async () => {
      await now.program.kill()
      now = await begin()
    },
    logged: wanted => now.program.complained(wanted),
    kill: () => now.program.kill(),
    stop: () => now.program.stop(),
  }
}

const CHECK = "POST /v1/check"
const INPUT = { email: "jane@acme-widgets-of-nodes.com" }
export const FEEDBACK = { ...INPUT, expected_category: "relay" }

export const check = (node: Node, key: string): Promise<Answer | null> => node.ask(CHECK, key, INPUT)

/** Asks again until the answer is as wanted; gives it, and how long that took. */
export async function untilAnswered(wanted: (answer: Answer) => boolean, ask: () => Promise<Answer | null>) {
  const startedAt = performance.now()
  let last: Answer | null = null
  const asking = async (): Promise<Answer> => {
    for (;;) {
      last = await ask()
      if (last !== null && wanted(last)) return last
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
  const answer = await bounded(asking(), () => `the last answer was ${JSON.stringify(last)}`)
  return { answer, tookMs: Math.round(performance.now() - startedAt) }
}

export const nodeAt = ({ nodes }: Nodes, at: number): Node => {
  const found = nodes[at % nodes.length]
  if (found === undefined) throw new Error("there are nodes")
  return found
}
