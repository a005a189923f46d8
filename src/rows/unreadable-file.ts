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

/** The columns of a table of which the caller names one, by their indexes, and the names of all; empty: they have none. */
export type ColumnChoice = { readonly names: readonly string[]; readonly indexes: readonly number[] }

/** Thrown when a file cannot be read as rows. The message is for people and names parameters of a query. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile"
  /** The message with other names of the options. */
  readonly describe: (names: OptionNames) => string
  /** Whether other options would help: the file is as it should be. */
  readonly isWrongUse: boolean
  /** The columns to choose from; null: another one would not help, or they are not known. */
  readonly choice: ColumnChoice | null

  constructor(describe: (names: OptionNames) => string, isWrongUse = false, choice: ColumnChoice | null = null) {
    super(describe(PARAMETER_NAMES))
    this.describe = describe
    this.isWrongUse = isWrongUse
    this.choice = choice
  }
}
