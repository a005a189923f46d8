/** The levels of a log line, least urgent first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** What a log line may hold beside its sentence. Never an address, a key or a secret. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>

/** Writes one line of log. */
export type Log = (level: LogLevel, says: string, fields?: LogFields) => void

/** Tells the log that something in the background failed, by the kind of the error alone: its message may hold anything. */
export const logError =
  (log: Log, says: string) =>
  (error: unknown): void =>
    log("error", says, { error: error instanceof Error ? error.name : "unknown" })

/**
 * Builds a log that writes lines of at least `level` with `write`: one JSON object a line, or, when `pretty`, a line
 * for people.
 */
export function createLogger(level: LogLevel, pretty: boolean, now: () => number, write: (line: string) => void): Log {
  const least = LOG_LEVELS.indexOf(level)
  return (at, says, fields = {}) => {
    if (LOG_LEVELS.indexOf(at) < least) return
    const time = new Date(now()).toISOString()
    if (!pretty) return write(`${JSON.stringify({ time, level: at, says, ...fields })}\n`)
    const rest = Object.entries(fields).map(
      ([name, value]) => ` ${name}=${typeof value === "string" ? JSON.stringify(value) : value}`,
    )
    write(`${time.slice(11, 19)} ${at.padEnd(5)} ${says}${rest.join("")}\n`)
  }
}
