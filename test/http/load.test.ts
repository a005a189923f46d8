import { describe, expect, test } from "bun:test"
import { Load, type LoadBounds } from "../../src/http/load.ts"
import { ownColumn } from "../../src/http/metrics/columns.ts"
import { cellOf } from "../../src/http/metrics/layout.ts"
import { Meter } from "../../src/http/metrics/meter.ts"
import type { Problem } from "../../src/http/problem.ts"

const BOUNDS: LoadBounds = { inFlightMax: 4, bodyBytesMax: 1000, lagMaxMs: 400 }

function loaded(inFlight = 0) {
  const lag = { ms: 0 }
  const column = ownColumn()
  const load = new Load(BOUNDS, () => lag.ms, new Meter(column), queueMicrotask)
  for (let count = 0; count < inFlight; count++) load.enter()
  const shed = (strain: string) => column[cellOf("mailkind_shed_total", strain)]
  return { load, lag, shed }
}

const refusalAt = (inFlight: number, isHeavy: boolean) => loaded(inFlight).load.refusal(isHeavy)?.code ?? null

describe("requests in flight", () => {
  test("are served up to the bound, and heavy ones up to half of it", () => {
    expect([4, 5].map(count => refusalAt(count, false))).toEqual([null, "overloaded"])
    expect([2, 3].map(count => refusalAt(count, true))).toEqual([null, "overloaded"])
  })

  test("are told what else is wrong with them up to twice the bound, and are not looked at beyond", () => {
    const { load, shed } = loaded(7)
    expect(load.enter()).toBeNull()
    expect(load.enter()?.code).toBe("overloaded")
    expect([load.inFlight, shed("in_flight")]).toEqual([8, 1])
    load.leave()
    expect(load.enter()).toBeNull()
  })

  test("of which one alone may be served leave room for one that is heavy", () => {
    const load = new Load({ ...BOUNDS, inFlightMax: 1 }, () => 0, new Meter(ownColumn()), queueMicrotask)
    load.enter()
    expect([load.refusal(true), load.isStrained()]).toEqual([null, false])
  })
})

test("an event loop that lasts to be late refuses what is heavy at a quarter of the bound, and the rest beyond it", () => {
  const { load, lag, shed } = loaded(1)
  const refusals = [100, 101, 400, 401].map(ms => {
    lag.ms = ms
    return [load.refusal(true) !== null, load.refusal(false) !== null, load.isStrained()]
  })
  expect(refusals).toEqual([
    [false, false, false],
    [true, false, true],
    [true, false, true],
    [true, true, true],
  ])
  expect(shed("lag")).toBe(4)
  lag.ms = 0
  expect([load.refusal(true), load.isStrained()]).toEqual([null, false])
})

test("work that can be left out gives way at half of the requests in flight", () => {
  expect([2, 3].map(count => loaded(count).load.isStrained())).toEqual([false, true])
})

test("long bodies have room up to the bound, and again when others are done", () => {
  const { load, shed } = loaded()
  load.takeBody(600)
  load.takeBody(400)
  expect(() => load.takeBody(1)).toThrow("overloaded")
  expect([load.bodyBytes, shed("body_bytes")]).toEqual([1000, 1])
  load.leaveBody(400)
  load.takeBody(400)
})

describe("every other path", () => {
  const refuse = (problem: unknown) => new Response((problem as Problem).code, { status: 503 })
  const serveAt = (path: string, serve: () => Response | Promise<Response>, inFlight = 0) => {
    const { load } = loaded(inFlight)
    const request = new Request(`http://localhost${path}`)
    return { load, serve: () => load.over(serve, request, refuse)(request) }
  }

  test("is in flight until it is answered, or has failed", async () => {
    const held = Promise.withResolvers<Response>()
    const { load, serve } = serveAt("/v1/usage", () => held.promise)
    const answer = serve()
    expect(load.inFlight).toBe(1)
    held.resolve(new Response("here"))
    expect([await (await answer).text(), load.inFlight]).toEqual(["here", 0])
    const failing = serveAt("/v1/usage", () => Promise.reject(new Error("failed")))
    const fault = await Promise.resolve(failing.serve()).catch(error => error)
    expect([fault instanceof Error, failing.load.inFlight]).toEqual([true, 0])
  })

  test("is not looked at beyond twice the bound, but for health and metrics", async () => {
    for (const [path, status] of [
      ["/v1/usage", 503],
      ["/docs", 503],
      ["/nothing", 503],
      ["/v1/health", 200],
      ["/metrics", 200],
    ] as const) {
      const { load, serve } = serveAt(path, () => new Response("here"), 8)
      expect([path, (await serve()).status, load.inFlight]).toEqual([path, status, 8])
    }
  })
})
