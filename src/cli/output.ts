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

/** The exit codes of all commands. `error`: the `code` of the error that is printed as JSON; null: none is. */
export const EXIT_CODES = {
  0: { error: null, description: "The command has done what was asked." },
  1: { error: "failed", description: "The command failed. The message says why and what to do." },
  2: {
    error: "wrong_use",
    description: "The command was used wrongly: an option, an argument, a file or a setting is not valid.",
  },
  3: { error: null, description: "A verdict is as bad as `--fail-on` says." },
  4: {
    error: "changed_meanwhile",
    description: "Somebody else has changed it since it was read. Nothing was changed.",
  },
} as const

/** The exit codes of commands that print an error. */
type FailureCode = {
  [C in keyof typeof EXIT_CODES]: (typeof EXIT_CODES)[C]["error"] extends null ? never : C
}[keyof typeof EXIT_CODES]

/** Ends a command that has printed everything. */
export class CommandExit extends Error {
  override readonly name = "CommandExit"
  readonly exitCode: keyof typeof EXIT_CODES
  constructor(exitCode: keyof typeof EXIT_CODES) {
    super(EXIT_CODES[exitCode].description)
    this.exitCode = exitCode
  }
}

/** Whether these arguments ask for JSON. */
export const isJsonAsked = (args: readonly string[]): boolean =>
  (args.includes("--") ? args.slice(0, args.indexOf("--")) : args).includes("--json")

/** A line of a file that is wrong, by its number. `detail` does not repeat it, since it may be an address. */
export type LineFault = { readonly line: number; readonly detail: string }

/** How many wrong lines a sentence tells; JSON has all of them. */
const TOLD_LINES_MAX = 20

/** What the standard error says about a failed command: a sentence, or JSON if the arguments ask for it. */
export function failureText(
  args: readonly string[],
  message: string,
  exitCode: FailureCode,
  lines: readonly LineFault[] = [],
): string {
  if (isJsonAsked(args)) {
    const { error: code } = EXIT_CODES[exitCode]
    const errors = lines.length === 0 ? {} : { errors: lines }
    return JSON.stringify({ error: { code, message, exit_code: exitCode, ...errors } }, null, 2)
  }
  const told = lines.slice(0, TOLD_LINES_MAX).map(({ line, detail }) => `\n  line ${line}: ${detail}`)
  const more = lines.length > TOLD_LINES_MAX ? `\n  and ${lines.length - TOLD_LINES_MAX} more, which --json tells` : ""
  return escapeControlsOfLines(`mailkind: ${message}${told.join("")}${more}`)
}

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

/** A failed command. The message is shown, and the lines of a file that are wrong. */
export class CommandError extends Error {
  override readonly name = "CommandError"
  readonly exitCode: FailureCode
  readonly lines: readonly LineFault[]
  constructor(message: string, exitCode: FailureCode = 1, lines: readonly LineFault[] = []) {
    super(message)
    this.exitCode = exitCode
    this.lines = lines
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
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
