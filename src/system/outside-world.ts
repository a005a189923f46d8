import { getServers } from "node:dns"
import { type Connect, socketConnect } from "../base/connect.ts"
import type { Fetch } from "../base/fetch.ts"
import { type Clock, type Random, type SetTimer, type Stopwatch, secureRandom } from "../base/outside-world.ts"
import { shareTimers } from "../base/shared-timers.ts"
import { tickClock } from "../base/time.ts"

/** What checks use of the outside world. All of it is there on Node.js too. */
export type OutsideWorld = {
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly random: Random
  /** Calls `work` every `everyMs` until the returned function is called. Does not keep the process alive. */
  readonly runInterval: (everyMs: number, work: () => void) => () => void
  readonly setTimer: SetTimer
  /** Calls `work` after this turn of the event loop has handled everything that has arrived (`setImmediate`). */
  readonly nextTick: (work: () => void) => void
  readonly fetchUrl: Fetch
  readonly connect: Connect
  /** The DNS servers of the system's configuration, as `address[:port]`. */
  readonly systemDnsServers: () => readonly string[]
}

const stopwatch: Stopwatch = () => performance.now()

const nextTick: OutsideWorld["nextTick"] = work => void setImmediate(work)

/** The real clock, timers, random numbers and connections. */
export const createOutsideWorld = (): OutsideWorld => ({
  clock: tickClock(Date.now, nextTick),
  stopwatch,
  random: secureRandom,
  runInterval: (everyMs, work) => {
    const timer = setInterval(work, everyMs)
    timer.unref()
    return () => clearInterval(timer)
  },
  setTimer: shareTimers((ms, work) => {
    const timer = setTimeout(work, ms)
    return () => clearTimeout(timer)
  }, stopwatch),
  nextTick,
  // Callers decide about redirects.
  fetchUrl: (url, options) => fetch(url, { ...options, redirect: "manual" }),
  connect: socketConnect(),
  systemDnsServers: getServers,
})
