import { splitName } from "../../src/check/lookalike/known-names.ts"
import { findTypo } from "../../src/check/lookalike/typo.ts"

/** A domain that got a suggestion. `meant`: what was meant; null: the domain itself, so that every suggestion is false. */
export type Suggested = { readonly text: string; readonly offered: string; readonly meant: string | null }

/** A rule is used only if this share of what it says is right. */
const PRECISION_MIN = 0.98

/** The end of a rule's line: a star if too small a share of what it says is right. */
export const precisionMark = (right: number, all: number): string => (right / all < PRECISION_MIN ? " *" : "")

/**
 * What separates a typed domain from the one that is suggested: dots, the suffix, what stands around the label, a slip in the label
 * (`TypoKind`, with a row of its own for a digit beside a letter), or several of these.
 */
export function slipOf(typed: string, offered: string): string {
  if (typed.replaceAll(".", "") === offered.replaceAll(".", "")) return "dots"
  if (typed.startsWith(offered)) return "run-on"
  const [{ label, suffix }, meant] = [splitName(typed), splitName(offered)]
  if (label === meant.label) return "wrong suffix"
  if (suffix !== meant.suffix) return "two parts"
  const typo = findTypo(label, meant.label)
  if (typo !== null) return label.length > meant.label.length && isDigit(label[typo.index]) ? "digit key" : typo.kind
  if (label.endsWith(meant.label)) return "junk before"
  return label.startsWith(meant.label) ? "junk behind" : "two slips"
}

const isDigit = (character: string | undefined): boolean => character !== undefined && /\d/.test(character)

/** A line for each kind of slip: how many suggestions it makes of typos, how many are right, and how many it makes of honest names. */
export function slipLines(suggested: readonly Suggested[]): readonly string[] {
  const kinds = [...Map.groupBy(suggested, ({ text, offered }) => slipOf(text, offered))].sort(
    ([, one], [, other]) => other.length - one.length,
  )
  return [
    `${"slip".padEnd(16)} of typos  right  of honest names`,
    ...kinds.map(([kind, rows]) => {
      const typos = rows.filter(({ meant }) => meant !== null)
      const right = typos.filter(({ offered, meant }) => offered === meant).length
      const cells = [String(typos.length).padStart(8), String(right).padStart(6)]
      return `${kind.padEnd(16)} ${cells.join(" ")} ${String(rows.length - typos.length).padStart(15)}${precisionMark(right, rows.length)}`
    }),
  ]
}
