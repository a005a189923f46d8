import { normalizerFor } from "../lists/build/collect-entries.ts"
import type { FillableSet } from "../lists/sets.ts"
import { isPublicSuffix } from "../lists/sources/normalized-name.ts"

/** Why a download is not taken in place of the copy before. Faults are told in this order. */
export const VALIDATION_RULES = {
  empty: "It holds no name.",
  malformed: "Too many of its entries are no names.",
  shrunken: "A fifth of the names or more are gone.",
  swollen: "It has ten times as many names or more.",
  never_listed: "It has come to list a name that no such list may hold.",
  public_suffixes: "Too many of its names are public suffixes, under which strangers register.",
  cut_off: "Its last line has no end, though that of the copy before had one.",
} as const satisfies Record<string, string>
export type ValidationRule = keyof typeof VALIDATION_RULES

/** One reason against a download: a sentence with its figures and names. Entries are not told as they came. */
export type ValidationFault = { readonly rule: ValidationRule; readonly says: string }

/** One downloaded source, as its reader gave it. */
export type DownloadedEntries = {
  readonly set: FillableSet
  readonly entries: readonly string[]
  /** Entries of the wrong shape, which have no name. */
  readonly misshapen: number
  /** Whether the text ends with a line end. */
  readonly endsCleanly: boolean
}

/** The last good copy of a source. */
export type PreviousSource = {
  /** How many names it has, each counted once. */
  readonly count: number
  readonly endsCleanly: boolean
  /** In normal form. */
  readonly names: ReadonlySet<string>
}

/** The names that steer the guard, in normal form. */
export type NeverListedNames = {
  readonly neverListed: ReadonlySet<string>
  /** Names of `neverListed` that sources are known to list; what builds a pack drops them. */
  readonly knownFaults: ReadonlySet<string>
}

/** More than one entry in so many is no name, */
const MALFORMED_ONE_IN = 100
/** and they are so many at least: a slip or two in a short list are no sign of another kind of file. */
const MALFORMED_COUNT_MIN = 3
/** One name in so many is gone. */
const SHRUNKEN_ONE_IN = 5
/** So many times as many names. */
const SWOLLEN_TIMES = 10
/** How many of the never-listed names are told. */
const NEVER_LISTED_REPORTED_MAX = 5
/** So many public suffixes are let pass in any list, and one name in so many in a long one. */
const PUBLIC_SUFFIXES_MAX = 5
const PUBLIC_SUFFIX_ONE_IN = 1000

/** What speaks well of a name, or names the well-known: names that are never listed elsewhere belong here. */
const SETS_OF_KNOWN_NAMES: ReadonlySet<FillableSet> = new Set(["popular", "never_disposable", "organisation"])
/** The sets whose entries hold for what strangers register under them. */
const SETS_WITHOUT_PUBLIC_SUFFIXES: ReadonlySet<FillableSet> = new Set(["disposable", "personal"])

/**
 * All that speaks against a download (`names`: what `namesIn` gives of it); none: it may take the place of the copy before (null: there is none). The order of
 * entries never matters, and what was once found fit is found fit again.
 */
export function validateSource(
  found: DownloadedEntries,
  before: PreviousSource | null,
  rules: NeverListedNames,
  names: NormalizedEntries = normalizeEntries(found),
): readonly ValidationFault[] {
  const seen = { ...names, found, before, rules }
  return RULE_ORDER.flatMap(rule => {
    const says = RULE_CHECKS[rule](seen)
    return says === null ? [] : [{ rule, says }]
  })
}

const RULE_ORDER = Object.keys(VALIDATION_RULES) as ValidationRule[]

/** The names of a download. */
export type NormalizedEntries = {
  /** In normal form, each once. */
  readonly names: ReadonlySet<string>
  /** Entries that are no names, misshapen ones among them. */
  readonly malformedCount: number
}

type ValidationInput = NormalizedEntries & {
  readonly found: DownloadedEntries
  readonly before: PreviousSource | null
  readonly rules: NeverListedNames
}

/** When each rule holds: the sentence that tells it, or null. A rule without a row does not compile. */
const RULE_CHECKS: { readonly [R in ValidationRule]: (seen: ValidationInput) => string | null } = {
  empty: ({ names }) => (names.size === 0 ? "It holds no name." : null),
  malformed: ({ found, malformedCount }) => {
    const count = found.entries.length + found.misshapen
    const isOver = malformedCount >= MALFORMED_COUNT_MIN && malformedCount * MALFORMED_ONE_IN > count
    return isOver ? `${malformedCount} of its ${count} entries are no names.` : null
  },
  shrunken: ({ names, before }) => {
    if (before === null || names.size === 0) return null
    const isOver = (before.count - names.size) * SHRUNKEN_ONE_IN >= before.count
    return isOver ? `It has ${names.size} names, and had ${before.count}.` : null
  },
  swollen: ({ names, before }) => {
    if (before === null || before.count === 0) return null
    const isOver = names.size >= before.count * SWOLLEN_TIMES
    return isOver ? `It has ${names.size} names, and had ${before.count}.` : null
  },
  never_listed: ({ found, names, before, rules }) => {
    if (SETS_OF_KNOWN_NAMES.has(found.set)) return null
    const listed = [...names]
      .filter(name => rules.neverListed.has(name) && !rules.knownFaults.has(name) && !before?.names.has(name))
      .sort()
    if (listed.length === 0) return null
    const told = listed.slice(0, NEVER_LISTED_REPORTED_MAX).join(", ")
    return listed.length > NEVER_LISTED_REPORTED_MAX
      ? `It lists ${told} and ${listed.length - NEVER_LISTED_REPORTED_MAX} more that no such list may hold.`
      : `It lists ${told}, which no such list may hold.`
  },
  public_suffixes: ({ found, names }) => {
    if (!SETS_WITHOUT_PUBLIC_SUFFIXES.has(found.set)) return null
    const count = [...names].filter(isPublicSuffix).length
    const isOver = count > PUBLIC_SUFFIXES_MAX && count * PUBLIC_SUFFIX_ONE_IN > names.size
    return isOver ? `${count} of its ${names.size} names are public suffixes.` : null
  },
  cut_off: ({ found, before }) =>
    before?.endsCleanly === true && !found.endsCleanly ? "Its last line has no end, as if it was cut off." : null,
}

/** Reads the entries of a download as what its set holds. */
export function normalizeEntries({ set, entries, misshapen }: DownloadedEntries): NormalizedEntries {
  const normal = normalizerFor(set)
  const names = new Set<string>()
  let malformedCount = misshapen
  for (const entry of entries) {
    const taken = normal(entry)
    if (taken.kind === "name") names.add(taken.name)
    else malformedCount++
  }
  return { names, malformedCount }
}
