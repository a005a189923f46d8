import { INPUT_ALONE, type Line, type Row, type RowReader } from "./row.ts"

/** Reads one input a line. An empty line is an input too, so that results have the line numbers of their inputs. */
export const TEXT_ROWS: RowReader = {
  columns: () => INPUT_ALONE,
  take: (line, rows) => void rows.push(textRow(line)),
  end: () => undefined,
}

/** The line as an input. */
export const textRow = ({ text, isTooLong }: Line): Row => ({
  input: withoutReturn(text),
  kind: null,
  fault: isTooLong ? "too_long" : null,
  cells: null,
})

/** The text without the carriage return that some systems put before a line feed. */
export const withoutReturn = (text: string): string => (text.endsWith("\r") ? text.slice(0, -1) : text)
