import type { SetTimer } from "../base/outside-world.ts"

/**
 * A signal that comes again so soon is the same request: `timeout` signals its command and then the group of it, and a terminal signals a command that
 * also gets the signal from its parent.
 */
export const REPETITION_MS = 1000

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const
type StopSignal = (typeof STOP_SIGNALS)[number]

type Signals = {
  readonly on: (name: StopSignal, listener: () => void) => unknown
  readonly off: (name: StopSignal, listener: () => void) => unknown
}

/**
 * Waits for the next signal that asks a process to stop: resolves with its name. After `until` it waits for none. While nobody waits, and nothing
 * came within the last second, a signal ends the process.
 */
export function createStopSignals(signals: Signals, setTimer: SetTimer): (until?: AbortSignal) => Promise<string> {
  const waiting = new Set<(name: StopSignal) => void>()
  const recent = new Set<StopSignal>()
  const listeners = new Map<StopSignal, () => void>()
  const listen = (): void => {
    const isNeeded = waiting.size > 0 || recent.size > 0
    if (isNeeded === listeners.size > 0) return
    if (isNeeded) for (const name of STOP_SIGNALS) listeners.set(name, () => take(name))
    for (const [name, listener] of listeners) signals[isNeeded ? "on" : "off"](name, listener)
    if (!isNeeded) listeners.clear()
  }
  const take = (name: StopSignal): void => {
    if (recent.has(name)) return
    recent.add(name)
    setTimer(REPETITION_MS, () => {
      recent.delete(name)
      listen()
    })
    for (const resolve of waiting) resolve(name)
    waiting.clear()
  }
  return until =>
    new Promise(resolve => {
      waiting.add(resolve)
      until?.addEventListener("abort", () => {
        waiting.delete(resolve)
        listen()
      })
      listen()
    })
}
