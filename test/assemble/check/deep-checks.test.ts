import { expect, test } from "bun:test"
import { createDeepChecksService } from "../../../src/assemble/check/deep-checks.ts"
import { OFFLINE_NETWORK } from "../../../src/assemble/check/network.ts"
import { formatUserAgent } from "../../../src/assemble/program.ts"
import { known } from "../../../src/base/finding.ts"
import { parseSettings } from "../../../src/config/settings.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { createSystem, type System } from "../../../src/system/system.ts"
import { trustedTime } from "../../support/clock.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { createFakeTime, settled } from "../../support/time.ts"
import { zone } from "../../support/zone.ts"

const settingsOf = (environment: Record<string, string>) => {
  const read = parseSettings(environment)
  if (read.kind === "faulty") throw new Error(read.faults.join())
  return read.settings
}

/** Deep checks at work in a world without websites and registries, over a store whose transactions are the test's to end. */
function atWork() {
  const time = createFakeTime()
  const repeated: { readonly everyMs: number; readonly work: () => void }[] = []
  const world: System = {
    ...createSystem(),
    clock: time.clock,
    setTimer: time.later,
    fetchUrl: () => Promise.reject(new Error("nobody is there")),
    connect: () => Promise.reject(new Error("nobody is there")),
    runInterval: (everyMs, work) => {
      const one = { everyMs, work }
      repeated.push(one)
      return () => void repeated.splice(repeated.indexOf(one), 1)
    },
  }
  const writes: (() => void)[] = []
  const store: Store = {
    all: async () => [],
    one: async () => null,
    run: async () => 0,
    transaction: async work => {
      const { promise, resolve } = Promise.withResolvers<void>()
      writes.push(resolve)
      await promise
      return await work(store)
    },
  }
  const { ask } = zone({})
  const query = { ...OFFLINE_NETWORK, queryDns: ask, isDnsUnavailable: () => false }
  const settings = settingsOf({ MAILKIND_DATA_DIR: "/nonexistent" })
  const logged: string[] = []
  const log = (_: string, description: string): void => void logged.push(description)
  return {
    ...createDeepChecksService(
      { system: world, settings, log },
      query,
      store && { store, trustedTime: trustedTime(time.clock) },
    ),
    repeated,
    writes,
    logged,
  }
}

const everySecond = ({ repeated }: ReturnType<typeof atWork>): void => {
  for (const { everyMs, work } of repeated) if (everyMs === 1000) work()
}

test("what was found is written by one at a time, and the rest when it ends", async () => {
  const harness = atWork()
  const { deepProbe, start, stop, writes, repeated, logged } = harness
  start()
  expect(await deepProbe.lookup("acme.zz")).toMatchObject({ homepage: known("none") })
  everySecond(harness)
  await settled()
  await deepProbe.lookup("other.zz")
  for (let seconds = 0; seconds < 10; seconds++) everySecond(harness)
  await settled()
  expect(writes).toHaveLength(1)
  const ending = outcomeOf(stop())
  await settled()
  expect(repeated).toEqual([])
  for (let at = 0; at < writes.length; at++) {
    writes[at]?.()
    await settled()
  }
  ;(await ending)()
  expect([writes.length, logged]).toEqual([2, []])
})

test("who asks is told in ASCII, whatever the base address is written in", () => {
  const agent = formatUserAgent(settingsOf({ MAILKIND_BASE_URL: "https://müller.example/prüfer" }))
  expect(agent).toMatch(/^mailkind\/\S+ \(\+https:\/\/xn--mller-kva\.example\/pr%C3%BCfer\/docs\)$/)
  expect(formatUserAgent(settingsOf({}))).toMatch(/^mailkind\/\S+ \(\+http:\/\/127\.0\.0\.1:8080\/docs\)$/)
})
