import TABLE from "../../../data/patterns/names.txt" with { type: "text" }
import { pairAt, recurringEnd } from "../../base/text.ts"
import { hasNameForm, type NameForm } from "./name-form.ts"
import { type NamePattern, parseNamePatterns } from "./pattern-table.ts"

/** Finds the family of words that a registrable domain (A-labels in lower case) matches; null: none. */
export type NamePatternMatcher = (registrable: string) => NamePattern | null

/** The matcher of the given families. The first family in order wins. A label in punycode matches none. */
export function createNamePatternMatcher(patterns: readonly NamePattern[]): NamePatternMatcher {
  const bySuffix = new Map<string, SuffixForms>()
  for (const [order, pattern] of patterns.entries()) {
    for (const suffix of pattern.suffixes) {
      const forms = bySuffix.getOrInsertComputed(suffix, () => new SuffixForms())
      for (const form of pattern.forms) forms.add({ order, pattern, form })
    }
  }
  return registrable => {
    const dot = registrable.indexOf(".")
    if (dot <= 0 || registrable.startsWith("xn--")) return null
    return bySuffix.get(recurringEnd(registrable, dot + 1))?.firstMatch(registrable, dot) ?? null
  }
}

/** A form of a family, which is the `order`-th of the table. */
type OrderedForm = { readonly order: number; readonly pattern: NamePattern; readonly form: NameForm }

/**
 * The forms under one suffix, of which there are up to hundreds, by their first or last two letters: a label is compared with
 * the few that it can match.
 */
class SuffixForms {
  readonly #byHead = new Map<number, OrderedForm[]>()
  readonly #byTail = new Map<number, OrderedForm[]>()
  readonly #others: OrderedForm[] = []

  add(form: OrderedForm): void {
    const { head, tail } = form.form
    if (head.length >= 2) this.#byHead.getOrInsertComputed(pairAt(head, 0), () => []).push(form)
    else if (tail.length >= 2) this.#byTail.getOrInsertComputed(pairAt(tail, tail.length - 2), () => []).push(form)
    else this.#others.push(form)
  }

  /** The first family with a form of the label, which is the first `end` characters; null: none. */
  firstMatch(registrable: string, end: number): NamePattern | null {
    const byHead = this.#byHead.get(pairAt(registrable, 0)) ?? NO_FORMS
    const byTail = this.#byTail.get(pairAt(registrable, end - 2)) ?? NO_FORMS
    let first = firstOf(byHead, null, registrable, end)
    first = firstOf(byTail, first, registrable, end)
    return firstOf(this.#others, first, registrable, end)?.pattern ?? null
  }
}

/** The first form in order of those that match and of `before`; null: none. */
function firstOf(
  forms: readonly OrderedForm[],
  before: OrderedForm | null,
  registrable: string,
  end: number,
): OrderedForm | null {
  let first = before
  for (const form of forms) {
    if (first !== null && form.order >= first.order) continue
    if (matchesForm(form, registrable, end)) first = form
  }
  return first
}

const NO_FORMS: readonly OrderedForm[] = []

const matchesForm = ({ pattern, form }: OrderedForm, registrable: string, end: number): boolean =>
  hasNameForm(form, registrable, end) && !pattern.exceptions.some(word => isException(word, registrable, end))

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
