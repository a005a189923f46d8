import type { Clock } from "./outside-world.ts"

/** The levels of a log line, least urgent first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The fields of a log line besides its message. Never an address, a key or a secret. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>

/** Writes one log line. */
export type Log = (level: LogLevel, message: string, fields?: LogFields) => void

/** Returns an error handler for background work. It logs only the name of the error, because its message may contain anything. */
export const logError =
  (log: Log, message: string) =>
  (error: unknown): void =>
    log("error", message, { error: error instanceof Error ? error.name : "unknown" })

/**
 * Creates a log that passes lines of at least `leastLevel` to `write`: one JSON object per line, or a readable line if
 * `isPretty`.
 */
export function createLogger(
  leastLevel: LogLevel,
  isPretty: boolean,
  clock: Clock,
  write: (line: string) => void,
): Log {
  const least = LOG_LEVELS.indexOf(leastLevel)
  return (level, message, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) < least) return
    const time = new Date(clock()).toISOString()
    if (!isPretty) return write(`${JSON.stringify({ time, level, says: message, ...fields })}\n`)
    const rest = Object.entries(fields).map(
      ([name, value]) => ` ${name}=${typeof value === "string" ? JSON.stringify(value) : value}`,
    )
    write(`${time.slice(11, 19)} ${level.padEnd(5)} ${message}${rest.join("")}\n`)
  }
}
