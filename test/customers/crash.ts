/**
 * Two servers on one data directory, many clients against one account's quota, and `kill -9` at any moment. What was
 * acknowledged has to be there afterwards, and no unit too many may have been admitted. `bun test/customers/crash.ts
 * --long [--seed N]` runs ten rounds with 200 clients; the test runs a short form.
 */

import { Database } from "bun:sqlite"
import { copyFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import { seeded } from "../../bench/load/seeded-random.ts"
import { emptyDirectory, PRODUCT, PROGRAM, productSettings } from "../../bench/servers/product.ts"
import { runToEnd } from "../../bench/servers/server-process.ts"
import { readTableLayouts } from "../../src/customers/store/backup/copy-to-postgres.ts"
import { Ledger } from "./crash-ledger.ts"
import { type Account, Load, request } from "./crash-load.ts"
import type { Progress } from "./crash-progress.ts"
import { Seat } from "./crash-seat.ts"

/** How much is done. A round has an account, and so a quota, of its own. */
export type CrashScale = {
  readonly rounds: number
  readonly clients: number
  /** How often a round kills one of the programs before it kills all of them. */
  readonly kills: number
  /** What the moments and the victims come from. */
  readonly seed: number
}

/** The form that a test runs, and the one that shows more. */
export const CRASH_SHORT: CrashScale = { rounds: 2, clients: 40, kills: 4, seed: 1 }
const CRASH_LONG: CrashScale = { rounds: 10, clients: 200, kills: 6, seed: 1 }

/** What a round found. */
export type CrashRound = {
  readonly admitted: number
  readonly refused: number
  /** Requests that a kill has left without an answer. */
  readonly unanswered: number
  /** Servers that were killed. */
  readonly serversKilled: number
  /** What was acknowledged so far, in this round and those before. */
  readonly acknowledged: { readonly created: number; readonly revoked: number; readonly reported: number }
  /** What must not be, in sentences. */
  readonly breaches: readonly string[]
}

const QUOTA = 1000
/** What a crash loses at most beside requests in flight: a block that is in hand and one that was just leased (1 % each). */
const LOST_UNITS_MAX = QUOTA / 50
const DAY_MS = 86_400_000
const COMMAND_TIMEOUT_MS = 20_000

/** Runs all rounds on one database and gives what each found; `told` hears of each at once. Rejects when a program ends by itself. */
export async function crashRounds(scale: CrashScale, facts: (round: CrashRound) => void = () => undefined) {
  await using directory = await emptyDirectory()
  const harness = new Harness(directory.path, scale)
  const rounds: CrashRound[] = []
  try {
    harness.start()
    for (let number = 0; number < scale.rounds; number++) {
      const round = await harness.round(number)
      rounds.push(round)
      facts(round)
    }
  } finally {
    await harness.kill()
  }
  return rounds
}

class Harness {
  readonly #scale: CrashScale
  readonly #settings: Readonly<Record<string, string>>
  readonly #path: string
  readonly #servers: readonly Seat[]
  readonly #writer: Seat
  readonly #ledger = new Ledger()
  readonly #random: () => number

  constructor(directory: string, scale: CrashScale) {
    this.#scale = scale
    this.#random = seeded(scale.seed)
    this.#path = join(directory, "mailkind.sqlite")
    this.#settings = { ...productSettings(directory), MAILKIND_TIERS: `0=-/-/${QUOTA}` }
    this.#servers = [0, 1].map(() => new Seat(PRODUCT.source, this.#settings))
    this.#writer = new Seat([process.execPath, join(import.meta.dir, "crash-writer.ts"), this.#path], {})
  }

  get #seats(): readonly Seat[] {
    return [...this.#servers, this.#writer]
  }

  start(): void {
    for (const seat of this.#seats) seat.start()
  }

  async kill(): Promise<void> {
    await Promise.all(this.#seats.map(seat => seat.kill()))
  }

  async round(number: number): Promise<CrashRound> {
    const account = await this.#newAccount(number)
    const load = new Load(account, this.#ledger, this.#servers)
    const killedBefore = this.#serversKilled
    const dayBefore = Math.floor(Date.now() / DAY_MS)
    const killing = this.#killSome(load.progress)
    await load.run(this.#scale.clients, killing, this.#writer, `round${number}`)
    await killing
    await this.kill()
    const breaches = integrityOf(this.#copy())
    this.start()
    // What is left of the quota now, if anything, is admitted; what was admitted before stays so.
    await Promise.all(this.#servers.map(server => load.client(server, () => true)))
    const days = Math.floor(Date.now() / DAY_MS) - dayBefore + 1
    breaches.push(...load.breaches, ...(await this.#lost()), ...integrityOf(this.#path))
    for (const { complaints } of this.#seats) breaches.push(...complaints.splice(0))
    const { admitted, refused, unanswered } = load
    const serversKilled = this.#serversKilled - killedBefore
    // Where midnight (UTC) came in between, there were two quotas.
    if (admitted > QUOTA * days) breaches.push(`${admitted} were admitted of ${QUOTA} on ${days} days`)
    const lostMax = unanswered + serversKilled * LOST_UNITS_MAX
    if (admitted + lostMax < QUOTA) breaches.push(`only ${admitted} were admitted, and crashes lost ${lostMax} at most`)
    return { admitted, refused, unanswered, serversKilled, acknowledged: this.#acknowledged(), breaches }
  }

  get #serversKilled(): number {
    return this.#servers.reduce((sum, { killedCount }) => sum + killedCount, 0)
  }

  /** An account of tier 0 with the key of the clients, made as an operator makes them. */
  async #newAccount(number: number): Promise<Account> {
    const email = `round${number}@example.com`
    const { id } = JSON.parse(await this.#command("account", "create", email, "--tier", "0", "--json"))
    const made = JSON.parse(await this.#command("key", "create", "--account", email, "--json"))
    this.#ledger.created(made.id, made.key)
    return { id, key: made.key }
  }

  #command(...words: readonly string[]): Promise<string> {
    return runToEnd({ command: [...PROGRAM, ...words], environment: this.#settings }, "", COMMAND_TIMEOUT_MS)
  }

  /** Kills each program at least once when there are kills enough, at moments that are numbers of answers. */
  async #killSome(progress: Progress): Promise<void> {
    const { kills, clients } = this.#scale
    const pick = (max: number): number => Math.floor(this.#random() * max)
    const seats = this.#seats
    const turn = pick(seats.length)
    const moments = Array.from({ length: kills }, () => clients / 2 + pick(QUOTA * 1.2)).sort((a, b) => a - b)
    for (const [at, moment] of moments.entries()) {
      const seat = seats[at < seats.length ? (turn + at) % seats.length : pick(seats.length)]
      await progress.reached(moment)
      await seat?.kill()
      seat?.start()
    }
  }

  /** What was acknowledged and is not there, in sentences. */
  async #lost(): Promise<readonly string[]> {
    const lost: string[] = []
    for (const [state, wanted] of [["active", "200"] as const, ["revoked", "401 key_revoked"] as const])
      for (const [at, key] of this.#ledger.keys(state).entries()) {
        const server = this.#servers[at % this.#servers.length]
        const { status, body } = await request(await server?.ready(), "getUsage", key)
        const found = status === 200 ? "200" : `${status} ${JSON.parse(body).code}`
        if (found !== wanted) lost.push(`a key that was acknowledged as ${state} is answered ${found}`)
      }
    const listed: readonly { readonly id: string }[] = JSON.parse(await this.#command("feedback", "list", "--json"))
    const gone = this.#ledger.reports.difference(new Set(listed.map(({ id }) => id)))
    if (gone.size > 0) lost.push(`${gone.size} reports that were acknowledged are gone`)
    return lost
  }

  #acknowledged(): CrashRound["acknowledged"] {
    const [active, revoked] = [this.#ledger.keys("active").length, this.#ledger.keys("revoked").length]
    return { created: active + revoked, revoked, reported: this.#ledger.reports.size }
  }

  /** A copy of the database as the crash has left it: to open the original would mend it before the servers have to. */
  #copy(): string {
    const copy = `${this.#path}.copy`
    for (const suffix of ["", "-wal"])
      if (existsSync(this.#path + suffix)) copyFileSync(this.#path + suffix, copy + suffix)
    return copy
  }
}

/** What SQLite finds wrong with a database file, and the columns with values that their PostgreSQL type refuses, in sentences. */
export function integrityOf(path: string): string[] {
  using database = new Database(path, { readwrite: true, create: false })
  const found = database.query("PRAGMA integrity_check").values().flat().map(String)
  const orphans = database.query("PRAGMA foreign_key_check").values()
  return [
    ...found.filter(description => description !== "ok"),
    ...orphans.map(row => `a row without its parent: ${row.join(" ")}`),
    ...unfitColumns(database),
  ]
}

function unfitColumns(database: Database): readonly string[] {
  const columns = readTableLayouts(database).flatMap(({ name, columns, types }) =>
    columns.map((column, index) => ({ name, column, type: types[index] === "BIGINT" ? "integer" : "text" })),
  )
  return columns
    .filter(({ name, column, type }) => {
      const unfit = `typeof("${column}") NOT IN ('null', '${type}') OR "${column}" > ${Number.MAX_SAFE_INTEGER} AND '${type}' = 'integer'`
      return database.query(`SELECT 1 FROM "${name}" WHERE ${unfit} LIMIT 1`).values().length > 0
    })
    .map(({ name, column, type }) => `${name}.${column} holds a value that is no ${type}`)
}

/** Exit codes: 0 nothing was breached, 1 something was. */
async function main(args: readonly string[]): Promise<number> {
  const form = args.includes("--long") ? CRASH_LONG : CRASH_SHORT
  const seed = args.includes("--seed") ? Number(args[args.indexOf("--seed") + 1]) : form.seed
  const rounds = await crashRounds({ ...form, seed }, round => console.log(JSON.stringify(round)))
  return rounds.some(({ breaches }) => breaches.length > 0) ? 1 : 0
}

if (import.meta.main) process.exitCode = await main(Bun.argv.slice(2))
