import { assert } from "./errors.ts"

/**
 * Parses a table with one row on each line and tabs between the fields. Lines that begin with `#` are comments; the field `-` is
 * empty. Throws `InvariantError` if a row does not have all columns.
 */
export function parseTable<Column extends string>(
  text: string,
  columns: readonly Column[],
): readonly Readonly<Record<Column, string>>[] {
  return text
    .split("\n")
    .filter(line => line !== "" && !line.startsWith("#"))
    .map(line => {
      const fields = line.split("\t")
      assert(fields.length === columns.length && !fields.includes(""), `a row has a field for each column: ${line}`)
      const entries = columns.map((column, index) => [column, fields[index] === "-" ? "" : fields[index]])
      // The cast is safe: there is an entry for each column.
      return Object.fromEntries(entries) as Record<Column, string>
    })
}

/** The words of a field, which are separated by spaces. */
export const splitWords = (field: string): readonly string[] => field.split(" ").filter(word => word !== "")

/** The field, which must be one of `words`. Throws `InvariantError` if it is none. */
export function requireOneOf<Word extends string>(words: readonly Word[], field: string): Word {
  const word = words.find(each => each === field)
  assert(word !== undefined, `${field} is one of ${words.join(", ")}`)
  return word
}
