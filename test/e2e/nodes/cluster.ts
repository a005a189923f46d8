import { mkdtempSync, rmSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { bounded } from "../../support/bounded.ts"
import { freePort } from "../../support/free-port.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { programsDatabase } from "../../support/postgres-databases.ts"
import { type Program, startProgram } from "../../support/program.ts"

/** A place for a node: a port and a data directory, on which one program after the other serves. */
export type ClusterNode = {
  readonly port: number
  /** Starts a program of `sources` there, by `serve`, these words and settings, and resolves when it listens. */
  readonly serve: (
    words?: readonly string[],
    sources?: string,
    own?: Readonly<Record<string, string>>,
  ) => Promise<Program>
}

/** Places for nodes that share a database, which end with the test. */
export type Cluster = {
  /** Sends the database a statement, and gives what it prints. */
  readonly psql: (sql: string) => string
  readonly databaseUrl: URL
  readonly nodes: readonly ClusterNode[]
  /** Starts a command of an operator. */
  readonly start: (words: readonly string[], sources?: string) => Program
  /** A key of a new account, without limits. */
  readonly newKey: (email?: string, sources?: string) => Promise<string>
}

const programOf = (sources?: string): readonly string[] =>
  sources === undefined ? PROGRAM : [process.execPath, join(sources, "src/main.ts")]

/** Makes so many places. */
export async function createCluster(count: number, settings: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  const { url, psql } = await programsDatabase()
  // A socket is made in each data directory, whose path has few letters.
  const directory = mkdtempSync(join(tmpdir(), "n"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const started = (
    name: string,
    port: number,
    words: readonly string[],
    sources?: string,
    own: Readonly<Record<string, string>> = {},
  ): Program => {
    const program = startProgram([...programOf(sources), ...words], directory, {
      HOME: directory,
      PATH: process.env["PATH"] ?? "",
      MAILKIND_DATA_DIR: join(directory, name),
      MAILKIND_DATABASE_URL: url,
      MAILKIND_PORT: String(port),
      MAILKIND_DNS_SERVERS: "off",
      MAILKIND_IDENTITY_URL: "off",
      MAILKIND_LISTS_REFRESH_HOURS: "off",
      MAILKIND_SLOW_MS: "off",
      ...settings,
      ...own,
    })
    onTestEnd(program.kill)
    return program
  }
  const placeAt = async (at: number): Promise<ClusterNode> => {
    const port = freePort()
    return {
      port,
      serve: async (words = [], sources, own) => {
        const program = started(`${at}`, port, ["serve", ...words], sources, own)
        await program.printed(/listens on/)
        return program
      },
    }
  }
  const start = (words: readonly string[], sources?: string): Program => started("operator", 0, words, sources)
  return {
    psql,
    databaseUrl: new URL(url),
    nodes: await Promise.all(Array.from({ length: count }, (_, at) => placeAt(at))),
    start,
    newKey: async (email = "load@example.com", sources) => {
      await start(["account", "create", email, "--tier", "4"], sources).ended()
      const { out } = await start(["key", "create", "--account", email, "--json"], sources).ended()
      return JSON.parse(out).key
    },
  }
}

/** Enough accounts for the reports of the slowest test: a caller sends about a hundred a second. */
const REPORTERS = 12

/** Keys of several accounts: one account sends `LIMITS.feedbackPerDay` reports a day. */
export const reporterKeys = ({ newKey }: Pick<Cluster, "newKey">): Promise<string[]> =>
  Promise.all(Array.from({ length: REPORTERS }, (_, index) => newKey(`reporter-${index}@example.com`)))

/** What is asked: method and path, and a body. */
export type ApiRequest = readonly [line: string, body?: unknown]

/** How long a caller waits after an answer before it asks again. */
const PAUSE_MS = 5

/** Callers that ask again and again. */
export type Load = {
  /** Resolves when each caller has had so many answers more. */
  readonly goesOn: (count: number) => Promise<void>
  /** Ends it and gives all that was answered, as `status: count`; 0 is no answer at all. */
  readonly end: () => Promise<Readonly<Record<number, number>>>
  /** How many processes have answered: each has request ids of its own. */
  readonly processesCount: () => number
}

/** How many letters of a request id its process has drawn. */
const RUN_LENGTH = "req_".length + 12

/** Has a caller for each entry of `callers` ask it over and over, at one of `ports` after the other, on connections that are kept. */
export function startLoad(ports: readonly number[], keys: readonly string[], callers: readonly ApiRequest[]): Load {
  const agent = new Agent({ keepAlive: true })
  const processes = new Set<string>()
  const counts: Record<number, number> = {}
  const answeredBy = callers.map(() => 0)
  const waiting = new Set<() => void>()
  const state = { isOver: false }
  const caller = async (request: ApiRequest, at: number): Promise<void> => {
    for (let round = at; !state.isOver; round++) {
      const { status, id } = await ask(
        agent,
        ports[round % ports.length] ?? 0,
        keys[round % keys.length] ?? "",
        request,
      )
      counts[status] = (counts[status] ?? 0) + 1
      if (id !== "") processes.add(id.slice(0, RUN_LENGTH))
      answeredBy[at] = (answeredBy[at] ?? 0) + 1
      for (const look of waiting) look()
      await Bun.sleep(PAUSE_MS)
    }
  }
  const all = Promise.all(callers.map(caller))
  const goesOn = (count: number): Promise<void> => {
    const wanted = answeredBy.map(had => had + count)
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = (): void => {
      if (wanted.every((want, at) => (answeredBy[at] ?? 0) >= want)) resolve()
    }
    waiting.add(look)
    return bounded(promise, () => JSON.stringify(counts)).finally(() => waiting.delete(look))
  }
  return {
    goesOn,
    end: async () => {
      state.isOver = true
      await bounded(all, () => JSON.stringify(counts))
      agent.destroy()
      return counts
    },
    processesCount: () => processes.size,
  }
}

/** Asks once; status 0: no answer came. */
function ask(
  agent: Agent,
  port: number,
  key: string,
  [line, body]: ApiRequest,
): Promise<{ status: number; id: string }> {
  const [method = "", path = ""] = line.split(" ")
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const { promise, resolve } = Promise.withResolvers<{ status: number; id: string }>()
  const sent = request({ agent, port, host: "127.0.0.1", method, path, headers }, answer => {
    answer.resume()
    answer.on("error", () => resolve({ status: 0, id: "" }))
    answer.on("end", () =>
      resolve({ status: answer.statusCode ?? 0, id: String(answer.headers["x-request-id"] ?? "") }),
    )
  })
  sent.on("error", () => resolve({ status: 0, id: "" }))
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}
