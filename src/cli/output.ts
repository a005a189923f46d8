/** The option that every command has. */
export const JSON_FLAG = ["--json", "print JSON"] as const

/** The output of a command. */
export type Output = {
  /** Writes a line to the standard output. */
  readonly line: (text: string) => void
  /** Writes a line to the standard error: progress and warnings. */
  readonly stderrLine: (text: string) => void
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

/** Makes text from outside safe for a terminal: control characters become `\\u…` escapes. */
export const escapeControls = (text: string): string =>
  text.replace(/\p{Cc}|\p{Cf}/gu, character => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`)
