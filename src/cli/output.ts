/** Where a command writes, and how. */
export type Output = {
  /** Writes a line of the command's answer. */
  readonly line: (text: string) => void
  /** Writes a line beside the answer: progress, warnings. */
  readonly stderrLine: (text: string) => void
}

/** A command that could not do its work: the sentence is shown, and the exit code is 1, or 2 for a wrong use. */
export class CommandError extends Error {
  override readonly name = "CommandFailure"
  readonly exitCode: 1 | 2
  constructor(sentence: string, exitCode: 1 | 2 = 1) {
    super(sentence)
    this.exitCode = exitCode
  }
}

/** Writes an answer for a program: one JSON text. */
export const printJson = (output: Output, answer: unknown): void => output.line(JSON.stringify(answer, null, 2))

/** Writes rows in columns as wide as their widest cell; the last column is not padded. */
export function printTable(output: Output, rows: readonly (readonly string[])[]): void {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, Bun.stringWidth(cell))
    })
  for (const row of rows) {
    const cells = row.map((cell, at) =>
      at === row.length - 1 ? cell : cell + " ".repeat((widths[at] ?? 0) - Bun.stringWidth(cell)),
    )
    output.line(cells.join("  ").trimEnd())
  }
}

/** Text from outside as a terminal may show it: control characters are named, not sent. */
export const escapeControls = (text: string): string =>
  text.replace(/\p{Cc}|\p{Cf}/gu, character => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`)
