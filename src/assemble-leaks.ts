import type { Log } from "./base/log.ts"
import { DOWNLOAD_BOUNDS, download } from "./check/refresh/download.ts"
import type { Settings } from "./config/settings.ts"
import { type Leak, revokeLeaked } from "./customers/keys/leaks.ts"
import type { ChangeLog } from "./customers/store/changes.ts"
import { type FindReporterKey, reporterKeys } from "./http/hooks/reporter-keys.ts"
import type { World } from "./world.ts"

/** Where the programme that reports leaks publishes its keys. */
export const KEYS_URL = "https://api.github.com/meta/public_keys/secret_scanning"
/** The document has about 700 octets. A report waits for it, and its sender for 30 seconds. */
export const KEYS_BOUNDS = { ...DOWNLOAD_BOUNDS, bytesMax: 65_536, timeoutMs: 10_000, idleMs: 5_000 }

/** What leak reports are received by. */
export type LeaksAtWork = {
  readonly reporterKey: FindReporterKey
  readonly revokeLeaked: (text: string) => Promise<Leak>
}

/** Wires what verifies leak reports, and what revokes the keys in them. Nobody is asked before the first report comes. */
export function leaksAtWork(
  { web, later, clock, stopwatch }: World,
  { MAILKIND_SECRET_SCANNING_KEYS_URL: own }: Settings,
  changes: ChangeLog,
  log: Log,
  agent: string,
): LeaksAtWork {
  return {
    reporterKey: reporterKeys({
      download: known => download({ web, later, agent }, own ?? KEYS_URL, known, KEYS_BOUNDS),
      clock,
      stopwatch,
      complain: says => log("warn", "the leak reporter's public keys were not fetched", { why: says }),
    }),
    revokeLeaked: text => revokeLeaked(changes, text),
  }
}
