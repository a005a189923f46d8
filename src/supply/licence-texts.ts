import { chosenLicences } from "./licence-policy.ts"
import type { SupplyShelf } from "./supply-shelf.ts"

/** Names of the files in which a package has its licence and its notices. */
const TEXT_FILE = /^(?:licen[cs]e|copying|notice|unlicense)(?:[-._].*)?$/i

/** How much of one file is taken; the longest of those here has 27 KB. */
const TEXT_LENGTH_MAX = 100_000

/** The licence and notices of the package in a folder, as it brings them, in the order of their files' names. */
export const textsIn = (shelf: SupplyShelf, folder: string): readonly string[] =>
  shelf
    .names(folder)
    .filter(name => TEXT_FILE.test(name))
    .sort()
    .map(name => plain(shelf.read(folder === "." ? name : `${folder}/${name}`)).slice(0, TEXT_LENGTH_MAX))
    .filter(text => text !== "")

/** Line ends and the white space around differ from copy to copy of one text. */
const plain = (text: string): string => text.replaceAll("\r\n", "\n").trim()

/** The standard text of the licence, for a package that brings none; null: we have none for it. */
export function standardText(shelf: SupplyShelf, expression: string, holder: string): string | null {
  const chosen = chosenLicences(expression)
  if (chosen?.length !== 1 || chosen[0] !== "MIT") return null
  return plain(shelf.read("data/licences/MIT.txt")).replace("<holder>", holder)
}

/** Texts, each kept once. */
export class Texts {
  readonly #at = new Map<string, number>()

  /** Where the text stands among all. */
  indexOf(text: string): number {
    const known = this.#at.get(text) ?? this.#at.size
    this.#at.set(text, known)
    return known
  }

  /** All texts, in the order in which they came. */
  all(): string[] {
    return [...this.#at.keys()]
  }
}
