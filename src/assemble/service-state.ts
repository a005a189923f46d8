import type { System } from "../system/system.ts"

/** Tells the service manager that the server serves, and from then on that it does not hang. */
export function reportReady({ serviceManager, runInterval }: System): void {
  serviceManager.notify("READY=1")
  const { watchdogMs } = serviceManager
  // Twice within its time, as sd_watchdog_enabled(3) advises.
  if (watchdogMs !== null) runInterval(watchdogMs / 2, () => serviceManager.notify("WATCHDOG=1"))
}
