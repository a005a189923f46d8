import { assert } from "./errors.ts"

/**
 * Reads rows of fields that tabs part, one a line; lines that begin with `#` are remarks, and a field that is `-` is
 * empty. `Broken` when a row does not have each column.
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
      // Made from the columns, so each of them is a key.
      return Object.fromEntries(columns.map((column, at) => [column, fields[at] === "-" ? "" : fields[at]])) as Record<
        Column,
        string
      >
    })
}

/** The words of a field, which spaces part. */
export const splitWords = (field: string): readonly string[] => field.split(" ").filter(word => word !== "")

/** The one of `words` that the field is. `Broken` when it is none. */
export function requireOneOf<Word extends string>(words: readonly Word[], field: string): Word {
  const word = words.find(each => each === field)
  assert(word !== undefined, `${field} is one of ${words.join(", ")}`)
  return word
}
