import { countGarbage } from "../../base/garbage.ts"
import { normalizerFor } from "../lists/build/collect-entries.ts"
import type { FillableSet } from "../lists/sets.ts"
import { isPublicSuffix } from "../lists/sources/normalized-name.ts"

/** The rules that a download must keep to replace the previous one. Faults are reported in this order. */
export const VALIDATION_RULES = {
  empty: "It has no names.",
  malformed: "Too many of its entries are not names.",
  shrunken: "A fifth of its names are gone, and more than one.",
  swollen: "It has at least ten times as many names.",
  never_listed: "It has too many names that such a list cannot hold.",
  public_suffixes: "Too many of its names are public suffixes, where anyone can register.",
  cut_off: "Its last line has no end, but that of the previous download had one.",
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
  /** The line of the first of these, counted from 1; absent: it is not known. */
  readonly firstMalformedLine?: number | undefined
  /** Whether the text ends with a line feed. */
  readonly endsWithNewline: boolean
  /** Whether names that are gone stay, since the source is a window. */
  readonly isWindow?: boolean
}

/** The last valid download of a source. */
export type PreviousSource = {
  /** The number of distinct names; of a window source, those of the last window alone. */
  readonly count: number
  readonly endsWithNewline: boolean
}

/** Names that no download may list, in normal form. */
export type NeverListedNames = {
  readonly neverListed: ReadonlySet<string>
  /**
   * Names of `neverListed` that built-in sources are known to list. They do not count, and of a list they are not left out, since
   * building a pack drops them.
   */
  readonly knownFaults: ReadonlySet<string>
  /** How many names the source may list that no such list may hold, if its row says so; absent: as many as any source. */
  readonly neverListedMax?: number | undefined
}

/** The names of a download that no such list may hold, and that are left out of it. */
export type LeftOutNames = {
  readonly count: number
  /** The first of them in alphabetical order, in normal form. */
  readonly names: readonly string[]
}

/** A download of which nothing was left out. */
export const NONE_LEFT_OUT: LeftOutNames = { count: 0, names: [] }

/** The most entries of a source, and of all windows of one. The longest list has 220 000. */
export const ENTRIES_MAX = 500_000
/** The most lines and commas of a download, which bound its entries before it is read. */
const PARTS_MAX = 4 * ENTRIES_MAX
/** A download is malformed if more than one in 100 entries is, and at least 3: fewer are mistakes in a valid file. */
const MALFORMED_ONE_IN = 100
const MALFORMED_COUNT_MIN = 3
/** A download has shrunk if one in 5 names is gone, and at least 2: a list of five or fewer may lose one, or it would be refused for good. */
const SHRUNKEN_ONE_IN = 5
const SHRUNKEN_COUNT_MIN = 2
/** A download has swollen if it has 10 times as many names. */
const SWOLLEN_TIMES = 10
/** Any source may hold 10 never-listed names, and a long one may hold one in 1000: fewer are mistakes in a good source. */
const NEVER_LISTED_MAX = 10
const NEVER_LISTED_ONE_IN = 1000
/** The number of never-listed names that are told. */
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
  const leftOut = leftOutNames(downloaded, normalized.names, rules)
  const names = withoutNames(normalized.names, leftOut)
  const input = { ...normalized, names, leftOut, downloaded, previous, rules }
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
  /** Without the names that are left out. */
  readonly names: ReadonlySet<string>
  readonly leftOut: ReadonlySet<string>
  readonly malformedCount: number
  readonly downloaded: DownloadedEntries
  readonly previous: PreviousSource | null
  readonly rules: NeverListedNames
}

/** The check of each rule: the message if the rule is broken, else null. */
const RULE_CHECKS: { readonly [R in ValidationRule]: (input: ValidationInput) => string | null } = {
  empty: ({ names }) => (names.size === 0 ? "It has no names." : null),
  malformed: ({ downloaded, malformedCount }) => {
    const count = downloaded.entries.length + downloaded.malformedCount
    const isBroken = malformedCount >= MALFORMED_COUNT_MIN && malformedCount * MALFORMED_ONE_IN > count
    const { firstMalformedLine: line } = downloaded
    const first = line === undefined ? "" : `, the first on line ${line}`
    return isBroken ? `${malformedCount} of its ${count} entries are not names${first}.` : null
  },
  shrunken: ({ names, previous, downloaded }) => {
    if (previous === null || names.size === 0 || downloaded.isWindow === true) return null
    const goneCount = previous.count - names.size
    const isBroken = goneCount >= SHRUNKEN_COUNT_MIN && goneCount * SHRUNKEN_ONE_IN >= previous.count
    return isBroken ? `It has ${names.size} names, and had ${previous.count}.` : null
  },
  swollen: ({ names, previous }) => {
    if (previous === null || previous.count === 0) return null
    const isBroken = names.size >= previous.count * SWOLLEN_TIMES
    return isBroken ? `It has ${names.size} names, and had ${previous.count}.` : null
  },
  never_listed: ({ names, leftOut, rules }) => {
    const counted = leftOut.difference(rules.knownFaults)
    const count = counted.size
    const total = names.size + leftOut.size
    const isBroken =
      rules.neverListedMax === undefined
        ? count > NEVER_LISTED_MAX && count * NEVER_LISTED_ONE_IN > total
        : count > rules.neverListedMax
    return isBroken
      ? `${count} of its ${total} names cannot be on such a list: ${nameSome(describeLeftOut(counted))}.`
      : null
  },
  public_suffixes: ({ downloaded, names }) => {
    if (!SETS_WITHOUT_PUBLIC_SUFFIXES.has(downloaded.set)) return null
    let count = 0
    for (const name of names) if (isPublicSuffix(name)) count++
    const isBroken = count > PUBLIC_SUFFIXES_MAX && count * PUBLIC_SUFFIX_ONE_IN > names.size
    return isBroken ? `${count} of its ${names.size} names are public suffixes.` : null
  },
  cut_off: ({ downloaded, previous }) =>
    previous?.endsWithNewline === true && !downloaded.endsWithNewline
      ? "Its last line has no end. It may be cut off."
      : null,
}

/** The names of a download that no list for its set may hold, those of a list without known faults. */
export function leftOutNames(
  { set, isWindow = false }: Pick<DownloadedEntries, "set" | "isWindow">,
  names: ReadonlySet<string>,
  { neverListed, knownFaults }: NeverListedNames,
): ReadonlySet<string> {
  if (SETS_OF_KNOWN_NAMES.has(set)) return new Set()
  const listed = names.intersection(neverListed)
  return isWindow ? listed : listed.difference(knownFaults)
}

/** The names that are not left out: hundreds of thousands, which are copied only if they must be. */
export const withoutNames = (names: ReadonlySet<string>, leftOut: ReadonlySet<string>): ReadonlySet<string> =>
  leftOut.size === 0 ? names : names.difference(leftOut)

/** The number of names that are left out, and the first of them. */
export const describeLeftOut = (names: ReadonlySet<string>): LeftOutNames => ({
  count: names.size,
  names: [...names].sort().slice(0, NEVER_LISTED_REPORTED_MAX),
})

/** A sentence about names that were left out; empty: there are none. */
export function leftOutMessage({ count, names }: LeftOutNames = NONE_LEFT_OUT): string {
  if (count === 0) return ""
  const verb = count === 1 ? "is" : "are"
  return `It lists ${nameSome({ count, names })}, which cannot be on such a list and ${verb} left out.`
}

/** The lines of an operator's own list that cannot be read, and the first of them, counted from 1. */
export type UnreadableLines = { readonly count: number; readonly first_line: number }

/** A sentence about them; empty: there are none. */
function unreadableMessage(lines: UnreadableLines | undefined): string {
  if (lines === undefined) return ""
  const { count, first_line: line } = lines
  return count === 1
    ? `Line ${line} is not a name and is left out.`
    : `${count} lines are not names and are left out, the first is line ${line}.`
}

/** Sentences about what was left out of a download, or is missing of its past; empty: nothing. */
export const leftOutMessages = (left: {
  readonly left_out?: LeftOutNames
  readonly unreadable?: UnreadableLines
  readonly past?: string
}): string =>
  [leftOutMessage(left.left_out), unreadableMessage(left.unreadable), left.past ?? ""]
    .filter(message => message !== "")
    .join(" ")

const nameSome = ({ count, names }: LeftOutNames): string =>
  `${names.join(", ")}${count > names.length ? ` and ${count - names.length} more` : ""}`

/** Why so many entries are not even normalized; null: they can be. */
export const entryCountFault = (count: number): string | null =>
  count > ENTRIES_MAX ? `It has ${count} entries, more than ${ENTRIES_MAX}.` : null

/** Why a text is not even read; null: it can be. */
export function textFault(text: string): string | null {
  let count = 0
  for (const separator of ["\n", ","])
    for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1))
      if (++count > PARTS_MAX) return `It has more than ${PARTS_MAX} lines and commas.`
  return null
}

/** Normalizes the entries of a download for the set that it fills. */
export function normalizeEntries({ set, entries, malformedCount: readerCount }: DownloadedEntries): NormalizedEntries {
  const normalize = normalizerFor(set)
  const names = new Set<string>()
  let malformedCount = readerCount
  for (const entry of entries) {
    countGarbage()
    const result = normalize(entry)
    if (result.kind === "name") names.add(result.name)
    else malformedCount++
  }
  return { names, malformedCount }
}
