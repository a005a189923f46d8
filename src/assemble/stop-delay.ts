import type { AppContext } from "./context.ts"

/**
 * After SIGTERM, announces the stop and waits as long as the settings say, so that load balancers stop sending requests before the listener closes.
 * A further signal ends the wait. Ctrl-C comes from a person, who does not wait.
 */
export async function delayStop(
  { system, settings }: AppContext,
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
