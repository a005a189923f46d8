import { type Challenge, solveChallenge } from "altcha-lib"
import { deriveKey } from "altcha-lib/algorithms/pbkdf2"
import type { Random } from "../../../src/base/outside-world.ts"
import { createFreeChecks, type FreeChecks } from "../../../src/customers/free-checks/free-checks.ts"
import { LocalRateLimiter } from "../../../src/customers/quota/rate/local-rate-limiter.ts"
import { UNIT_QUOTA_BOUNDS, UnitQuota } from "../../../src/customers/quota/units/unit-quota.ts"
import type { OpenStore } from "../../../src/customers/store/core/store.ts"
import { createFakeTime } from "../../support/time.ts"
import { random, tempStore } from "../temp-store.ts"

/** A random source by which the counter of every challenge is the first that is tried. */
export const quickRandom: Random = count => (count === 4 ? new Uint8Array(4) : random(count))

/** What altcha's widget would send for a challenge. */
export async function solutionOf(challenge: Challenge): Promise<string> {
  const solution = await solveChallenge({ challenge, deriveKey })
  return sent({ challenge, solution })
}

/** An object as the widget sends one. */
export const sent = (payload: unknown): string => btoa(JSON.stringify(payload))

/** A visitor without a pass and without a solution. */
export const STRANGER = { client: "192.0.2.1", pass: "", solution: "" } as const

/** Free checks over a store, fresh unless given, in a time that stands still. */
export async function openFreeChecks({ perDay = 1000, store: given }: { perDay?: number; store?: OpenStore } = {}) {
  const time = createFakeTime()
  const store = given ?? (await tempStore())
  const { clock } = time
  const failed = (error: unknown): never => {
    throw error
  }
  const units = new UnitQuota(store, clock, UNIT_QUOTA_BOUNDS, failed)
  const free: FreeChecks = createFreeChecks({
    store,
    clock,
    random: quickRandom,
    rates: new LocalRateLimiter(clock, 1000),
    units,
    perDay,
  })
  const passOf = async (client: string = STRANGER.client): Promise<string> => {
    const granted = await free.grant({ client, pass: "", solution: await solutionOf(await free.challenge()) })
    if (granted.change?.secret == null) throw new Error("no pass was given")
    return granted.change.secret
  }
  return { time, clock, store, units, free, passOf }
}
