import { describe, expect, test } from "bun:test"
import { unknown } from "../../../../src/base/finding.ts"
import { ConcurrencyLimit, SLOT_MS } from "../../../../src/check/dns/resolver/concurrency-limit.ts"
import { createFakeTime } from "../../../support/time.ts"
import { guardedResolver } from "./guarded-resolver.ts"
import { heldResolver, SOME } from "./manual-resolver.ts"
import { resolverSuite } from "./resolver.suite.ts"

resolverSuite("a resolver with a concurrency limit", resolver =>
  guardedResolver(resolver, { limit: new ConcurrencyLimit(3, 1000) }),
)

describe("a resolver with a concurrency limit", () => {
  test("has no more questions in flight than allowed; the others wait in order", async () => {
    const { resolver, open, give } = heldResolver()
    const resolve = guardedResolver(resolver, { limit: new ConcurrencyLimit(2, 3) })
    for (const name of ["a", "b", "c", "d", "e"]) void resolve({ name, type: "A" })
    expect(open()).toEqual(["A a", "A b"])
    await give(SOME)
    expect(open()).toEqual(["A b", "A c"])
    await give(unknown("timed_out"))
    expect(open()).toEqual(["A c", "A d"])
  })

  test("refuses at once what exceeds the queue, and has room again when others are done", async () => {
    const { resolver, open, give } = heldResolver()
    const resolve = guardedResolver(resolver, { limit: new ConcurrencyLimit(1, 1) })
    const first = resolve({ name: "a", type: "A" })
    const second = resolve({ name: "b", type: "A" })
    expect(await resolve({ name: "c", type: "A" })).toEqual(unknown("unavailable"))
    await give(SOME)
    expect(await first).toEqual(SOME)
    const third = resolve({ name: "d", type: "A" })
    expect(await resolve({ name: "e", type: "A" })).toEqual(unknown("unavailable"))
    await give(SOME)
    await give(SOME)
    expect(await Promise.all([second, third])).toEqual([SOME, SOME])
    expect(open()).toEqual([])
    void resolve({ name: "f", type: "A" })
    expect(open()).toEqual(["A f"])
  })

  test("gives the slot of a question without a reply to the next one, and counts each slot once", async () => {
    const time = createFakeTime()
    const { resolver, open, give } = heldResolver()
    const resolve = guardedResolver(resolver, { limit: new ConcurrencyLimit(1, 5) }, time)
    const dead = resolve({ name: "dead", type: "A" })
    for (const name of ["a", "b", "c"]) void resolve({ name, type: "A" })
    await time.tick(SLOT_MS - 1)
    expect(open()).toEqual(["A dead"])
    await time.tick(1)
    expect(open()).toEqual(["A dead", "A a"])
    await give(unknown("timed_out"))
    expect(await dead).toEqual(unknown("timed_out"))
    expect(open()).toEqual(["A a"])
    await give(SOME)
    expect(open()).toEqual(["A b"])
    await give(SOME)
    await give(SOME)
    expect(time.waiting()).toBe(0)
  })

  test("without a queue refuses all that exceeds the limit", async () => {
    const { resolver, open } = heldResolver()
    const resolve = guardedResolver(resolver, { limit: new ConcurrencyLimit(1, 0) })
    void resolve({ name: "a", type: "A" })
    expect(await resolve({ name: "b", type: "A" })).toEqual(unknown("unavailable"))
    expect(open()).toEqual(["A a"])
  })

  test("serves ten thousand waiting questions, each once and in order", async () => {
    const order: string[] = []
    let inFlight = 0
    let most = 0
    const resolve = guardedResolver(
      async ({ name }) => {
        order.push(name)
        most = Math.max(most, ++inFlight)
        await Promise.resolve()
        inFlight--
        return SOME
      },
      { limit: new ConcurrencyLimit(7, 10_000) },
    )
    const names = Array.from({ length: 10_007 }, (_, at) => String(at))
    const result = await Promise.all(names.map(name => resolve({ name, type: "A" })))
    expect(result).toEqual(names.map(() => SOME))
    expect(order).toEqual(names)
    expect(most).toBe(7)
  })

  test("goes on with ten thousand waiting questions that all end while they are sent", async () => {
    const limit = new ConcurrencyLimit(1, 10_000)
    let startedCount = 0
    const slotted = () => ({
      nextWaiting: null,
      start: () => {
        startedCount++
        limit.leave()
      },
    })
    const first = { nextWaiting: null, start: () => undefined }
    limit.enter(first)
    for (let count = 0; count < 10_000; count++) expect(limit.enter(slotted())).toBe(true)
    expect(limit.enter(slotted())).toBe(false)
    limit.leave()
    expect(startedCount).toBe(10_000)
  })
})
