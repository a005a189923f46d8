import { escapeControlsOfLines } from "../base/untrusted-text.ts"

/** The option that every command has. */
export const JSON_FLAG = ["--json", "print JSON"] as const

/** The output of a command. */
export type Output = {
  /** Writes a line to the standard output. */
  readonly line: (text: string) => void
  /** Writes a line to the standard error: progress and warnings. */
  readonly stderrLine: (text: string) => void
  /** Whether the standard output shows colours. Absent: it does not. */
  readonly hasColor?: boolean
}

/** The exit codes of all commands. */
export const EXIT_CODES = {
  0: "The command has done what was asked.",
  1: "The command failed. The message says why and what to do.",
  2: "The command was used wrongly: an option, an argument or a setting is not valid.",
  3: "A verdict is as bad as `--fail-on` says.",
} as const

/** Ends a command that has printed everything. */
export class CommandExit extends Error {
  override readonly name = "CommandExit"
  readonly exitCode: keyof typeof EXIT_CODES
  constructor(exitCode: keyof typeof EXIT_CODES) {
    super(EXIT_CODES[exitCode])
    this.exitCode = exitCode
  }
}

/** Whether these arguments ask for JSON. */
export const isJsonAsked = (args: readonly string[]): boolean =>
  (args.includes("--") ? args.slice(0, args.indexOf("--")) : args).includes("--json")

/** What the standard error says about a failed command: a sentence, or JSON if the arguments ask for it. */
export const failureText = (args: readonly string[], message: string, exitCode: 1 | 2): string =>
  isJsonAsked(args)
    ? JSON.stringify(
        { error: { code: exitCode === 2 ? "wrong_use" : "failed", message, exit_code: exitCode } },
        null,
        2,
      )
    : escapeControlsOfLines(`mailkind: ${message}`)

/**
 * The same output, on which nothing that others wrote is a control of the terminal: in all text besides the colours of `paint`
 * control characters become escapes, in JSON those of JSON.
 */
export const safeOutput = (output: Output): Output => {
  const safe = (text: string): string =>
    text
      .split(PAINTED)
      .map((part, at) => (at % 2 === 1 && output.hasColor === true ? part : escapeControlsOfLines(part)))
      .join("")
  return {
    ...output,
    line: text => output.line(safe(text)),
    stderrLine: text => output.stderrLine(escapeControlsOfLines(text)),
  }
}

const SGR_CODES = { bold: 1, red: 31, green: 32, yellow: 33 } as const

/** What `paint` adds. */
const PAINTED = new RegExp(`(\\u001b\\[(?:0|${Object.values(SGR_CODES).join("|")})m)`)

/** The text in a colour, where the output shows colours. */
export const paint = ({ hasColor = false }: Output, color: keyof typeof SGR_CODES, text: string): string =>
  hasColor ? `\u001b[${SGR_CODES[color]}m${text}\u001b[0m` : text

/** Whether colours are shown: on terminals that can, unless `NO_COLOR` is set; elsewhere only with `FORCE_COLOR`. */
export function showsColor(environment: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const { NO_COLOR: no = "", FORCE_COLOR: force = "", TERM: terminal } = environment
  if (no !== "") return false
  if (force !== "" && force !== "0") return true
  return isTerminal && terminal !== "dumb"
}

/** A failed command. The message is shown, and the exit code is 1, or 2 for a wrong use. */
export class CommandError extends Error {
  override readonly name = "CommandError"
  readonly exitCode: 1 | 2
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Prints one JSON text. */
export const printJson = (output: Output, value: unknown): void => output.line(JSON.stringify(value, null, 2))

/** Prints rows in aligned columns. The last column is not padded. */
export function printTable(output: Output, rows: readonly (readonly string[])[]): void {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(cell))
    })
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === row.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell)),
    )
    output.line(cells.join("  ").trimEnd())
  }
}

/** A count with thousands separated by commas. */
export const formatCount = (count: number): string => count.toLocaleString("en")

/** Collects the values of an option that can be repeated. */
export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]
