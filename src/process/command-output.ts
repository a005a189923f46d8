import { parseJson } from "../base/text.ts"
import { ownMember } from "../base/untrusted-text.ts"

/** What a command of this program has written to standard error. */
export type CommandStderr = {
  /** Its log lines, each with its line break, to be passed on as they are. */
  readonly lines: string
  /** The message of its error, or in one line whatever else it wrote; empty: there is neither. */
  readonly message: string
}

/** How much of a message is passed on. */
const MESSAGE_LENGTH_MAX = 1000

/** Tells the log lines of a command from its error, which `--json` prints as an object over several lines. */
export function readStderr(stderr: string): CommandStderr {
  const all = stderr.split("\n").filter(line => line.trim() !== "")
  const isLogLine = (line: string): boolean => typeof ownMember(parseJson(line), "msg") === "string"
  const lines = all.filter(isLogLine).map(line => `${line}\n`)
  const others = all.filter(line => !isLogLine(line)).map(line => line.trim())
  const error = ownMember(ownMember(parseJson(others.join("")), "error"), "message")
  const message = typeof error === "string" ? error : others.join(" ")
  return { lines: lines.join(""), message: message.slice(0, MESSAGE_LENGTH_MAX) }
}
