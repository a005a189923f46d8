import { normalizerFor } from "../lists/build/collect-entries.ts"
import type { FillableSet } from "../lists/sets.ts"
import { isPublicSuffix } from "../lists/sources/normalized-name.ts"

/** The rules that a download must keep to replace the previous one. Faults are reported in this order. */
export const VALIDATION_RULES = {
  empty: "It holds no name.",
  malformed: "Too many of its entries are no names.",
  shrunken: "A fifth of the names or more are gone, and more than one.",
  swollen: "It has ten times as many names or more.",
  never_listed: "It newly lists a name that no such list may hold.",
  public_suffixes: "Too many of its names are public suffixes, under which anyone can register.",
  cut_off: "Its last line has no end, though that of the previous download had one.",
} as const satisfies Record<string, string>
export type ValidationRule = keyof typeof VALIDATION_RULES

/** A broken rule, with a sentence that has its numbers and names. Names are in normal form, never as they were downloaded. */
export type ValidationFault = { readonly rule: ValidationRule; readonly message: string }

/** The entries of one download, as its format reader returned them. */
export type DownloadedEntries = {
  readonly set: FillableSet
  readonly entries: readonly string[]
  /** The number of malformed entries, which have no name. */
  readonly malformedCount: number
  /** Whether the text ends with a line feed. */
  readonly endsWithNewline: boolean
}

/** The last valid download of a source. */
export type PreviousSource = {
  /** The number of distinct names. */
  readonly count: number
  readonly endsWithNewline: boolean
  /** In normal form. */
  readonly names: ReadonlySet<string>
}

/** Names that no download may list, in normal form. */
export type NeverListedNames = {
  readonly neverListed: ReadonlySet<string>
  /** Names of `neverListed` that sources are known to list; building a pack drops them. */
  readonly knownFaults: ReadonlySet<string>
}

/** A download is malformed if more than one in 100 entries is, and at least 3: fewer are mistakes in a valid file. */
const MALFORMED_ONE_IN = 100
const MALFORMED_COUNT_MIN = 3
/** A download has shrunk if one in 5 names is gone, and at least 2: a list of five or fewer may lose one, or it would be refused for good. */
const SHRUNKEN_ONE_IN = 5
const SHRUNKEN_COUNT_MIN = 2
/** A download has swollen if it has 10 times as many names. */
const SWOLLEN_TIMES = 10
/** The number of never-listed names in a message. */
const NEVER_LISTED_REPORTED_MAX = 5
/** Any list may have 5 public suffixes, and a long one may have one in 1000 names. */
const PUBLIC_SUFFIXES_MAX = 5
const PUBLIC_SUFFIX_ONE_IN = 1000

/** The sets that speak for a name or list well-known names: never-listed names belong there. */
const SETS_OF_KNOWN_NAMES: ReadonlySet<FillableSet> = new Set(["popular", "never_disposable", "organisation"])
/** The sets whose entries also apply to names that anyone has registered under them. */
const SETS_WITHOUT_PUBLIC_SUFFIXES: ReadonlySet<FillableSet> = new Set(["disposable", "personal"])

/**
 * The rules that a download breaks; none: it may replace the previous one (null: there is none). `normalized` is the result
 * of `normalizeEntries`. The order of entries does not matter, and an unchanged valid download stays valid.
 */
export function validateSource(
  downloaded: DownloadedEntries,
  previous: PreviousSource | null,
  rules: NeverListedNames,
  normalized: NormalizedEntries = normalizeEntries(downloaded),
): readonly ValidationFault[] {
  const input = { ...normalized, downloaded, previous, rules }
  return RULE_ORDER.flatMap(rule => {
    const message = RULE_CHECKS[rule](input)
    return message === null ? [] : [{ rule, message }]
  })
}

const RULE_ORDER = Object.keys(VALIDATION_RULES) as ValidationRule[]

/** The names of a download. */
export type NormalizedEntries = {
  /** In normal form, without duplicates. */
  readonly names: ReadonlySet<string>
  /** The number of entries that are not names, including those that the format reader has rejected. */
  readonly malformedCount: number
}

type ValidationInput = {
  readonly names: ReadonlySet<string>
  readonly malformedCount: number
  readonly downloaded: DownloadedEntries
  readonly previous: PreviousSource | null
  readonly rules: NeverListedNames
}

/** The check of each rule: the message if the rule is broken, else null. */
const RULE_CHECKS: { readonly [R in ValidationRule]: (input: ValidationInput) => string | null } = {
  empty: ({ names }) => (names.size === 0 ? "It holds no name." : null),
  malformed: ({ downloaded, malformedCount }) => {
    const count = downloaded.entries.length + downloaded.malformedCount
    const isBroken = malformedCount >= MALFORMED_COUNT_MIN && malformedCount * MALFORMED_ONE_IN > count
    return isBroken ? `${malformedCount} of its ${count} entries are no names.` : null
  },
  shrunken: ({ names, previous }) => {
    if (previous === null || names.size === 0) return null
    const goneCount = previous.count - names.size
    const isBroken = goneCount >= SHRUNKEN_COUNT_MIN && goneCount * SHRUNKEN_ONE_IN >= previous.count
    return isBroken ? `It has ${names.size} names, and had ${previous.count}.` : null
  },
  swollen: ({ names, previous }) => {
    if (previous === null || previous.count === 0) return null
    const isBroken = names.size >= previous.count * SWOLLEN_TIMES
    return isBroken ? `It has ${names.size} names, and had ${previous.count}.` : null
  },
  never_listed: ({ downloaded, names, previous, rules }) => {
    if (SETS_OF_KNOWN_NAMES.has(downloaded.set)) return null
    const listed = [...names]
      .filter(name => rules.neverListed.has(name) && !rules.knownFaults.has(name) && !previous?.names.has(name))
      .sort()
    if (listed.length === 0) return null
    const reported = listed.slice(0, NEVER_LISTED_REPORTED_MAX).join(", ")
    return listed.length > NEVER_LISTED_REPORTED_MAX
      ? `It lists ${reported} and ${listed.length - NEVER_LISTED_REPORTED_MAX} more that no such list may hold.`
      : `It lists ${reported}, which no such list may hold.`
  },
  public_suffixes: ({ downloaded, names }) => {
    if (!SETS_WITHOUT_PUBLIC_SUFFIXES.has(downloaded.set)) return null
    const count = [...names].filter(isPublicSuffix).length
    const isBroken = count > PUBLIC_SUFFIXES_MAX && count * PUBLIC_SUFFIX_ONE_IN > names.size
    return isBroken ? `${count} of its ${names.size} names are public suffixes.` : null
  },
  cut_off: ({ downloaded, previous }) =>
    previous?.endsWithNewline === true && !downloaded.endsWithNewline
      ? "Its last line has no end, as if it was cut off."
      : null,
}

/** Normalizes the entries of a download for the set that it fills. */
export function normalizeEntries({ set, entries, malformedCount: readerCount }: DownloadedEntries): NormalizedEntries {
  const normalize = normalizerFor(set)
  const names = new Set<string>()
  let malformedCount = readerCount
  for (const entry of entries) {
    const result = normalize(entry)
    if (result.kind === "name") names.add(result.name)
    else malformedCount++
  }
  return { names, malformedCount }
}
