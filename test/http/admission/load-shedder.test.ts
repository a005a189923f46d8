import { describe, expect, test } from "bun:test"
import { type LoadLimits, LoadShedder } from "../../../src/http/admission/load-shedder.ts"
import { cellIndex, createCounterShard } from "../../../src/http/metrics/counter-layout.ts"
import { Meter } from "../../../src/http/metrics/meter.ts"
import { createFakeTime } from "../../support/time.ts"

const BOUNDS: LoadLimits = { inFlightMax: 4, bodyBytesMax: 1000, lagMaxMs: 400 }

function loaded(inFlight = 0) {
  const lag = { ms: 0 }
  const column = createCounterShard()
  const load = new LoadShedder(BOUNDS, () => lag.ms, new Meter(column), queueMicrotask, createFakeTime().later)
  for (let count = 0; count < inFlight; count++) load.acquire()
  const shed = (strain: string) => column[cellIndex("mailkind_shed_total", strain)]
  return { load, lag, shed }
}

const refusalAt = (inFlight: number, isHeavy: boolean) => loaded(inFlight).load.refusalFor(isHeavy)?.code ?? null

describe("requests in flight", () => {
  test("are served up to the bound, and heavy ones up to half of it", () => {
    expect([4, 5].map(count => refusalAt(count, false))).toEqual([null, "overloaded"])
    expect([2, 3].map(count => refusalAt(count, true))).toEqual([null, "overloaded"])
  })

  test("are told what else is wrong with them up to twice the bound, and are not looked at beyond", () => {
    const { load, shed } = loaded(7)
    expect(load.acquire()).toBeNull()
    expect(load.acquire()?.code).toBe("overloaded")
    expect([load.inFlight, shed("in_flight")]).toEqual([8, 1])
    load.release()
    expect(load.acquire()).toBeNull()
  })

  test("of which one alone may be served leave room for one that is heavy", () => {
    const load = new LoadShedder(
      { ...BOUNDS, inFlightMax: 1 },
      () => 0,
      new Meter(createCounterShard()),
      queueMicrotask,
      createFakeTime().later,
    )
    load.acquire()
    expect([load.refusalFor(true), load.isUnderPressure()]).toEqual([null, false])
  })
})

test("an event loop that lasts to be late refuses what is heavy at a quarter of the bound, and the rest beyond it", () => {
  const { load, lag, shed } = loaded(1)
  const refusals = [100, 101, 400, 401].map(ms => {
    lag.ms = ms
    return [load.refusalFor(true) !== null, load.refusalFor(false) !== null, load.isUnderPressure()]
  })
  expect(refusals).toEqual([
    [false, false, false],
    [true, false, true],
    [true, false, true],
    [true, true, true],
  ])
  expect(shed("lag")).toBe(4)
  lag.ms = 0
  expect([load.refusalFor(true), load.isUnderPressure()]).toEqual([null, false])
})

test("work that can be left out gives way at half of the requests in flight", () => {
  expect([2, 3].map(count => loaded(count).load.isUnderPressure())).toEqual([false, true])
})

test("long bodies have room up to the bound, and again when others are done", () => {
  const { load, shed } = loaded()
  load.reserveBody(600)
  load.reserveBody(400)
  expect(() => load.reserveBody(1)).toThrow("overloaded")
  expect([load.bodyBytes, shed("body_bytes")]).toEqual([1000, 1])
  load.releaseBody(400)
  load.reserveBody(400)
})
