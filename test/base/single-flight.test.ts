import { expect, test } from "bun:test"
import { CoalescedRuns, lazyPromise, SingleFlight } from "../../src/base/single-flight.ts"
import { settled } from "../support/time.ts"

/** A call that ends when it is told to, and counts how often it was made. */
function controlled() {
  const ends: PromiseWithResolvers<string>[] = []
  const call = (): Promise<string> => {
    const end = Promise.withResolvers<string>()
    ends.push(end)
    return end.promise
  }
  return { call, ends }
}

test("whoever asks for a key while its call runs gets that call's promise, and afterwards a call of their own", async () => {
  const { call, ends } = controlled()
  const flight = new SingleFlight<string, string>()
  const [first, second, other] = [flight.run("a", call), flight.run("a", call), flight.run("b", call)]
  expect(second).toBe(first)
  expect([ends.length, flight.size]).toEqual([2, 2])
  for (const end of ends) end.resolve("done")
  expect(await Promise.all([first, second, other])).toEqual(["done", "done", "done"])
  expect([flight.size, flight.get("a")]).toEqual([0, undefined])
  void flight.run("a", call)
  expect(ends.length).toBe(3)
})

test("a call that rejects does so for all who joined, and is not joined any more", async () => {
  const { call, ends } = controlled()
  const flight = new SingleFlight<string, string>()
  const joined = [flight.run("a", call), flight.run("a", call)]
  ends[0]?.reject(new Error("broken"))
  expect((await Promise.allSettled(joined)).map(({ status }) => status)).toEqual(["rejected", "rejected"])
  expect(flight.size).toBe(0)
})

test("an invalidated call ends by itself, is not joined, and does not remove the call that followed it", async () => {
  const { call, ends } = controlled()
  const flight = new SingleFlight<string, string>()
  const currents: (() => boolean)[] = []
  const run = (): Promise<string> =>
    flight.run("a", isCurrent => {
      currents.push(isCurrent)
      return call()
    })
  const outdated = run()
  flight.invalidate("a")
  const next = run()
  expect(next).not.toBe(outdated)
  expect(currents.map(isCurrent => isCurrent())).toEqual([false, true])
  ends[0]?.resolve("outdated")
  expect(await outdated).toBe("outdated")
  expect(flight.get("a")).toBe(next)
  flight.invalidateAll()
  expect(flight.size).toBe(0)
})

test("a lazy promise is made once, and made again only after it was rejected", async () => {
  const { call, ends } = controlled()
  const lazy = lazyPromise(call)
  const failing = lazy()
  ends[0]?.reject(new Error("broken"))
  expect(await failing.catch((error: Error) => error.message)).toBe("broken")
  const good = lazy()
  ends[1]?.resolve("done")
  expect([await good, await lazy()]).toEqual(["done", "done"])
  expect(ends.length).toBe(2)
})

test("coalesced runs: requests during a run cause one more run, unless they are forgotten or it is stopped", async () => {
  const gates: PromiseWithResolvers<void>[] = []
  const runs = new CoalescedRuns(async () => {
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    await gate.promise
  })
  const end = async (index: number): Promise<number> => {
    gates[index]?.resolve()
    await settled()
    return gates.length
  }
  runs.request()
  expect(gates.length).toBe(1)
  for (let at = 0; at < 3; at++) runs.request()
  expect([await end(0), await end(1)]).toEqual([2, 2])
  runs.request()
  runs.request()
  runs.forget()
  expect(await end(2)).toBe(3)
  runs.request()
  runs.request()
  const stopped = runs.stop()
  expect(await end(3)).toBe(4)
  await stopped
  runs.request()
  expect(gates.length).toBe(4)
})
