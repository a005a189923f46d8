import { bundledBrands } from "../../src/check/lookalike/brands/brand-matcher.ts"
import { splitName } from "../../src/check/lookalike/known-names.ts"
import { precisionMark } from "./slips.ts"

/** A domain that was called an imitation, rightly or not. */
export type Flagged = { readonly text: string; readonly isRight: boolean }

/** The form by which a name was called an imitation. That of a known name which is no household brand is one of its own. */
const formOf = (text: string): string =>
  bundledBrands().imitationIn(splitName(text).label, () => false)?.form ?? "known name"

/** A line for each form of imitation: how many names it flags, and how many of them rightly. */
export function imitationLines(flagged: readonly Flagged[], honest: number): readonly string[] {
  const forms = [...Map.groupBy(flagged, ({ text }) => formOf(text))].sort(
    ([, one], [, other]) => other.length - one.length,
  )
  return [
    `${"form".padEnd(20)} flagged  right, beside ${honest} honest names`,
    ...forms.map(([form, rows]) => {
      const right = rows.filter(({ isRight }) => isRight).length
      return `${form.padEnd(20)} ${String(rows.length).padStart(7)} ${String(right).padStart(6)}${precisionMark(right, rows.length)}`
    }),
  ]
}
