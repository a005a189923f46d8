import type { FaultLog, Outage } from "../../base/fault-log.ts"
import { logError } from "../../base/log.ts"
import type { PartContext } from "../../base/part-context.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import { createIntervals } from "../../base/time.ts"
import { CLOCK_SKEW_MS_MAX, type ClockDoubt, TrustedClock } from "../../base/trusted-clock.ts"
import type { Sample } from "../../contract/metrics.ts"
import { readConfirmedTime, writeConfirmedTime } from "../store/confirmed-time.ts"
import { type OpenStore, readClock } from "../store/core/store.ts"
import type { DatabasePoll } from "../store/poll/database-poll.ts"
import { NODE_BOUNDS } from "./live-nodes.ts"

/** How often the trusted time is stored where the database has no clock: a start within this time and the tolerated skew is in no doubt. */
const WRITE_MS = 15_000

/** A doubt is reported when so many readings in a row found it: one alone may come from a process that was paused. */
const READINGS_REPORTED_MIN = 2

/**
 * Creates the time that deletes and opens days, and the background work that confirms it, over an open store, whose clock is read once.
 * Rejects when the store fails.
 */
export async function createTrustedTimeService(
  { system, log }: PartContext,
  faults: FaultLog,
  store: OpenStore,
  poll: Pick<DatabasePoll, "add">,
) {
  const { stopwatch, clock } = system
  const askedMs = stopwatch()
  const firstMs = await readClock(store)
  const trusted = new TrustedClock(system, firstMs === null ? await readConfirmedTime(store) : null)
  const reportDoubt = createDoubtReport(faults, firstMs === null)
  const observe = (sourceMs: number, sinceMs: number): void => {
    trusted.observe(sourceMs, sinceMs)
    reportDoubt(trusted.doubt())
  }
  observe(firstMs ?? clock(), firstMs === null ? stopwatch() : askedMs)
  const readings = new SingleFlight<null, void>()
  if (firstMs !== null)
    poll.add({
      columns: { clockMs: store.clockSql },
      observe: ({ rows: [{ clockMs }], tookMs }) => observe(Number(clockMs), stopwatch() - tookMs),
    })
  /** Without a clock of the database that of this host is read, and the time is stored. */
  const read = async (): Promise<void> => {
    observe(clock(), stopwatch())
    await writeConfirmedTime(store, trusted.stored, WRITE_MS)
  }
  const logFailure = logError(log, "the clock was not confirmed")
  const readOnce = (): Promise<void> => readings.run(null, () => read().catch(logFailure))
  const intervals = createIntervals(system.runInterval, firstMs === null ? [[NODE_BOUNDS.intervalMs, readOnce]] : [])
  /** Whether the clock is in doubt, as far as the last readings tell. */
  const isInDoubt = (): boolean => trusted.doubt() !== null
  return {
    time: trusted,
    isInDoubt,
    samples: () => clockSamples(trusted, clock()),
    start: () => {
      if (firstMs === null) void readOnce()
      intervals.start()
    },
    stop: async () => {
      intervals.stop()
      await readings.get(null)
      if (firstMs === null) await writeConfirmedTime(store, trusted.stored, 0).catch(logFailure)
    },
  }
}

const clockSamples = (trusted: TrustedClock, nowMs: number): readonly Sample[] => [
  ["mailkind_clock_trusted", trusted.doubt() === null ? 1 : 0],
  ["mailkind_clock_timestamp_seconds", nowMs / 1000],
  ["mailkind_clock_jumps_total", trusted.jumpCount],
]

/** Reports once that the clock is in doubt, and once that it is no longer. */
function createDoubtReport(faults: FaultLog, isOwn: boolean): (doubt: ClockDoubt | null) => void {
  const report = faults.outages("warn", "the clock is in doubt", "the clock is no longer in doubt")
  let count = 0
  return doubt => {
    if (doubt === null && count >= READINGS_REPORTED_MIN) report(null)
    count = doubt === null ? 0 : count + 1
    if (doubt !== null && count === READINGS_REPORTED_MIN) report(doubtOutage(doubt, isOwn))
  }
}

/** What is wrong with the clock, what follows from it, and what an operator does. */
function doubtOutage({ aheadMs, remainingMs }: ClockDoubt, isOwn: boolean): Outage {
  const isOff = Math.abs(aheadMs) > CLOCK_SKEW_MS_MAX
  const reference = isOwn
    ? "the newest time in the database and the time that has passed since"
    : "the clock of the database"
  const distance = `${durationText(Math.abs(aheadMs))} ${aheadMs > 0 ? "ahead of" : "behind"} ${reference}`
  const why = isOff ? `The clock is ${distance}.` : `The clock has jumped. It is now ${distance}.`
  const wait =
    remainingMs === null
      ? "Nothing is deleted for its age until they agree."
      : `Nothing is deleted for its age in the next ${durationText(remainingMs)}; then what is too old by this clock is.${aheadMs > 0 ? " If no server ran since then, do nothing." : ""}`
  const remedy = `${wait} If the clock is wrong, set it, and run a time daemon (NTP).`
  return { fault: "clock_in_doubt", where: "this host", why, remedy }
}

const DURATION_UNITS = [
  [86_400_000, "days"],
  [3_600_000, "hours"],
  [1000, "seconds"],
] as const

/** A duration in days, hours or seconds: the largest unit that makes it at least two. */
function durationText(ms: number): string {
  const [unitMs, name] = DURATION_UNITS.find(([unitMs]) => ms >= 2 * unitMs) ?? DURATION_UNITS[2]
  return `${Math.round(ms / unitMs)} ${name}`
}
