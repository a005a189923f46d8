import TABLE from "../../../data/patterns/names.txt" with { type: "text" }
import { hasNameForm } from "./name-form.ts"
import { type NamePattern, parseNamePatterns } from "./pattern-table.ts"

/** Finds the family of words that a registrable domain (A-labels in lower case) matches; null: none. */
export type NamePatternMatcher = (registrable: string) => NamePattern | null

/** The matcher of the given families. The first family in order wins. A label in punycode matches none. */
export function createNamePatternMatcher(patterns: readonly NamePattern[]): NamePatternMatcher {
  const bySuffix = new Map<string, NamePattern[]>()
  for (const pattern of patterns) {
    for (const suffix of pattern.suffixes) {
      const atSuffix = bySuffix.get(suffix)
      if (atSuffix === undefined) bySuffix.set(suffix, [pattern])
      else atSuffix.push(pattern)
    }
  }
  return registrable => {
    const dot = registrable.indexOf(".")
    if (dot <= 0 || registrable.startsWith("xn--")) return null
    const atSuffix = bySuffix.get(registrable.slice(dot + 1))
    return atSuffix?.find(pattern => matchesPattern(pattern, registrable, dot)) ?? null
  }
}

const matchesPattern = ({ forms, exceptions }: NamePattern, registrable: string, end: number): boolean =>
  forms.some(form => hasNameForm(form, registrable, end)) &&
  !exceptions.some(word => isException(word, registrable, end))

/** Whether the label, which is the first `end` characters, contains the word; a word after `=` must be the whole label. */
function isException(word: string, registrable: string, end: number): boolean {
  if (word.startsWith("=")) return word.length === end + 1 && registrable.startsWith(word.slice(1))
  const at = registrable.indexOf(word)
  return at >= 0 && at + word.length <= end
}

let builtMatcher: NamePatternMatcher | null = null

/** The family of the bundled table that the registrable domain matches; null: none. The table is read on first use, in some 5 ms. */
export function namePatternOf(registrable: string): NamePattern | null {
  builtMatcher ??= createNamePatternMatcher(bundledPatterns())
  return builtMatcher(registrable)
}

/** The families of the bundled table. */
export const bundledPatterns = (): readonly NamePattern[] => parseNamePatterns(TABLE)
