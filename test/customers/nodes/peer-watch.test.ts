import { expect, test } from "bun:test"
import type { Fetch } from "../../../src/base/fetch.ts"
import { createPeerWatch } from "../../../src/customers/nodes/peer-watch.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { createFakeTime, repeatingOn } from "../../support/time.ts"

const healthy = (status = "ok", answered_ms_ago: number | null = 0): Response =>
  Response.json({ database: { status, answered_ms_ago } })

/** A watch over peers that answer what the test sets; null: they do not answer before they are given up. */
function watched(answers: Readonly<Record<string, () => Response | null>>) {
  const time = createFakeTime()
  const state = { isUnavailable: false, peers: Object.keys(answers) as readonly string[] }
  const asked: string[] = []
  const logged: string[] = []
  const fetchUrl: Fetch = async (url, options) => {
    asked.push(url)
    const answer = answers[new URL(url).origin]?.() ?? null
    if (answer !== null) return answer
    const { promise, reject } = Promise.withResolvers<Response>()
    options?.signal?.addEventListener("abort", () => reject(new Error("given up")))
    return await promise
  }
  const watch = createPeerWatch({
    fetchUrl,
    setTimer: time.later,
    stopwatch: time.stopwatch,
    runInterval: repeatingOn(time.later),
    isUnavailable: () => state.isUnavailable,
    peers: () => state.peers,
    userAgent: "mailkind",
    log: (level, message) => void logged.push(`${level} ${message}`),
  })
  watch.start()
  onTestEnd(watch.stop)
  return { time, state, asked, watch, logged }
}

test("a node that reaches the database asks nobody, and is not cut off", async () => {
  const { time, asked, watch } = watched({ "http://b": healthy })
  await time.tick(60_000)
  expect([asked, watch.isCutOff()]).toEqual([[], false])
})

test("a node without its database is cut off within three seconds if one other has it though a third is silent, and no more once it has it itself", async () => {
  const { time, state, watch, logged } = watched({ "http://b": () => null, "http://c": healthy })
  state.isUnavailable = true
  await time.tick(3000)
  expect(watch.isCutOff()).toBe(true)
  await time.tick(60_000)
  expect(logged).toEqual(["warn this server is cut off from a database that others reach"])
  state.isUnavailable = false
  expect(watch.isCutOff()).toBe(false)
  await time.tick(2000)
  state.isUnavailable = true
  expect(watch.isCutOff()).toBe(false)
})

test("that a node is cut off is logged once in an outage, although the others answer now and then", async () => {
  let asked = 0
  const { time, state, logged } = watched({ "http://b": () => (asked++ % 2 === 0 ? healthy() : null) })
  for (let outage = 0; outage < 2; outage++) {
    state.isUnavailable = true
    await time.tick(60_000)
    state.isUnavailable = false
    await time.tick(2000)
  }
  expect(logged).toHaveLength(2)
})

test.each<[string, () => Response | null]>([
  ["have lost it too", () => healthy("away")],
  ["have had their last answer before it lost it", () => healthy("ok", 60_000)],
  ["do not say when they had their last answer", () => healthy("ok", null)],
  ["stop", () => Response.json({ database: { status: "ok", answered_ms_ago: 0 } }, { status: 503 })],
  ["are something else", () => new Response("<html>")],
  ["answer nothing of it", () => Response.json(null)],
  ["do not answer", () => null],
])("it is not cut off while the others %s", async (_, answer) => {
  const { time, state, watch, asked } = watched({ "http://b": answer, "http://c": answer })
  state.isUnavailable = true
  await time.tick(10_000)
  expect(watch.isCutOff()).toBe(false)
  expect(asked.length).toBeGreaterThan(2)
})

test("it asks eight others at most, and one that is slow not again before it was given up", async () => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`http://n${at}`, () => null]))
  const { time, state, asked } = watched(many)
  state.isUnavailable = true
  await time.tick(1000)
  expect(asked).toHaveLength(8)
  await time.tick(999)
  expect(asked).toHaveLength(8)
  await time.tick(1)
  expect(asked).toHaveLength(16)
})

test("nobody is asked after the end", async () => {
  const { time, state, asked, watch } = watched({ "http://b": healthy })
  state.isUnavailable = true
  watch.stop()
  await time.tick(10_000)
  expect(asked).toEqual([])
})
