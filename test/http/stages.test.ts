import { expect, test } from "bun:test"
import type { RouteId } from "../../src/contract/routes.ts"
import { LoadShedder } from "../../src/http/admission/load-shedder.ts"
import { Exchange } from "../../src/http/exchange.ts"
import { createCounterShard } from "../../src/http/metrics/counter-layout.ts"
import { Meter } from "../../src/http/metrics/meter.ts"
import { RequestObserver } from "../../src/http/metrics/request-observer.ts"
import type { Problem } from "../../src/http/response/problem.ts"
import { type StageDeps, serve } from "../../src/http/stages.ts"
import { createFakeTime } from "../support/time.ts"

const IN_FLIGHT_MAX = 4

/** Serves a request of a route that needs no key, beside others that are in flight. */
function serveAt(
  route: RouteId | null,
  handle: () => Response | Promise<Response>,
  inFlight = 0,
  refuse: StageDeps["refuse"] = error => new Response(String((error as Problem).code), { status: 503 }),
) {
  const meter = new Meter(createCounterShard())
  const limits = { inFlightMax: IN_FLIGHT_MAX, bodyBytesMax: 1000, lagMaxMs: 400 }
  const loadShedder = new LoadShedder(limits, () => 0, meter, queueMicrotask, createFakeTime().later)
  for (let count = 0; count < inFlight; count++) loadShedder.acquire()
  const unused = (): never => {
    throw new Error("the route needs no key")
  }
  const deps: StageDeps = {
    loadShedder,
    keys: { lookup: unused } as unknown as StageDeps["keys"],
    admit: unused,
    observer: new RequestObserver({
      meter,
      stopwatch: () => 0,
      log: () => undefined,
      slowMs: () => null,
      isDnsOff: false,
      logsEveryResponse: () => false,
    }),
    accountLog: null,
    shareWithPage: (_, response) => response,
    stopwatch: () => 0,
    toProblemResponse: refuse,
    refuse,
  }
  const exchange = new Exchange(new Request("http://localhost/"), "req_1", route)
  return { loadShedder, response: serve(deps, exchange, handle) }
}

test("a request counts as live, unless it is about an uploaded list: who watches one does not slow it down", async () => {
  const liveAt = async (route: RouteId | null): Promise<number> => {
    const { loadShedder, response } = serveAt(route, () => new Response("here"))
    await response
    return loadShedder.liveCount
  }
  const routes = ["postSignOut", "dashboard", null, "dashboardJobs", "jobProgress", "postJobEstimate"] as const
  expect(await Promise.all(routes.map(liveAt))).toEqual([1, 1, 1, 0, 0, 0])
})

test("a request is in flight until it is answered, or has failed", async () => {
  const held = Promise.withResolvers<Response>()
  const { loadShedder, response } = serveAt("home", () => held.promise)
  expect(loadShedder.inFlight).toBe(1)
  held.resolve(new Response("here"))
  expect([await (await response).text(), loadShedder.inFlight]).toEqual(["here", 0])
  const failing = serveAt("home", () => Promise.reject(new Error("failed")))
  expect([(await failing.response).status, failing.loadShedder.inFlight]).toEqual([503, 0])
})

test("a request is not looked at beyond twice the bound, but for health", async () => {
  for (const [route, status] of [
    ["home", 503],
    ["docs", 503],
    [null, 503],
    ["getHealth", 200],
  ] as const) {
    const { loadShedder, response } = serveAt(route, () => new Response("here"), 2 * IN_FLIGHT_MAX)
    expect([route, (await response).status, loadShedder.inFlight]).toEqual([route, status, 2 * IN_FLIGHT_MAX])
  }
})

test("a request whose refusal fails is in flight no more, and is answered 500", async () => {
  const fail = (): never => {
    throw new Error("failed")
  }
  const { loadShedder, response } = serveAt("home", fail, 0, fail)
  expect([(await response).status, loadShedder.inFlight]).toEqual([500, 0])
})
