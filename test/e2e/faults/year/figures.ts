import { Database } from "bun:sqlite"
import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { cpuMsOf, descriptorsOf, processTree, statusBytes } from "../../../../bench/servers/process-stats.ts"
import { TABLE_NAMES } from "../../../../src/customers/store/migrations/migrations.ts"
import type { TestServer } from "../../../support/test-server.ts"
import { textTable } from "../seconds.ts"
import type { Callers } from "./callers.ts"

/** What is measured of a server on one day: names to numbers, in the unit that the name ends with. */
export type Figures = {
  readonly day: number
  readonly rows: ReadonlyMap<string, number>
  readonly values: ReadonlyMap<string, number>
}

const CHECKS_A_SECOND = 400
const MB = 1_000_000

/** Measures a server, and what so many checks cost it. `backups`: the folder of its backups. */
export async function measure(
  day: number,
  { server, callers, backups }: { server: TestServer; callers: Callers; backups: string },
  checks: number,
): Promise<Figures> {
  const values = new Map<string, number>()
  const cpuBefore = cpuMs(server)
  await callers.askEvenly(checks, CHECKS_A_SECOND)
  values.set("processor µs a check", ((cpuMs(server) - cpuBefore) * 1000) / checks)
  const processes = processTree(server.pid)
  const sum = (read: (pid: number) => number): number => processes.reduce((total, pid) => total + read(pid), 0)
  values.set("resident MB", sum(pid => statusBytes(pid, "VmRSS")) / MB)
  values.set("private MB", sum(pid => statusBytes(pid, "RssAnon")) / MB)
  values.set(
    "descriptors",
    sum(pid => descriptorsOf(pid).all),
  )
  for (const [name, bytes] of diskOf(server, backups)) values.set(`${name} MB`, bytes / MB)
  values.set("free pages of the database MB", freeBytesOf(server) / MB)
  values.set("log KB", server.log.length / 1000)
  return { day, rows: rowsOf(server), values }
}

/** Processor time that a server and what it has started took so far. */
export const cpuMs = ({ pid }: TestServer): number => processTree(pid).reduce((sum, one) => sum + cpuMsOf(one), 0)

function rowsOf(server: TestServer): ReadonlyMap<string, number> {
  using database = new Database(server.database, { readonly: true })
  const counts = TABLE_NAMES.map(name => {
    const row = database.query<{ count: number }, []>(`SELECT COUNT(*) AS count FROM ${name}`).get()
    return [name, row?.count ?? 0] as const
  })
  return new Map(counts)
}

/** What the database keeps of deleted rows, to use it again. */
function freeBytesOf(server: TestServer): number {
  using database = new Database(server.database, { readonly: true })
  const pragma = (name: string): number => Number(database.query(`PRAGMA ${name}`).values()[0]?.[0])
  return pragma("freelist_count") * pragma("page_size")
}

function diskOf(server: TestServer, backups: string): readonly (readonly [name: string, bytes: number])[] {
  return [
    ["database", statSync(server.database).size],
    ["log of the database", statSync(`${server.database}-wal`, { throwIfNoEntry: false })?.size ?? 0],
    ["jobs", bytesUnder(join(server.dataDirectory, "jobs"))],
    ["lists", bytesUnder(join(server.dataDirectory, "lists"))],
    ["backups", bytesUnder(backups)],
    ["data directory", bytesUnder(server.dataDirectory)],
  ]
}

function bytesUnder(folder: string): number {
  if (!existsSync(folder)) return 0
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return files.reduce(
    (sum, { parentPath, name }) => sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

/** How often a server told each warning and error. */
export function complaintsTable(log: string): string {
  const counts = new Map<string, number>()
  for (const [, level, message] of log.matchAll(/"level":"(warn|error)".*?"msg":"([^"]*)"/g))
    counts.set(`${level}: ${message}`, (counts.get(`${level}: ${message}`) ?? 0) + 1)
  return textTable([...counts].map(([complaint, count]) => [complaint, String(count)]))
}

/** All figures as a table, a column a day. */
export function figuresTable(all: readonly Figures[]): string {
  const names = new Set(all.flatMap(({ values, rows }) => [...values.keys(), ...rows.keys()]))
  const shown = (value: number | undefined): string =>
    value === undefined ? "–" : value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1)
  return textTable([
    ["day", ...all.map(({ day }) => String(day))],
    ...[...names].map(name => [name, ...all.map(({ values, rows }) => shown(values.get(name) ?? rows.get(name)))]),
  ])
}
