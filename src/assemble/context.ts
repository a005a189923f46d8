import { createLogger, type Log, type LogLevel } from "../base/log.ts"
import type { Settings } from "../config/settings.ts"
import type { OpenStore } from "../customers/store/core/store.ts"
import type { System } from "../system/system.ts"

/** What the parts of a process are wired from. */
export type AppContext = { readonly system: System; readonly settings: Settings; readonly log: Log }

/** The same once the store is open. */
export type StoreContext = AppContext & { readonly store: OpenStore }

/** Creates the context. Its log has the level of the settings, or writes every line while verbose logging is on. */
export function createContext(system: System, settings: Settings): AppContext {
  const logFrom = (least: LogLevel): Log => createLogger(least, system.isTerminal, system.clock, system.writeStderr)
  const normalLog = logFrom(settings.MAILKIND_LOG)
  const verboseLog = logFrom("debug")
  const log: Log = (level, message, fields) => (system.verbose.isOn() ? verboseLog : normalLog)(level, message, fields)
  return { system, settings, log }
}

/** The context of a worker, which adds its index to each log line. */
export const workerContext = (context: AppContext, workerIndex: number): AppContext => ({
  ...context,
  log: (level, message, fields) => context.log(level, message, { worker: workerIndex, ...fields }),
})
