import { InvariantError } from "../../../base/errors.ts"
import { commonBaseWords, isCommonWord, isGenericLabel } from "../word-lists.ts"
import { BrandMatcher } from "./brand-matcher.ts"
import { type Brand, parseBrands } from "./brand-table.ts"

/** More faults than anybody reads at once are not listed. */
const FAULTS_MAX = 20

/**
 * Why a table of brands must not be used: it cannot be read, or it would call words of the language imitations. Each fault names the
 * line. Empty: the table is right.
 */
export function brandFaults(text: string): readonly string[] {
  const lines = text.split("\n")
  const lineOf = (label: string) => lines.findIndex(line => line.split("\t")[1] === label) + 1
  try {
    const faults = wordFaults(parseBrands(text))
    return faults.slice(0, FAULTS_MAX).map(({ label, message }) => `brands, line ${lineOf(label)}: ${message}`)
  } catch (error) {
    if (error instanceof InvariantError) return [`brands: ${error.message}`]
    throw error
  }
}

type WordFault = { readonly label: string; readonly message: string }

function wordFaults(brands: readonly Brand[]): readonly WordFault[] {
  const faults: WordFault[] = []
  for (const { kind, label, others } of brands) {
    if (kind === "word" ? isGenericLabel(label) : isCommonWord(label) && !others.includes(label))
      faults.push({ label, message: `${label} is a word that names too much to be ${kind}` })
  }
  const matcher = new BrandMatcher(brands)
  for (const word of commonBaseWords()) {
    const brand = matcher.imitationIn(word, () => false)?.brand
    if (brand !== undefined && brand.label !== word)
      faults.push({
        label: brand.label,
        message: `${brand.label}, which is ${brand.kind}, makes an imitation of ${word}`,
      })
  }
  return faults
}
