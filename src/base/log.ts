import { redactAddresses } from "./address-redaction.ts"
import { InvariantError } from "./errors.ts"
import type { LogMessage } from "./log-events.ts"
import { LOG_LEVELS, type LogLevel } from "./log-level.ts"
import type { Clock } from "./outside-world.ts"
import { escapeControls } from "./untrusted-text.ts"

/** The fields of a log line besides its message. Never an address, a key or a secret. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>

/** Writes one log line. */
export type Log = (level: LogLevel, message: LogMessage, fields?: LogFields) => void

/** The same log, whose lines all have these fields. */
export const withFields =
  (log: Log, added: LogFields): Log =>
  (level, message, fields) =>
    log(level, message, { ...added, ...fields })

/** How long the message of an error of the system may be. */
const WHY_LENGTH_MAX = 300

/** The code of an error, such as `full` or `ENOSPC`. */
const ERROR_CODE = /^\w{1,40}$/

/**
 * Returns an error handler for background work. It logs the name of the error and its code. What an error of the store or of the system says
 * is logged too. The message of any other may contain anything, so of a defect only the frames of its stack are logged. `where`: the place of an
 * error that names none.
 */
export const logError =
  (log: Log, message: LogMessage, where?: string) =>
  (error: unknown): void => {
    const name = error instanceof Error ? error.name : "unknown"
    const code = ownCode(error)
    log("error", message, {
      error: name,
      ...(code !== "" && { fault: code }),
      ...circumstances(error, where),
    })
  }

/** The code of an error, or of the fault that it names; empty: it has none that can be one. */
function ownCode(error: unknown): string {
  const named = error instanceof Error && "fault" in error ? error.fault : null
  const code = error instanceof Error && "code" in error ? String(named ?? error.code) : ""
  return ERROR_CODE.test(code) ? code : ""
}

/** Where an error happened, why, and what to do about it, as far as it tells. */
function circumstances(error: unknown, where: string | undefined): LogFields {
  if (!(error instanceof Error)) return {}
  const remedy = "remedy" in error ? { remedy: String(error.remedy) } : {}
  if ("reason" in error && "remedy" in error) {
    const place = "location" in error ? String(error.location) : where
    return { ...(place !== undefined && { where: place }), why: String(error.reason), ...remedy }
  }
  if (!("syscall" in error)) return { ...(ownCode(error) === "" && { at: framesOf(error) }), ...remedy }
  const place = "path" in error ? String(error.path) : where
  return {
    ...(place !== undefined && { where: place }),
    why: redactAddresses(error.message, WHY_LENGTH_MAX),
    ...remedy,
  }
}

/** How many frames of its stack are logged of a defect. */
const FRAMES_MAX = 8

/**
 * What is logged of a defect: its name and the frames of its stack. Only messages of assertions are logged: any other error's message
 * may hold a part of the input.
 */
export function defectFields(error: unknown): LogFields {
  return {
    error: error instanceof Error ? error.name : typeof error,
    ...(error instanceof InvariantError && { why: error.message }),
    at: framesOf(error),
  }
}

function framesOf(error: unknown): string {
  const frames = error instanceof Error ? (error.stack ?? "").split("\n").filter(line => /^\s*at /.test(line)) : []
  return frames
    .slice(0, FRAMES_MAX)
    .map(line => line.trim())
    .join(" < ")
}

/**
 * Creates a log that passes lines of at least `leastLevel` to `write`: one JSON object per line, or a readable line if
 * `isPretty`. JSON escapes the controls of ASCII alone; those of Latin-1, which terminals obey, and marks that turn the direction of text are escaped too.
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
    if (!isPretty) return write(`${escapeControls(JSON.stringify({ time, level, msg: message, ...fields }))}\n`)
    const rest = Object.entries(fields).map(
      ([name, value]) => ` ${name}=${typeof value === "string" ? JSON.stringify(value) : value}`,
    )
    write(`${time.slice(11, 19)} ${level.padEnd(5)} ${message}${escapeControls(rest.join(""))}\n`)
  }
}
