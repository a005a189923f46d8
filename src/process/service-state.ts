import type { System } from "../system/system.ts"

/** Tells the service manager that the server serves, and from then on that it does not hang. */
export function reportReady({ serviceManager, runInterval }: System): void {
  serviceManager.notify("READY=1")
  const { watchdogMs } = serviceManager
  // Twice within its time, as sd_watchdog_enabled(3) advises.
  if (watchdogMs !== null) runInterval(watchdogMs / 2, () => serviceManager.notify("WATCHDOG=1"))
}

type StopContext = {
  readonly system: Pick<System, "sleep" | "stopSignal">
  readonly settings: { readonly MAILKIND_STOP_DELAY_MS: number }
}

/**
 * After SIGTERM, announces the stop and waits as long as the settings say, so that load balancers stop sending requests before the listener closes.
 * A further signal ends the wait. Ctrl-C comes from a person, who does not wait.
 */
export async function delayStop(
  { system, settings }: StopContext,
  signal: string,
  announceStop: () => void,
): Promise<void> {
  const delayMs = settings.MAILKIND_STOP_DELAY_MS
  if (signal !== "SIGTERM" || delayMs === 0) return
  announceStop()
  const ended = new AbortController()
  await Promise.race([system.sleep(delayMs), system.stopSignal(ended.signal)])
  ended.abort()
}
