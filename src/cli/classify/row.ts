import { kindOf, parseSubject, unreadSubject } from "../../check/address/parse.ts"
import type { Subject, SubjectKind } from "../../check/address/subject.ts"

/** One input of a file, in whichever format it stands there. */
export type Row = {
  /** The text to be checked, or what could be read of it. */
  readonly input: string
  /** What the file says it is; null: the rule of a batch tells. */
  readonly kind: SubjectKind | null
  /** Why it is not looked into; null: it is. */
  readonly fault: "invalid_syntax" | "too_long" | null
  /** All cells of its row in a CSV file, as many as the header has or more; null: it stands alone. */
  readonly cells: readonly string[] | null
}

/** Reads the rows of a file from its lines, in their order. */
export type RowReader = {
  /** What is known of the file's columns so far; null: its header did not come yet. */
  readonly columns: () => Columns | null
  /** Takes the next line and appends the rows that are whole by it. */
  readonly take: (line: Line, rows: Row[]) => void
  /** There are no more lines: appends what is left. */
  readonly end: (rows: Row[]) => void
}

/** One line of a file, without its line feed. Bytes that are no UTF-8 stand in it as U+FFFD. */
export type Line = { readonly text: string /** Only its beginning is here. */; readonly isTooLong: boolean }

/** The columns of rows. */
export type Columns = { readonly names: readonly string[]; readonly delimiter: string }

/** The one column of inputs that stand alone. */
export const INPUT_ALONE: Columns = { names: ["input"], delimiter: "," }

/** What stands for bytes that are no UTF-8: a part of nobody's name. */
const REPLACED = "\ufffd"

/** A row as a check takes it; one that is not looked into is a Subject with that fault. */
export function subjectOf({ input, kind, fault }: Row, testDomain: string): Subject {
  const fate = fault ?? (input.includes(REPLACED) ? "invalid_syntax" : null)
  const asked = kind ?? kindOf(input)
  return fate === null ? parseSubject(asked, input, testDomain) : unreadSubject(asked, input, fate)
}
