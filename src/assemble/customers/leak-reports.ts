import { urlPlace } from "../../base/fetch.ts"
import { DOWNLOAD_BOUNDS, download } from "../../check/fetch/download.ts"
import { revokeLeakedKey } from "../../customers/keys/keys.ts"
import type { Actor } from "../../customers/store/change-log/actor.ts"
import type { ChangeLog } from "../../customers/store/change-log/change-log.ts"
import { createReporterKeyLookup } from "../../http/hooks/reporter-keys.ts"
import type { AppContext } from "../context.ts"
import { formatUserAgent } from "../program.ts"

/** Where the secret scanning programme publishes the keys that sign its reports. */
export const REPORTER_KEYS_URL = "https://api.github.com/meta/public_keys/secret_scanning"
/** The document has about 700 bytes. A report waits for it, and its sender waits for 30 seconds. */
export const REPORTER_KEYS_BOUNDS = { ...DOWNLOAD_BOUNDS, bytesMax: 65_536, timeoutMs: 10_000, idleMs: 5_000 }

const LEAK_REPORTER: Actor = { kind: "leak_reporter", id: "", source: "leak_report", keyId: null }

/** Creates the verification of leak reports, and the revocation of leaked keys. It downloads nothing before the first report arrives. */
export function createLeakReportsService(
  { system: { fetchUrl, setTimer, clock, stopwatch }, settings, log }: AppContext,
  changes: ChangeLog,
) {
  const url = settings.MAILKIND_SECRET_SCANNING_KEYS_URL ?? REPORTER_KEYS_URL
  const userAgent = formatUserAgent(settings)
  return {
    findReporterKey: createReporterKeyLookup({
      download: async validators =>
        settings.MAILKIND_OUTSIDE === "off"
          ? { kind: "failed", message: "MAILKIND_OUTSIDE is off." }
          : await download({ fetchUrl, setTimer, userAgent }, url, validators, REPORTER_KEYS_BOUNDS),
      clock,
      stopwatch,
      onWarning: why =>
        log("warn", "the leak reporter's public keys were not fetched", {
          ...{ where: urlPlace(url), why },
          remedy:
            "Run `mailkind doctor --only leak_keys`. Let this host reach the URL, or set MAILKIND_SECRET_SCANNING_KEYS_URL.",
        }),
    }),
    revokeLeaked: (text: string) => revokeLeakedKey({ ...changes, actor: LEAK_REPORTER }, text),
  }
}
