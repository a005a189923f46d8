import { expect, test } from "bun:test"
import { EventEmitter } from "node:events"
import { createStopSignals, REPETITION_MS } from "../../src/system/stop-signals.ts"

/** Signals of a process, and a time that the test moves. */
function signalled() {
  const signals = new EventEmitter()
  const timers: (() => void)[] = []
  const stopSignal = createStopSignals(signals, (ms, work) => {
    expect(ms).toBe(REPETITION_MS)
    timers.push(work)
    return () => undefined
  })
  const came: string[] = []
  const wait = (until?: AbortSignal) => void stopSignal(until).then(name => came.push(name))
  /** What was resolved with so far. */
  const seen = async () => {
    await Promise.resolve()
    return came.join(" ")
  }
  const pass = (): void => {
    for (const work of timers.splice(0)) work()
  }
  return { signals, wait, seen, pass }
}

test("a signal that comes again within a second is the same request, and a later one is another", async () => {
  const { signals, wait, seen, pass } = signalled()
  for (const _ of ["for the stop", "for the end of a wait before it"]) wait()
  signals.emit("SIGTERM")
  wait()
  signals.emit("SIGTERM")
  expect(await seen()).toBe("SIGTERM SIGTERM")
  pass()
  signals.emit("SIGTERM")
  expect(await seen()).toBe("SIGTERM SIGTERM SIGTERM")
})

test("another signal is another request at once", async () => {
  const { signals, wait, seen } = signalled()
  wait()
  signals.emit("SIGTERM")
  wait()
  signals.emit("SIGINT")
  expect(await seen()).toBe("SIGTERM SIGINT")
})

test("a signal that nobody waits for has its usual effect, but not within the second in which it is the same request", () => {
  const { signals, wait, pass } = signalled()
  const listenersCount = () => [signals.listenerCount("SIGTERM"), signals.listenerCount("SIGINT")]
  const until = new AbortController()
  wait(until.signal)
  expect(listenersCount()).toEqual([1, 1])
  until.abort()
  expect(listenersCount()).toEqual([0, 0])
  wait()
  signals.emit("SIGTERM")
  expect(listenersCount()).toEqual([1, 1])
  pass()
  expect(listenersCount()).toEqual([0, 0])
})
