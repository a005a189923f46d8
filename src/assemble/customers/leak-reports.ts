import type { Log } from "../../base/log.ts"
import { DOWNLOAD_BOUNDS, download } from "../../check/fetch/download.ts"
import type { Settings } from "../../config/settings.ts"
import { type LeakedKeyRevocation, revokeLeakedKey } from "../../customers/keys/keys.ts"
import type { ChangeLog } from "../../customers/store/change-log/change-log.ts"
import { createReporterKeyLookup, type FindReporterKey } from "../../http/hooks/reporter-keys.ts"
import type { System } from "../../system/system.ts"

/** Where the secret scanning programme publishes the keys that sign its reports. */
export const REPORTER_KEYS_URL = "https://api.github.com/meta/public_keys/secret_scanning"
/** The document has about 700 bytes. A report waits for it, and its sender waits for 30 seconds. */
export const REPORTER_KEYS_BOUNDS = { ...DOWNLOAD_BOUNDS, bytesMax: 65_536, timeoutMs: 10_000, idleMs: 5_000 }

/** Verification of leak reports, and revocation of the leaked keys. */
export type LeakReportsService = {
  readonly findReporterKey: FindReporterKey
  readonly revokeLeaked: (text: string) => Promise<LeakedKeyRevocation>
}

/** Creates the service. It downloads nothing before the first report arrives. */
export function createLeakReportsService(
  { fetchUrl, setTimer, clock, stopwatch }: System,
  { MAILKIND_SECRET_SCANNING_KEYS_URL: operatorUrl }: Settings,
  changes: ChangeLog,
  log: Log,
  userAgent: string,
): LeakReportsService {
  return {
    findReporterKey: createReporterKeyLookup({
      download: validators =>
        download({ fetchUrl, setTimer, userAgent }, operatorUrl ?? REPORTER_KEYS_URL, validators, REPORTER_KEYS_BOUNDS),
      clock,
      stopwatch,
      onWarning: why => log("warn", "the leak reporter's public keys were not fetched", { why }),
    }),
    revokeLeaked: text => revokeLeakedKey(changes, text),
  }
}
