import { join } from "node:path"
import { statusBytes } from "../../../bench/servers/process-stats.ts"
import { POSTGRES_PROGRAMS } from "../../support/postgres.ts"
import { programsDatabase } from "../../support/postgres-databases.ts"
import type { TestServer } from "../../support/test-server.ts"

/** How a fault is to be done. */
export type Doing = {
  /** How often, or how many of it; each fault says which. */
  readonly times: number
  /** The form that takes its time: it waits for what a server does by its own clock. */
  readonly isLong: boolean
  /** The product's program, whose commands follow. */
  readonly program: readonly string[]
  /** Chance that is the same on every run. */
  readonly random: () => number
}

/** What was found. */
export type Found = {
  /** What was done, in a sentence. */
  readonly did: string
  readonly times: number
  /** How much had been acknowledged, all of which has to be there afterwards. */
  readonly acknowledged: number
  /** What must not be, in sentences: what is lost of it stands here too. */
  readonly breaches: readonly string[]
  /** The longest time until it served again; null: another fault measures it. */
  readonly backMs: number | null
  /** Resident memory before and after, in bytes; null: it is another process afterwards. */
  readonly memory: { readonly before: number; readonly after: number } | null
  /** What callers saw, as a table, where that is more than a line. */
  readonly saw?: string
}

/** It cannot be done here. */
export type LeftOut = { readonly leftOut: string }

/** One thing that goes wrong, and the promise that it tests. */
export type Fault = {
  readonly promise: string
  /** How often it is done in the tests, and by `bun run faults`. */
  readonly times: { readonly short: number; readonly long: number }
  readonly does: (doing: Doing) => Promise<Found | LeftOut>
}

/** A server serves again within this time after each fault: a budget of the long form. */
export const BACK_MS_MAX = 2000
/** Its memory is then at most so many times what it was, and a little. */
const GROWTH_MAX = 1.5
const NOISE_BYTES = 60_000_000

/** Whether a promise was broken: something was lost or is wrong, it took too long, or memory grew. */
export function breachesOf({ breaches, backMs, memory }: Found, isLong: boolean): readonly string[] {
  const isLate = isLong && backMs !== null && !(backMs <= BACK_MS_MAX)
  const hasGrown = isLong && memory !== null && memory.after > memory.before * GROWTH_MAX + NOISE_BYTES
  return [
    ...breaches,
    ...(isLate ? [`it served again only after ${Math.round(backMs ?? 0)} ms`] : []),
    ...(hasGrown ? ["its memory grew"] : []),
  ]
}

/** How long the work takes, in milliseconds. */
export async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

/** How long it takes until a check with a key is answered 200. Rejects when it is answered otherwise for too long. */
export function untilServed(victim: TestServer): Promise<number> {
  return tookMs(async () => {
    const until = performance.now() + SERVED_MS_MAX
    for (;;) {
      const status = await victim.check().catch(() => 0)
      if (status === 200) return
      if (performance.now() > until)
        throw new Error(`a check is answered ${status}; the log: ${victim.log.slice(-2000)}`)
    }
  })
}

const SERVED_MS_MAX = 30_000

/**
 * Copies the rows of a server, which may run, to a new PostgreSQL database, where each is read back and compared: what fails, and what
 * the copy had to change, in sentences.
 */
export async function copiedToPostgres(victim: TestServer): Promise<readonly string[]> {
  if (POSTGRES_PROGRAMS === null) return []
  const { url } = await programsDatabase()
  const dataDirectory = join(victim.directory, `copy-${url.slice(url.lastIndexOf("/") + 1)}`)
  await victim.run("backup", join(dataDirectory, "mailkind.sqlite"))
  const settings = { MAILKIND_DATA_DIR: dataDirectory }
  const { code, out, err } = await victim.commandWith(settings, "store", "copy", "--to", url, "--json")
  if (code !== 0) return [`store copy fails: ${err}`]
  const { tables }: { tables: readonly { name: string; rows: number; repaired: number }[] } = JSON.parse(out)
  if (!tables.some(({ rows }) => rows > 0)) return ["store copy finds no rows"]
  return tables.filter(({ repaired }) => repaired > 0).map(({ name }) => `store copy changes values of ${name}`)
}

/** What a server holds in memory. */
export const residentOf = ({ pid }: TestServer): number => statusBytes(pid, "VmRSS")

/** A whole number from 0 to below `bound`. */
export const below = (random: () => number, bound: number): number => Math.floor(random() * bound)
