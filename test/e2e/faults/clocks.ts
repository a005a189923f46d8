import { renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { integrityOf } from "../../customers/crash.ts"
import { TestServer } from "../../support/test-server.ts"
import { below, type Doing, type Found, residentOf, untilServed } from "./fault.ts"

const CHILD = [process.execPath, join(import.meta.dir, "clock-child.ts")]
const DAY_MS = 86_400_000
const QUOTA = 40
const ASKED = QUOTA + 5
const START = Date.UTC(2031, 2, 14, 23, 59, 50)
/** How a clock is set, one after the other, in milliseconds: over midnight (UTC) and back, years ahead and back. */
const STEPS = [0, 20_000, -20_000, 20_000, -3_600_000, DAY_MS, -DAY_MS, 400 * DAY_MS, -400 * DAY_MS, 5000] as const

/** Sets the clock of a server forwards and backwards over midnight while an account asks for more than its quota. */
export async function steppedClock({ times, random }: Doing): Promise<Found> {
  const runs: Run[] = []
  for (let time = 0; time < times; time++) runs.push(await steppedOnce(random))
  return {
    did: `the clock was set over midnight and back, a day and 400 days ahead and back, with ${ASKED} checks after each step for a quota of ${QUOTA} a day (a clock of its own in the world that the server is given)`,
    times: times * (STEPS.length + 1),
    acknowledged: runs.reduce((sum, { admitted }) => sum + admitted, 0),
    breaches: runs.flatMap(({ breaches }) => breaches),
    backMs: Math.max(...runs.map(({ backMs }) => backMs)),
    memory: runs.at(-1)?.memory ?? null,
  }
}

type Run = Pick<Found, "breaches" | "memory"> & { readonly admitted: number; readonly backMs: number }

async function steppedOnce(random: () => number): Promise<Run> {
  const file = join(tmpdir(), `mailkind-clock-${process.pid}`)
  let offset = START - Date.now()
  set(file, offset)
  const settings = { CLOCK_FILE: file, MAILKIND_TIERS: `4=1000/100/${QUOTA}` }
  await using victim = new TestServer({ program: CHILD, settings })
  await victim.start()
  const before = residentOf(victim)
  const breaches: string[] = []
  const admitted = new Map<number, number>()
  let backMs = 0
  for (const step of [...STEPS, (below(random, 3) - 1) * DAY_MS]) {
    offset += step
    set(file, offset)
    backMs = Math.max(backMs, await answered(victim))
    const day = Math.floor((Date.now() + offset) / DAY_MS)
    const statuses = await Promise.all(Array.from({ length: ASKED }, () => victim.check()))
    const wrong = statuses.filter(status => status !== 200 && status !== 429)
    if (wrong.length > 0) breaches.push(`checks were answered ${wrong.join()}`)
    admitted.set(day, (admitted.get(day) ?? 0) + statuses.filter(status => status === 200).length)
  }
  breaches.push(...wrongCounts(admitted))
  const memory = { before, after: residentOf(victim) }
  if ((await victim.stop()) !== 0) breaches.push("it did not end well")
  if (/"level":"error"/.test(victim.log)) breaches.push(`it logged a failure: ${victim.log.slice(-500)}`)
  breaches.push(...integrityOf(victim.database))
  rmSync(file, { force: true })
  return { breaches, memory, backMs, admitted: admitted.values().reduce((sum, count) => sum + count, 0) }
}

/** Too many on any day, and too few on the first: a clock that is set takes none of a day's units away. */
function wrongCounts(admitted: ReadonlyMap<number, number>): readonly string[] {
  const first = admitted.get(Math.floor(START / DAY_MS))
  return [
    ...[...admitted]
      .filter(([, count]) => count > QUOTA)
      .map(([day, count]) => `${count} were admitted of ${QUOTA} on day ${day}`),
    ...(first === QUOTA ? [] : [`of the first day ${first} of ${QUOTA} were admitted`]),
  ]
}

/** Never half a number for who reads it. */
function set(file: string, offset: number): void {
  writeFileSync(`${file}.new`, String(offset))
  renameSync(`${file}.new`, file)
}

/** How long it takes until the server tells that it is well: a check may be over its quota. */
async function answered(victim: TestServer): Promise<number> {
  const startedAt = performance.now()
  const { status } = await victim.ask("GET /v1/health")
  if (status !== 200) await untilServed(victim)
  return performance.now() - startedAt
}
