import manifest from "../../package.json" with { type: "json" }
import { createLogger, type Log, type LogLevel } from "../base/log.ts"
import type { Settings } from "../config/settings.ts"
import type { BuildInfo } from "../http/metrics/exposition.ts"
import type { System } from "../system/system.ts"

/** The version of this program. */
export const VERSION: string = manifest.version

/** The versions of this program and its runtime. */
export const BUILD: BuildInfo = { version: VERSION, bun: Bun.version }

/** Creates the log at the level of the settings, or of every line while verbose logging is on. A worker adds its index to each line. */
export function createLog(system: System, settings: Settings, workerIndex: number | null = null): Log {
  const logFrom = (least: LogLevel): Log => createLogger(least, system.isTerminal, system.clock, system.writeStderr)
  const normalLog = logFrom(settings.MAILKIND_LOG)
  const verboseLog = logFrom("debug")
  const log: Log = (level, message, fields) => (system.verbose.isOn() ? verboseLog : normalLog)(level, message, fields)
  return workerIndex === null
    ? log
    : (level, message, fields) => log(level, message, { worker: workerIndex, ...fields })
}

/** The `User-Agent` of outgoing requests: the program, its version, and where its documentation is. */
export function formatUserAgent({
  MAILKIND_BASE_URL: baseUrl,
  MAILKIND_HOST: host,
  MAILKIND_PORT: port,
}: Settings): string {
  const base = baseUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`
  // Parsing converts the URL to ASCII, as a header requires.
  return `mailkind/${VERSION} (+${new URL(`${base}/docs`).href})`
}
