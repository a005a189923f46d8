import { type Skeleton, skeletonOf } from "./confusables.ts"
import type { FoldedLabelIndex, KnownLabel, KnownName } from "./label-index.ts"
import {
  type AffixWeight,
  affixWeight,
  isCommonWord,
  isGenericLabel,
  leadingAffixes,
  trailingAffixes,
} from "./word-lists.ts"

/** Real names that look like a listed one only to a rule. */
const HONEST_LABELS = new Set(["googie"])

/** How many parts between hyphens are looked at: a label has room for 32, and a lure needs few. */
const PARTS_MAX = 8

/**
 * The listed name whose label the first label of `registrable` is made to look like: by confusable letters, digits for
 * letters (`paypa1`), or pairs of letters (`rnicrosoft`). Null: none; the label itself under another suffix is none.
 */
export function matchHomoglyph(index: FoldedLabelIndex, label: string, suffix: string): KnownName | null {
  if (!label.startsWith("xn--")) {
    const labels = index.find(label, 0, label.length)
    return labels.some(listed => listed.label === label) ? null : firstMatch(labels, suffix, asciiRule(label))
  }
  const seen = skeletonOf(label)
  if (seen === null || (seen.confusableKind === "whole" && suffix.startsWith("xn--"))) return null
  return firstMatch(index.find(seen.text, 0, seen.text.length), suffix, nonAsciiRule(seen))
}

/**
 * Whether a label of this name is imitated; `sameSuffix`: the imitation stands under the suffix of a name with the
 * label.
 */
type LabelRule = (label: string, sameSuffix: boolean) => boolean

/** The first label that the rule takes for imitated: its name under `suffix`, else its most popular one. */
function firstMatch(labels: readonly KnownLabel[], suffix: string, rule: LabelRule): KnownName | null {
  for (const { label, names } of labels) {
    const same = names.find(name => name.suffix === suffix)
    if (rule(label, same !== undefined)) return same ?? names[0]
  }
  return null
}

/**
 * The rule for a label with letters beyond ASCII. Accents may be honest spelling (`nestlé`), so they count only on a
 * name that is long and no word; a name in one foreign script may be an honest short word.
 */
function nonAsciiRule({ text, confusableKind }: Skeleton): LabelRule {
  return (label, sameSuffix) => {
    if (confusableKind === "accented")
      return text === label && label.length >= 5 && !isGenericLabel(label) && !isCommonWord(label)
    const lengthMin = confusableKind === "mixed" ? 4 : 5
    return label.length >= (sameSuffix ? lengthMin - 1 : lengthMin)
  }
}

/** The rule for an ASCII label that folds like a listed one. The shorter the name, the more of it must be honest. */
function asciiRule(typed: string): LabelRule {
  return (label, sameSuffix) => {
    if (typed === label || HONEST_LABELS.has(typed) || !/[a-z]/.test(typed)) return false
    const swaps = digitCount(typed)
    if (swaps === digitCount(label)) return isLetterSwap(typed, label, sameSuffix)
    if (digitCount(label) > 0 || label.length < 4) return false
    const isWord = () => isGenericLabel(label) || isCommonWord(label)
    if (label.length === 4) return sameSuffix && swaps === 1 && !isWord()
    if (!/[2-9]/.test(typed)) return true
    return (sameSuffix || label.length >= 6) && !isWord()
  }
}

/** Letters for letters: `rn` for `m` (the lure is longer than the name), `i` and `l` exchanged, or `m` for `rn`. */
function isLetterSwap(typed: string, label: string, sameSuffix: boolean): boolean {
  const [longer, same, shorter] = sameSuffix ? [5, 6, 7] : [5, 8, 8]
  const lengthMin = typed.length > label.length ? longer : typed.length === label.length ? same : shorter
  return label.length >= lengthMin && !isGenericLabel(label) && !isCommonWord(label) && !isCommonWord(typed)
}

const digitCount = (text: string): number => text.match(/\d/g)?.length ?? 0

/**
 * The listed name that stands in the label beside a word that asks for trust: `paypal-login`, `securepaypal`. Null:
 * none.
 */
export function matchCombosquat(index: FoldedLabelIndex, label: string, suffix: string): KnownName | null {
  const shown = label.startsWith("xn--") ? (skeletonOf(label)?.text ?? "") : label
  return shown.includes("-")
    ? matchHyphenated(index, shown.split("-"), suffix)
    : matchConcatenated(index, shown, suffix)
}

function matchHyphenated(index: FoldedLabelIndex, parts: readonly string[], suffix: string): KnownName | null {
  if (parts.length > PARTS_MAX) return null
  const weights = parts.map(affixWeight)
  const strangers = weights.filter(weight => weight === null).length
  const isAsking = weights.some(weight => weight !== null && weight > 0) || parts.includes("com")
  for (const width of [1, 2, 3]) {
    for (let start = 0; start + width <= parts.length; start++) {
      const inside = weights.slice(start, start + width)
      if (inside.filter(weight => weight === null).length !== strangers) continue
      const name = parts.slice(start, start + width).join("-")
      const rest = [...weights.slice(0, start), ...weights.slice(start + width)]
      const found = isAsking ? matchBesideAffix(index, name, suffix, heaviestAffix(rest, parts[start + width])) : null
      if (found !== null) return found
    }
  }
  return null
}

/** The heaviest of the words beside a name; `com` right behind the name counts, as a dot that could not be had. */
function heaviestAffix(weights: readonly (AffixWeight | null)[], next: string | undefined): AffixWeight {
  let most: AffixWeight = next === "com" ? 1 : 0
  for (const weight of weights) if (weight !== null && weight > most) most = weight
  return most
}

/**
 * The listed name with this label (`appleid` is Apple's, too), or one that it disguises, if words of this weight beside
 * it are a lure.
 */
function matchBesideAffix(
  index: FoldedLabelIndex,
  label: string,
  suffix: string,
  weight: AffixWeight,
): KnownName | null {
  if (weight === 0 || label.length < 3) return null
  const hidden = matchHomoglyph(index, label, suffix)
  if (hidden !== null) return hidden
  const name = label.length >= 7 && label.endsWith("id") ? label.slice(0, -2) : label
  return firstMatch([...index.find(label, 0, label.length), ...index.find(name, 0, name.length)], suffix, listed => {
    if ((listed !== label && listed !== name) || isGenericLabel(listed)) return false
    const weightMin = listed.length === 3 ? 2 : 1
    return weight >= weightMin && (weight === 3 || !isCommonWord(listed))
  })
}

/** A name with words of weight 1 to 3 written to it, before, behind or both; only a long name that is no word. */
function matchConcatenated(index: FoldedLabelIndex, label: string, suffix: string): KnownName | null {
  const leading = ["", ...leadingAffixes(label)]
  const trailing = ["", ...trailingAffixes(label)]
  if (leading.length + trailing.length === 2) return null
  for (const before of leading) {
    for (const behind of trailing) {
      const name = label.slice(before.length, label.length - behind.length)
      if (name.length < 5 || name.length === label.length || before.length + behind.length > label.length) continue
      const found = firstMatch(index.find(name, 0, name.length), suffix, listed => {
        return listed === name && !isGenericLabel(listed) && !isCommonWord(listed)
      })
      if (found !== null) return found
    }
  }
  return null
}

/**
 * The listed name that stands whole, suffix and all, among the labels in front of `registrable`: `paypal.com.evil.net`.
 * Under a country's suffix only a long name counts, since `web.de.acme.com` may be the web host of acme's German
 * branch. Null: none.
 */
export function matchLevelsquat(index: FoldedLabelIndex, domain: string, registrable: string): KnownName | null {
  const frontEnd = domain.endsWith(`.${registrable}`) ? domain.length - registrable.length : 0
  for (let start = 0; start < frontEnd; start = domain.indexOf(".", start) + 1) {
    const end = domain.indexOf(".", start)
    for (const { label, names } of index.find(domain, start, end)) {
      const name = names.find(({ suffix }) => domain.startsWith(`${suffix}.`, end + 1))
      if (name === undefined || end + 1 + name.suffix.length >= frontEnd) continue
      if (isLevelsquat(name, label === domain.slice(start, end))) return name
    }
  }
  return null
}

function isLevelsquat({ label, suffix }: KnownName, isExact: boolean): boolean {
  if (label.length < (isExact ? 3 : 5)) return false
  return /^(com|net|org)$/.test(suffix) || (label.length >= 5 && !isGenericLabel(label) && !isCommonWord(label))
}
