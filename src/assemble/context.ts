import { join } from "node:path"
import { FaultLog } from "../base/fault-log.ts"
import { derived } from "../base/lazy.ts"
import { createLogger, type Log, type LogFields } from "../base/log.ts"
import type { LogLevel } from "../base/log-level.ts"
import type { Settings } from "../config/settings.ts"
import { describeStoreError, isStoreErrorCode } from "../customers/store/core/store-error.ts"
import { redactedUrl } from "../customers/store/postgres/postgres-url.ts"
import type { StoredContext } from "../customers/stored-context.ts"
import { SYSTEM_ERROR_REMEDIES } from "../process/startup-error.ts"
import type { OutsideWorld } from "../system/outside-world.ts"
import type { System } from "../system/system.ts"

/** What checks are wired from, in a server and inside another program. */
export type CheckContext = {
  readonly system: OutsideWorld & { readonly files: Pick<System["files"], "folder"> }
  readonly settings: Settings
  readonly log: Log
  /** The faults of which the log does not repeat lines. Absent: it repeats them. */
  readonly faults?: FaultLog
}

/** What the parts of a process are wired from. */
export type AppContext = CheckContext & { readonly system: System }

/** The same once the store is open. */
export type StoreContext = AppContext & StoredContext<Settings>

/** Creates the context. Its log has the level of the settings, or writes every line while verbose logging is on. */
export function createContext(system: System, settings: Settings): AppContext {
  const logFrom = (least: LogLevel): Log => createLogger(least, system.isTerminal, system.clock, system.writeStderr)
  const normalLog = derived(() => settings.MAILKIND_LOG, logFrom)
  const verboseLog = logFrom("debug")
  const written: Log = (level, message, fields) => {
    const log = system.verbose.isOn() ? verboseLog : normalLog()
    const count = system.takeLostLines()
    if (count > 0) log("warn", "lines of the log were lost", { count, remedy: LOST_LINES_REMEDY })
    log(level, message, level === "error" || level === "warn" ? withHostState(system, fields) : fields)
  }
  const faults = faultsOf({ system, settings, log: written })
  return { system, settings, log: faults.log, faults }
}

const LOST_LINES_REMEDY = "Look at what reads standard error: the journal, the runtime of the container, or a pipe."

/** The fields with what this host shows of the fault that they are about: the room on its disk, who owns the file, or open descriptors. */
function withHostState({ hostState }: Pick<System, "hostState">, fields: LogFields = {}): LogFields {
  const { where, fault, why } = fields
  if (typeof where !== "string") return fields
  const seen = hostState(`${fault ?? ""} ${why ?? ""}`, where)
  return seen === null ? fields : { ...fields, seen }
}

/** The faults of a context, or its log's own where it has none. */
export function faultsOf({ system: { stopwatch, runInterval }, settings, log, faults }: CheckContext): FaultLog {
  return faults ?? new FaultLog(log, { stopwatch, runInterval, describe: fault => describeFault(fault, settings) })
}

/** Of an error of the store: where the database is, what the error means, and its remedy; of one of the system: its remedy. */
function describeFault(fault: string, settings: Settings): LogFields {
  if (isStoreErrorCode(fault)) {
    const where = databasePlace(settings)
    const { description: why, remedy } = describeStoreError(fault, where)
    return { where, why, remedy }
  }
  const remedy = SYSTEM_ERROR_REMEDIES.get(fault)
  return remedy === undefined ? {} : { remedy }
}

/** The path of the SQLite database. */
export const sqliteFile = ({ MAILKIND_DATA_DIR: directory }: Pick<Settings, "MAILKIND_DATA_DIR">): string =>
  join(directory, "mailkind.sqlite")

/** The path of the database, or the URL of its server without the password. */
export function databasePlace(settings: Settings): string {
  const { MAILKIND_DATABASE_URL: url } = settings
  return url === null ? sqliteFile(settings) : redactedUrl(url.reveal())
}

/** The context of a worker, which adds its index to each log line. */
export function workerContext(context: AppContext, workerIndex: number): AppContext {
  const faults = faultsOf(context).withFields({ worker: workerIndex })
  return { ...context, log: faults.log, faults }
}
