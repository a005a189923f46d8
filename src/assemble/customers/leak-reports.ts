import type { Log } from "../../base/log.ts"
import { DOWNLOAD_BOUNDS, download } from "../../check/fetch/download.ts"
import type { Settings } from "../../config/settings.ts"
import { type LeakedKeyRevocation, revokeLeakedKey } from "../../customers/keys/keys.ts"
import type { ChangeLog } from "../../customers/store/change-log/change-log.ts"
import { createReporterKeyLookup, type FindReporterKey } from "../../http/hooks/reporter-keys.ts"
import type { System } from "../../system/system.ts"

/** Where the programme that reports leaks publishes its keys. */
export const REPORTER_KEYS_URL = "https://api.github.com/meta/public_keys/secret_scanning"
/** The document has about 700 octets. A report waits for it, and its sender for 30 seconds. */
export const REPORTER_KEYS_BOUNDS = { ...DOWNLOAD_BOUNDS, bytesMax: 65_536, timeoutMs: 10_000, idleMs: 5_000 }

/** What leak reports are received by. */
export type LeakReportsService = {
  readonly findReporterKey: FindReporterKey
  readonly revokeLeaked: (text: string) => Promise<LeakedKeyRevocation>
}

/** Wires what verifies leak reports, and what revokes the keys in them. Nobody is asked before the first report comes. */
export function createLeakReportsService(
  { fetchUrl, setTimer, clock, stopwatch }: System,
  { MAILKIND_SECRET_SCANNING_KEYS_URL: own }: Settings,
  changes: ChangeLog,
  log: Log,
  userAgent: string,
): LeakReportsService {
  return {
    findReporterKey: createReporterKeyLookup({
      download: known =>
        download({ fetchUrl, setTimer, userAgent }, own ?? REPORTER_KEYS_URL, known, REPORTER_KEYS_BOUNDS),
      clock,
      stopwatch,
      onWarning: says => log("warn", "the leak reporter's public keys were not fetched", { why: says }),
    }),
    revokeLeaked: text => revokeLeakedKey(changes, text),
  }
}
