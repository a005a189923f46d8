import { expect, test } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { bannedUntilMs, pruneBans, recordStrike } from "../../../src/customers/free-checks/bans.ts"
import { trustedAt } from "../../support/clock.ts"
import { createFakeTime } from "../../support/time.ts"
import { tempStore } from "../temp-store.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE

async function harness() {
  const store = await tempStore()
  const time = createFakeTime()
  const strikes = async (count: number, network = "n"): Promise<void> => {
    for (let done = 0; done < count; done++) await recordStrike(store, time.clock, network)
  }
  /** For how many milliseconds more the network is banned; null: it is not. */
  const bannedMs = async (network = "n"): Promise<number | null> => {
    const end = await bannedUntilMs(store, time.clock, network)
    return end === null ? null : end - time.clock()
  }
  return { store, time, strikes, bannedMs }
}

test("the last strike of as many as are abuse bans a network for an hour, and no other one", async () => {
  const { strikes, bannedMs, time } = await harness()
  await strikes(LIMITS.strikesMax - 1)
  expect(await bannedMs()).toBeNull()
  await strikes(1)
  expect([await bannedMs(), await bannedMs("other")]).toEqual([HOUR, null])
  await time.tick(HOUR - 1)
  expect(await bannedMs()).toBe(1)
  await time.tick(1)
  expect(await bannedMs()).toBeNull()
})

test("strikes count for ten minutes from the first on", async () => {
  for (const [passedMs, isBanned] of [
    [10 * MINUTE - 1, true],
    [10 * MINUTE, false],
  ] as const) {
    const { strikes, bannedMs, time } = await harness()
    await strikes(LIMITS.strikesMax - 1)
    await time.tick(passedMs)
    await strikes(1)
    expect((await bannedMs()) !== null).toBe(isBanned)
  }
})

test("each ban within a day of the one before is twice as long, up to a day, and a day later all is forgotten", async () => {
  const { strikes, bannedMs, time, store } = await harness()
  for (const hours of [1, 2, 4, 8, 16, 24, 24]) {
    await strikes(LIMITS.strikesMax)
    expect(await bannedMs()).toBe(hours * HOUR)
    await time.tick(hours * HOUR)
  }
  await time.tick(24 * HOUR - 1)
  await strikes(LIMITS.strikesMax)
  expect(await bannedMs()).toBe(24 * HOUR)
  await time.tick(48 * HOUR)
  await strikes(LIMITS.strikesMax)
  expect(await bannedMs()).toBe(HOUR)
  await time.tick(25 * HOUR - 1)
  expect(await pruneBans(store, trustedAt(time.clock()), 10)).toBe(0)
  await time.tick(1)
  expect(await pruneBans(store, trustedAt(time.clock()), 10)).toBe(1)
})

test("what a banned network does meanwhile makes its ban no longer", async () => {
  const { strikes, bannedMs, time } = await harness()
  await strikes(LIMITS.strikesMax)
  await strikes(LIMITS.strikesMax + 1)
  expect(await bannedMs()).toBe(HOUR)
  await time.tick(HOUR)
  await strikes(LIMITS.strikesMax - 1)
  expect(await bannedMs()).toBeNull()
})

test("a few strikes are forgotten with their ten minutes", async () => {
  const { strikes, time, store } = await harness()
  await strikes(3)
  await time.tick(10 * MINUTE - 1)
  expect(await pruneBans(store, trustedAt(time.clock()), 10)).toBe(0)
  await time.tick(1)
  expect(await pruneBans(store, trustedAt(time.clock()), 10)).toBe(1)
})

test("a ban by a clock that was days ahead does not hold when the clock is right again", async () => {
  const { strikes, time, store } = await harness()
  const ahead = createFakeTime(time.clock() + 100 * 24 * HOUR)
  for (let count = 0; count < LIMITS.strikesMax; count++) await recordStrike(store, ahead.clock, "n")
  expect(await bannedUntilMs(store, ahead.clock, "n")).not.toBeNull()
  expect(await bannedUntilMs(store, time.clock, "n")).toBeNull()
  await strikes(LIMITS.strikesMax)
  expect(await bannedUntilMs(store, time.clock, "n")).toBe(time.clock() + HOUR)
})

test("strikes of many processes at one moment are all counted", async () => {
  const { store, time, bannedMs } = await harness()
  await Promise.all(Array.from({ length: LIMITS.strikesMax }, () => recordStrike(store, time.clock, "n")))
  expect(await bannedMs()).toBe(HOUR)
})
