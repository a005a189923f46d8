import { classifySuffix } from "../address/public-suffix.ts"
import type { KnownName, SplitName } from "./known-names.ts"
import { areNeighbourKeys } from "./typo.ts"
import { isDistinctive, isMajorProvider, isWidelyUsed } from "./typo-likelihood.ts"

/** The provider with exactly this name; null: none. */
type ProviderNamed = (text: string) => KnownName | null

/** A shorter label may be anything. */
const LETTERS_MIN = 3

/** The shortest suffix said twice: `dede`. */
const SUFFIX_LETTERS_MIN = 4

/** No suffix of a provider is longer when it is said twice, and a longer text would be cut in too many places. */
const SUFFIX_LETTERS_MAX = 24

/** What is typed before a name in a browser. */
const WWW = /^www?(?=[a-z])/

/**
 * The provider whose whole name was typed with more of the same around it: its suffix again (`gmail.com.com`, `web.de.de`,
 * `mail.ruru`), its suffix in the label (`gmailcom.com`), `com` after another suffix
 * (`gmx.de.com`), or a `www` without its dot (`wwwgmail.com`). Null: none. Words may
 * be companies' names, so the label of a provider that is one is only corrected under a top-level domain that does not exist.
 * `isProviderLabel`: a provider's name has the label.
 */
export function correctRunOn(
  providerNamed: ProviderNamed,
  { name: domain, label, suffix }: SplitName,
  registrable: string,
  isProviderLabel: boolean,
): KnownName | null {
  const repeated =
    (isProviderLabel ? withoutRepeatedSuffix(providerNamed, label, suffix) : null) ??
    withoutSuffixInLabel(providerNamed, label, suffix)
  const meant = repeated ?? withoutWww(providerNamed, domain, registrable)
  if (meant === null || meant.label.length < LETTERS_MIN) return null
  return isDistinctive(meant.label) || classifySuffix(domain).fault === "unknown_tld" ? meant : null
}

function withoutRepeatedSuffix(providerNamed: ProviderNamed, label: string, suffix: string): KnownName | null {
  if (suffix.length < SUFFIX_LETTERS_MIN || suffix.length > SUFFIX_LETTERS_MAX) return null
  for (let end = 2; end < suffix.length; end++) {
    const meant = providerNamed(`${label}.${suffix.slice(0, end)}`)
    if (meant !== null && isSaidAgain(meant, suffix.slice(end))) return meant
  }
  return null
}

/**
 * Whether the text after a name is its suffix, the last label of that, or a `com`, with or without a dot before, or any other end of
 * the name with its dot (`gmail.commail.com`).
 */
function isSaidAgain({ name, suffix }: KnownName, rest: string): boolean {
  const last = suffix.slice(suffix.lastIndexOf(".") + 1)
  const again = rest.startsWith(".") ? rest.slice(1) : rest
  return again === suffix || again === last || rest === ".com" || (rest.length > suffix.length && name.endsWith(rest))
}

/** `gmailcom.com`. */
function withoutSuffixInLabel(providerNamed: ProviderNamed, label: string, suffix: string): KnownName | null {
  // Most labels end with another letter than their suffix.
  if (suffix === "" || label.charCodeAt(label.length - 1) !== suffix.charCodeAt(suffix.length - 1)) return null
  const undotted = suffix.replaceAll(".", "")
  return label.endsWith(undotted) ? providerNamed(`${label.slice(0, -undotted.length)}.${suffix}`) : null
}

/** Up to six digits before a name, with at most two letters before them: the end of what was typed of another field. */
const DIGITS_BEFORE = /^[a-z]{0,2}\d{1,6}(?=[a-z])/

/** What is left of a label without the digits before it; null: it has none. */
export const withoutDigitsBefore = (label: string): string | null =>
  DIGITS_BEFORE.test(label) ? label.replace(DIGITS_BEFORE, "") : null

/** No more letters of a suffix are typed before its dot. */
const SUFFIX_END_LETTERS_MAX = 3

/** The provider whose label was typed with the first or last letters of its suffix: `gmailco.com`, `rambleruru.ru`. */
export function withoutSuffixLetters(providerNamed: ProviderNamed, label: string, suffix: string): KnownName | null {
  // Most labels end with a letter that the suffix does not have.
  if (!suffix.includes(label.slice(-1))) return null
  const lettersMax = Math.min(SUFFIX_END_LETTERS_MAX, label.length - LETTERS_MIN)
  for (let letters = 2; letters <= lettersMax; letters++) {
    const from = label.length - letters
    // Nothing is cut out of most labels.
    if (!isStartAt(suffix, 0, label, from) && !isStartAt(suffix, suffix.length - letters, label, from)) continue
    const meant = providerNamed(`${label.slice(0, -letters)}.${suffix}`)
    if (meant !== null && isLongAndUsed(meant)) return meant
  }
  return null
}

/**
 * Whether the label is the name's with one key more at either end: any key beside a household name (`xgmail.com`, `gmaili.com`), a letter
 * of the suffix after another (`rambleru.ru`). An `s` makes a plural, and a digit a series (`icloud9`) unless its key is beside that of
 * the last letter.
 */
export function hasExtraEnd(label: string, meant: KnownName): boolean {
  if (label.length !== meant.label.length + 1) return false
  if (label.endsWith(meant.label)) return isMajorProvider(meant.label)
  const end = label.slice(-1)
  if (!label.startsWith(meant.label) || end === "s") return false
  if (isEndOf(meant.suffix, end) && isLongAndUsed(meant)) return true
  return isMajorProvider(meant.label) && (end > "9" || areNeighbourKeys(end, meant.label.slice(-1)))
}

/** Whether a text has at one index what another one has from an index to its end. Nothing is cut out. */
function isStartAt(text: string, at: number, other: string, from: number): boolean {
  if (at < 0 || at + other.length - from > text.length) return false
  let same = 0
  while (from + same < other.length && text.charCodeAt(at + same) === other.charCodeAt(from + same)) same++
  return from + same === other.length
}

const isEndOf = (suffix: string, letters: string): boolean => suffix.startsWith(letters) || suffix.endsWith(letters)

/** A shorter label with a letter of its suffix is another name. */
const LETTERS_MIN_BESIDE_SUFFIX = 5

const isLongAndUsed = (meant: KnownName): boolean =>
  isWidelyUsed(meant) && meant.label.length >= LETTERS_MIN_BESIDE_SUFFIX

const withoutWww = (providerNamed: ProviderNamed, domain: string, registrable: string): KnownName | null =>
  domain === registrable && domain.startsWith("ww") ? providerNamed(domain.replace(WWW, "")) : null
