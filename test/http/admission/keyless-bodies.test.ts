import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { LOAD_LIMITS, LoadShedder } from "../../../src/http/admission/load-shedder.ts"
import { createCounterShard } from "../../../src/http/metrics/counter-layout.ts"
import { Meter } from "../../../src/http/metrics/meter.ts"
import { createFakeTime, settled } from "../../support/time.ts"

const { keylessBodiesPerClientMax: PER_CLIENT, keylessBodySeconds } = LIMITS
const WAIT_MS = keylessBodySeconds * 1000

/** A load shedder, and requests without a key whose bodies come when they are told to. */
function waiting(inFlightMax: number) {
  const time = createFakeTime()
  const load = new LoadShedder(
    { ...LOAD_LIMITS, inFlightMax },
    () => 0,
    new Meter(createCounterShard()),
    queueMicrotask,
    time.later,
  )
  const begin = (client: string) => {
    const body = Promise.withResolvers<string>()
    load.acquire()
    const outcome = load
      .readKeylessBody(client, () => body.promise)
      .catch(problem => problem.code)
      .finally(() => load.release())
    return { body, outcome }
  }
  const beginMany = (client: string, count: number) => Array.from({ length: count }, () => begin(client))
  return { time, load, begin, beginMany }
}

describe("bodies without a key that have not arrived", () => {
  test.each([16, 64, 4096])("take no place of %d requests in flight", async inFlightMax => {
    const { load, beginMany } = waiting(inFlightMax)
    for (let client = 0; client < inFlightMax; client += PER_CLIENT) beginMany(`client ${client}`, PER_CLIENT)
    await settled()
    expect([load.inFlight, load.refusalFor(false), load.refusalFor(true)]).toEqual([0, null, null])
  })

  test("are bounded for each client, and the client may begin another when one has come", async () => {
    const { begin, beginMany } = waiting(4096)
    const [first] = beginMany("busy", PER_CLIENT)
    await settled()
    expect(await begin("busy").outcome).toBe("rate_limited")
    const other = begin("other")
    other.body.resolve("there")
    expect(await other.outcome).toBe("there")
    first?.body.resolve("here")
    expect(await first?.outcome).toBe("here")
    const next = begin("busy")
    next.body.resolve("next")
    expect(await next.outcome).toBe("next")
  })

  test.each([
    [1, 16],
    [128, 16],
    [256, 32],
    [4096, 512],
  ])("are bounded in total: of %d requests in flight, %d", async (inFlightMax, total) => {
    const { time, begin, beginMany } = waiting(inFlightMax)
    for (let client = 0; client < total / PER_CLIENT; client++) beginMany(`client ${client}`, PER_CLIENT)
    await settled()
    expect(await begin("another").outcome).toBe("overloaded")
    await time.tick(WAIT_MS)
    const another = begin("another")
    await settled()
    another.body.resolve("there")
    expect(await another.outcome).toBe("there")
  })

  test("are given up in time, and leave no timer, place or failure", async () => {
    const { time, load, beginMany } = waiting(4096)
    const [slow, cutOff, quick] = beginMany("slow", 3)
    await settled()
    cutOff?.body.reject(new Error("the connection was closed"))
    await time.tick(WAIT_MS - 1)
    quick?.body.resolve("there")
    await time.tick(1)
    expect([await slow?.outcome, await quick?.outcome]).toEqual(["invalid_input", "there"])
    await cutOff?.outcome
    slow?.body.reject(new Error("the connection was closed"))
    await settled()
    expect([time.waiting(), load.inFlight]).toEqual([0, 0])
  })
})

test("bodies without a key that have arrived are read, however many there are at once", async () => {
  const { beginMany, time } = waiting(1)
  const many = beginMany("busy", 100)
  for (const { body } of many) body.resolve("there")
  const outcomes = await Promise.all(many.map(({ outcome }) => outcome))
  expect([outcomes.filter(outcome => outcome === "there").length, time.waiting()]).toEqual([100, 0])
})
