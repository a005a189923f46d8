import { isSameOrSubdomain } from "../address/public-suffix.ts"
import { foldedHash, type Skeleton, skeletonOf } from "./confusables.ts"
import type { KnownLabel, KnownName, KnownNames } from "./known-names.ts"
import {
  type AffixWeight,
  affixWeight,
  isCommonWord,
  isGenericLabel,
  LURE_WORDS,
  leadingAffixes,
  trailingAffixes,
} from "./word-lists.ts"

/** Real names that the rules would otherwise call look-alikes. */
const HONEST_LABELS = new Set(["googie"])

/** A label with more hyphenated parts is not searched: it has room for 32 parts, and a lure needs few. */
const PARTS_MAX = 8

/**
 * The known name that `label` imitates by look: confusable letters, digits for letters (`paypa1`), or pairs of letters
 * (`rnicrosoft`). Null: none; the same label under another suffix does not count. `skeleton` is that of the label.
 */
export function matchHomoglyph(
  known: KnownNames,
  label: string,
  suffix: string,
  skeleton: Skeleton | null,
): KnownName | null {
  if (!label.startsWith("xn--")) {
    const labels = known.labelsLike(label, 0, label.length)
    if (labels.length === 0) return null
    return labels.some(known => known.label === label) ? null : firstMatch(labels, suffix, asciiRule(label))
  }
  if (skeleton === null || (skeleton.confusableKind === "whole" && suffix.startsWith("xn--"))) return null
  return firstMatch(known.labelsLike(skeleton.text, 0, skeleton.text.length), suffix, nonAsciiRule(skeleton))
}

/** Whether a known label is imitated. `sameSuffix`: a known name with this label has the suffix of the imitation. */
type LabelRule = (label: string, sameSuffix: boolean) => boolean

/** Of the first label that the rule accepts: its name under `suffix`, or else its most popular name. */
function firstMatch(labels: readonly KnownLabel[], suffix: string, rule: LabelRule): KnownName | null {
  for (const { label, names } of labels) {
    const same = names.find(name => name.suffix === suffix)
    if (rule(label, same !== undefined)) return same ?? names[0]
  }
  return null
}

/**
 * The rule for a label with non-ASCII letters. Accents may be the correct spelling (`nestlé`), so they count only for a
 * label that is long and not a word. A short label in one foreign script may be a real word.
 */
function nonAsciiRule({ text, confusableKind }: Skeleton): LabelRule {
  return (label, sameSuffix) => {
    if (confusableKind === "accented")
      return text === label && label.length >= 5 && !isGenericLabel(label) && !isCommonWord(label)
    const lengthMin = confusableKind === "mixed" ? 4 : 5
    return label.length >= (sameSuffix ? lengthMin - 1 : lengthMin)
  }
}

/** The rule for an ASCII label that looks like a known one. The shorter the known label, the fewer changes count. */
function asciiRule(typed: string): LabelRule {
  return (label, sameSuffix) => {
    if (typed === label || HONEST_LABELS.has(typed) || !/[a-z]/.test(typed)) return false
    const typedDigitCount = digitCount(typed)
    if (typedDigitCount === digitCount(label)) return isLetterSwap(typed, label, sameSuffix)
    if (digitCount(label) > 0 || label.length < 4) return false
    const isWord = () => isGenericLabel(label) || isCommonWord(label)
    if (label.length === 4) return sameSuffix && typedDigitCount === 1 && !isWord()
    if (!/[2-9]/.test(typed)) return true
    return (sameSuffix || label.length >= 6) && !isWord()
  }
}

/** Whether letters stand for letters: `rn` for `m` (the typed label is longer), `i` and `l` exchanged, or `m` for `rn`. */
function isLetterSwap(typed: string, label: string, sameSuffix: boolean): boolean {
  const [longer, same, shorter] = sameSuffix ? [5, 6, 7] : [5, 8, 8]
  const lengthMin = typed.length > label.length ? longer : typed.length === label.length ? same : shorter
  return label.length >= lengthMin && !isGenericLabel(label) && !isCommonWord(label) && !isCommonWord(typed)
}

const digitCount = (text: string): number => text.match(/\d/g)?.length ?? 0

/**
 * The known name that the label combines with a word that asks for trust (combosquatting): `paypal-login`,
 * `securepaypal`. Null: none. `skeleton` is that of the label.
 */
export function matchCombosquat(
  known: KnownNames,
  label: string,
  suffix: string,
  skeleton: Skeleton | null,
): KnownName | null {
  const text = label.startsWith("xn--") ? (skeleton?.text ?? "") : label
  if (!text.includes("-")) return matchConcatenated(known, text, suffix)
  return mayHaveLure(text) ? matchHyphenated(known, text.split("-"), suffix) : null
}

const LURE_HASHES = new Set(LURE_WORDS.map(word => foldedHash(word, 0, word.length)))

/** False: no part between hyphens is a word that may make a lure, which is so for most labels. */
function mayHaveLure(text: string): boolean {
  for (let start = 0; start <= text.length; ) {
    const hyphen = text.indexOf("-", start)
    const end = hyphen < 0 ? text.length : hyphen
    if (LURE_HASHES.has(foldedHash(text, start, end))) return true
    start = end + 1
  }
  return false
}

/** Looks for one to three hyphenated parts that are the name, with affixes as all other parts. */
function matchHyphenated(known: KnownNames, parts: readonly string[], suffix: string): KnownName | null {
  if (parts.length > PARTS_MAX) return null
  const weights = parts.map(affixWeight)
  const [firstOther, lastOther] = [weights.indexOf(null), weights.lastIndexOf(null)]
  for (const width of [1, 2, 3]) {
    for (let start = 0; start + width <= parts.length; start++) {
      const leavesAnother = firstOther >= 0 && (start > firstOther || start + width <= lastOther)
      if (leavesAnother) continue
      const name = parts.slice(start, start + width).join("-")
      const rest = [...weights.slice(0, start), ...weights.slice(start + width)]
      const match = matchBesideAffix(known, name, suffix, heaviestAffix(rest, parts[start + width]))
      if (match !== null) return match
    }
  }
  return null
}

/** The largest weight of the affixes beside a name. `com` right after the name counts: it pretends to be the suffix. */
function heaviestAffix(weights: readonly (AffixWeight | null)[], next: string | undefined): AffixWeight {
  let heaviest: AffixWeight = next === "com" ? 1 : 0
  for (const weight of weights) if (weight !== null && weight > heaviest) heaviest = weight
  return heaviest
}

/**
 * The known name with this label or an imitation of it, if affixes of this weight beside it make a lure. A trailing `id`
 * is ignored (`appleid` is Apple's).
 */
function matchBesideAffix(known: KnownNames, label: string, suffix: string, weight: AffixWeight): KnownName | null {
  if (weight === 0 || label.length < 3) return null
  const homoglyph = matchHomoglyph(known, label, suffix, skeletonOf(label))
  if (homoglyph !== null) return homoglyph
  const name = label.length >= 7 && label.endsWith("id") ? label.slice(0, -2) : label
  return firstMatch(
    [...known.labelsLike(label, 0, label.length), ...known.labelsLike(name, 0, name.length)],
    suffix,
    candidate => {
      if ((candidate !== label && candidate !== name) || isGenericLabel(candidate)) return false
      const weightMin = candidate.length === 3 ? 2 : 1
      return weight >= weightMin && (weight === 3 || !isCommonWord(candidate))
    },
  )
}

/** A known name with affixes of weight 1 to 3 attached before or after it; only a long label that is not a word counts. */
function matchConcatenated(known: KnownNames, label: string, suffix: string): KnownName | null {
  const [leadingWords, trailingWords] = [leadingAffixes(label), trailingAffixes(label)]
  if (leadingWords.length + trailingWords.length === 0) return null
  const [leading, trailing] = [
    ["", ...leadingWords],
    ["", ...trailingWords],
  ]
  for (const before of leading) {
    for (const after of trailing) {
      const name = label.slice(before.length, label.length - after.length)
      if (name.length < 5 || name.length === label.length || before.length + after.length > label.length) continue
      const match = firstMatch(known.labelsLike(name, 0, name.length), suffix, candidate => {
        return candidate === name && !isGenericLabel(candidate) && !isCommonWord(candidate)
      })
      if (match !== null) return match
    }
  }
  return null
}

/**
 * The known name that is repeated, suffix included, in the labels before `registrable` (levelsquatting):
 * `paypal.com.evil.net`. Under a country's suffix only a long label counts, since `web.de.acme.com` may be the web host of
 * acme's German branch. Null: none.
 */
export function matchLevelsquat(known: KnownNames, domain: string, registrable: string): KnownName | null {
  const hostEnd = registrableStart(domain, registrable)
  for (let start = 0; start < hostEnd; start = domain.indexOf(".", start) + 1) {
    const end = domain.indexOf(".", start)
    for (const { label, names } of known.labelsLike(domain, start, end)) {
      const name = names.find(({ suffix }) => domain.startsWith(`${suffix}.`, end + 1))
      if (name === undefined || end + 1 + name.suffix.length >= hostEnd) continue
      if (isLevelsquat(name, label === domain.slice(start, end))) return name
    }
  }
  return null
}

/** The index in `domain` of the registrable part, after all other labels; 0: there are no others. */
export const registrableStart = (domain: string, registrable: string): number =>
  domain.length > registrable.length && isSameOrSubdomain(domain, registrable) ? domain.length - registrable.length : 0

function isLevelsquat({ label, suffix }: KnownName, isExact: boolean): boolean {
  if (label.length < (isExact ? 3 : 5)) return false
  return /^(com|net|org)$/.test(suffix) || (label.length >= 5 && !isGenericLabel(label) && !isCommonWord(label))
}
