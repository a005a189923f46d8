import { assert } from "../../base/errors.ts"
import { parseTable, requireOneOf, splitWords } from "../../base/text-table.ts"
import { type NameForm, parseNameForm } from "./name-form.ts"

const COLUMNS = [
  "id",
  "category",
  "description",
  "suffixes",
  "forms",
  "exceptions",
  "example",
  "matched",
  "right",
] as const

/** One family of words of the table. */
export type NamePattern = {
  readonly id: string
  readonly category: "education" | "government"
  readonly description: string
  /** The public suffixes under which the words mean the body. */
  readonly suffixes: readonly string[]
  readonly forms: readonly NameForm[]
  /** A label that contains one of these words does not match; a word after `=` must be the whole label. */
  readonly exceptions: readonly string[]
  /** A registrable domain of such a body. */
  readonly example: string
  /** Of names that were not used to choose the words: how many the family matched, and how many of those are such a body. */
  readonly matched: number
  readonly right: number
}

/** A family is used only if at least this share of the names that it matched is such a body. */
export const PATTERN_PRECISION_MIN = 0.98

/** Reads the table. Throws `InvariantError` if a row cannot be read, was not measured, or is not precise enough to be used. */
export function parseNamePatterns(text: string): readonly NamePattern[] {
  return parseTable(text, COLUMNS).map(row => {
    const [matched, right] = [Number(row.matched), Number(row.right)]
    const isPrecise = matched > 0 && right <= matched && right / matched >= PATTERN_PRECISION_MIN
    assert(isPrecise, `${row.id} is right in ${PATTERN_PRECISION_MIN} of the names that it matched`)
    return {
      id: row.id,
      category: requireOneOf(["education", "government"], row.category),
      description: row.description,
      suffixes: splitWords(row.suffixes),
      forms: splitWords(row.forms).map(parseNameForm),
      exceptions: splitWords(row.exceptions),
      example: row.example,
      matched,
      right,
    }
  })
}
