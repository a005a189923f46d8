/** How the options are called that a message about a file names. */
export type OptionNames = Readonly<Record<"column" | "noHeader" | "format" | "delimiter" | "skip" | "force", string>>

/** The names of parameters in a query. */
const PARAMETER_NAMES: OptionNames = {
  column: "`column`",
  noHeader: "`header=false`",
  format: "`format`",
  delimiter: "`delimiter`",
  skip: "`skip`",
  force: "`force=true`",
}

/** Thrown when a file cannot be read as rows. The message is for people and names parameters of a query. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile"
  /** The message with other names of the options. */
  readonly describe: (names: OptionNames) => string
  /** Whether other options would help: the file is as it should be. */
  readonly isWrongUse: boolean

  constructor(describe: (names: OptionNames) => string, isWrongUse = false) {
    super(describe(PARAMETER_NAMES))
    this.describe = describe
    this.isWrongUse = isWrongUse
  }
}
