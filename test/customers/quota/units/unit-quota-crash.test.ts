import { expect } from "bun:test"
import { join } from "node:path"
import { seeded } from "../../../../bench/load/seeded-random.ts"
import { test } from "../../engines.ts"
import { tempPlace, tempStore } from "../../temp-store.ts"

// `UNITS_CRASH_ROUNDS=10 bun test units-crash` is the long form; `UNITS_CRASH_SEED` chooses other moments.
const ROUNDS = Number(process.env["UNITS_CRASH_ROUNDS"] ?? 3)
const SEED = Number(process.env["UNITS_CRASH_SEED"] ?? 1)

const SERVERS = 2
const CLIENTS = 200
const PER_DAY = 1000
const BLOCK = PER_DAY / 100

/** How many units a process admits before it is killed, at most: so that the quota lasts for all rounds. */
const ADMITTED_MAX = Math.floor(PER_DAY / (ROUNDS + 1) / SERVERS)

test(
  "two processes that are killed at random moments never admit more than the quota together, and lose a block each at most",
  async () => {
    const path = tempPlace()
    const store = await tempStore(path)
    const chance = seeded(SEED)
    let admitted = 0
    for (let round = 0; round < ROUNDS; round++) {
      const moments = Array.from({ length: SERVERS }, () => Math.floor(chance() * ADMITTED_MAX))
      const ended = await Promise.all(moments.map(moment => admittedBy(path, moment)))
      for (const { count, isKilled } of ended) {
        admitted += count
        expect(isKilled).toBe(true)
      }
    }
    expect(admitted).toBeLessThan(PER_DAY)
    const last = await Promise.all(Array.from({ length: SERVERS }, () => admittedBy(path, Number.POSITIVE_INFINITY)))
    for (const { count, isKilled } of last) {
      admitted += count
      expect(isKilled).toBe(false)
    }
    expect(admitted).toBeLessThanOrEqual(PER_DAY)
    expect(admitted).toBeGreaterThanOrEqual(PER_DAY - SERVERS * BLOCK * ROUNDS)
    expect(await store.all<unknown>("SELECT leased FROM units")).toEqual([{ leased: PER_DAY }])
  },
  60_000 + ROUNDS * 2_000,
)

type Ended = { readonly count: number; readonly isKilled: boolean }

/** How many units a process admits that is killed when it has admitted `moment` of them, or ends when none is left. */
async function admittedBy(path: string, moment: number): Promise<Ended> {
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, "units-child.ts"),
      path,
      "account",
      String(PER_DAY),
      String(CLIENTS / SERVERS),
    ],
    { stdin: "ignore", stderr: "inherit" },
  )
  let count = 0
  // What was written before the end is read after it: the pipe outlives the process.
  for await (const part of child.stdout) {
    count += part.length
    if (count > moment) child.kill("SIGKILL")
  }
  await child.exited
  return { count, isKilled: child.signalCode === "SIGKILL" }
}
