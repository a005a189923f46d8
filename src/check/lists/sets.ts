import type { Category } from "../../contract/categories.ts"

type SetSpec = {
  readonly description: string
  /** `name`: an entry matches itself and its subdomains, up to a public suffix; `suffix`: at any level, and `*` is one label. */
  readonly matches: "name" | "suffix"
  /** The category of the names in the set. */
  readonly category: Category
}

/** The sets of names in a pack. Their order is the order of the bits in a pack: append new ones, or raise the format. */
export const SETS = {
  disposable: { description: "Domains of disposable mailboxes.", matches: "name", category: "disposable" },
  relay: { description: "Domains of privacy relays.", matches: "name", category: "relay" },
  government: { description: "Names of government bodies.", matches: "name", category: "government" },
  government_suffix: { description: "Suffixes for government bodies.", matches: "suffix", category: "government" },
  education: { description: "Names of schools and universities.", matches: "name", category: "education" },
  education_suffix: { description: "Suffixes for education.", matches: "suffix", category: "education" },
  personal: { description: "Domains of free and consumer mailbox providers.", matches: "name", category: "personal" },
  organisation: { description: "Domains of well-known organisations.", matches: "name", category: "business" },
  open_education_suffix: {
    description: "Education suffixes where anyone can register.",
    matches: "suffix",
    category: "education",
  },
  free_subdomain: {
    description: "Suffixes that give away names for free.",
    matches: "suffix",
    category: "unknown",
  },
  agent_mailbox: {
    description: "Domains of services that give mailboxes to programs.",
    matches: "name",
    category: "personal",
  },
} as const satisfies Record<string, SetSpec>

export type SetName = keyof typeof SETS

/** All sets, in the order of their bits. */
export const SET_NAMES = Object.keys(SETS) as SetName[]

/** The bit of each set in a mask. */
export const SET_BITS = Object.fromEntries(SET_NAMES.map((set, index) => [set, 1 << index])) as Readonly<
  Record<SetName, number>
>

/** The mask of the sets that match at any level, including public suffixes. */
export const SUFFIX_SETS_MASK = SET_NAMES.filter(set => SETS[set].matches === "suffix").reduce(
  (mask, set) => mask | SET_BITS[set],
  0,
)

/**
 * What calls a name disposable, weakest first (`DECISIONS 139`). `weak`: aggregators alone. `single`: one independent witness.
 * `strong`: a list whose maintainers look at every entry, a window source, or two independent witnesses.
 */
export const LISTING_STRENGTHS = ["weak", "single", "strong"] as const

export type ListingStrength = (typeof LISTING_STRENGTHS)[number]

/** The bit of each strength in a mask of the disposable set. They stand above the bits of all sets. */
export const STRENGTH_BITS = { weak: 1 << 14, single: 1 << 13, strong: 0 } as const satisfies Record<
  ListingStrength,
  number
>

/** The bits of all strengths. */
export const STRENGTH_MASK = STRENGTH_BITS.weak | STRENGTH_BITS.single

/** Sets of names that only guide the building of a pack. They are not in the pack. */
export const GUARD_SETS = {
  never_disposable: "Names that no list can make disposable.",
  not_personal: "Names that free-mail lists contain by mistake.",
  not_education: "Names that school lists name by mistake, or whose addresses are sold.",
  not_role: "Words that role lists name, and that are names of persons or places.",
  popular: "Popular names. One source is not enough to call one disposable.",
  removed_disposable: "Names that the curators of a disposable list removed from it.",
} as const

export type GuardSetName = keyof typeof GUARD_SETS

/** Sets of words for the local part. */
export const WORD_SETS = {
  role: "Names of roles: postmaster, sales, no-reply.",
  shared_inbox: "Names of mailboxes that several people answer from: support, info.",
  group: "Names of groups that reach many members: all, staff.",
  region: "Countries, languages and cities next to a role: uk, emea, berlin.",
  person_name: "Names of persons that are spelled like a role: salesse.",
} as const

export type WordSetName = keyof typeof WORD_SETS

/** All word sets. */
export const WORD_SET_NAMES = Object.keys(WORD_SETS) as WordSetName[]

/** A set that a source can fill: a set of names, a guard set, words, or the domains of group services. */
export type FillableSet = SetName | GuardSetName | WordSetName | "group_service"

/** All sets that a source can fill. */
export const FILLABLE_SETS: readonly FillableSet[] = [
  ...SET_NAMES,
  ...(Object.keys(GUARD_SETS) as GuardSetName[]),
  ...WORD_SET_NAMES,
  "group_service",
]

/** Whether `set` is a set of names in a pack. */
export const isSetName = (set: FillableSet): set is SetName => Object.hasOwn(SETS, set)

/** Whether `set` is a set of words. */
export const isWordSetName = (set: FillableSet): set is WordSetName => Object.hasOwn(WORD_SETS, set)

/** The sets of a mask, in order. */
export const setsOfMask = (mask: number): readonly SetName[] => SET_NAMES.filter(set => (mask & SET_BITS[set]) !== 0)
