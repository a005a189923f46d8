import { CATEGORY_NAMES, type Category } from "../../src/contract/categories.ts"
import type { Reason } from "../../src/contract/reasons.ts"

/** One text that was asked about: what it is, what was answered, and by which reason and how surely. */
export type Answered = {
  readonly text: string
  readonly label: Category
  readonly answered: Category
  readonly reason: Reason
  readonly confidence: number
}

/** What a category is compared by. */
type Compared = Pick<Answered, "label" | "answered">

/** How often each label was answered with each category: row by label, column by answer. */
export type Confusion = Readonly<Record<Category, Readonly<Record<Category, number>>>>

/** How one category fares; a share of nothing is NaN. */
export type Score = {
  readonly category: Category
  /** How many texts have this label. */
  readonly labelled: number
  /** Of them, how many were answered so. */
  readonly right: number
  readonly recall: number
  /** Of the texts that were answered so, the share that is so; it holds for a world of the sample's mix only. */
  readonly precision: number
  /** How many texts with another label were answered so. */
  readonly wronglyClaimed: number
  /** How many texts have another label. */
  readonly others: number
}

/**
 * Whether a trap is right. Lists alone cannot know every business, and its mail tells of the rest: to say nothing of one
 * is right too.
 */
export const isTrapPassed = ({ label, answered }: Compared): boolean =>
  answered === label || (label === "business" && answered === "unknown")

/** Counts what was answered of what. */
export function confusionOf(all: readonly Compared[]): Confusion {
  const none = (): Record<Category, number> => keyed(() => 0)
  const counts = keyed(none)
  for (const { label, answered } of all) counts[label][answered]++
  return counts
}

/** The score of one category. */
export function scoreOf(confusion: Confusion, category: Category): Score {
  const labelled = sum(CATEGORY_NAMES.map(answered => confusion[category][answered]))
  const right = confusion[category][category]
  const claimed = sum(CATEGORY_NAMES.map(label => confusion[label][category]))
  const all = sum(CATEGORY_NAMES.flatMap(label => CATEGORY_NAMES.map(answered => confusion[label][answered])))
  const wronglyClaimed = claimed - right
  return {
    category,
    labelled,
    right,
    recall: right / labelled,
    precision: right / claimed,
    wronglyClaimed,
    others: all - labelled,
  }
}

/** The confusion as a table for people: a line for each label, a column for each answer; nothing is a dot. */
export function confusionText(confusion: Confusion): readonly string[] {
  const width = Math.max(...CATEGORY_NAMES.map(({ length }) => length))
  const row = (head: string, cells: readonly string[]): string =>
    [head.padEnd(width), ...cells.map(cell => cell.padStart(width))].join(" ")
  return [
    row("labelled ↓", CATEGORY_NAMES),
    ...CATEGORY_NAMES.map(label =>
      row(
        label,
        CATEGORY_NAMES.map(answered => String(confusion[label][answered] || "·")),
      ),
    ),
  ]
}

const keyed = <T>(make: () => T): Record<Category, T> =>
  Object.fromEntries(CATEGORY_NAMES.map(name => [name, make()])) as Record<Category, T> // one a category

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
