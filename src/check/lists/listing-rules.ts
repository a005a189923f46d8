/**
 * The rules that keep an entry out of the set that its source fills, with a description that `lists lookup` displays. Their
 * order is the order of the rule numbers in a pack: append new ones, or raise the format.
 */
export const LISTING_RULES = {
  malformed: "The entry is not a host name.",
  unknown_tld: "The entry's top-level domain is not in the ICANN section of the Public Suffix List.",
  public_suffix: "The entry is a public suffix (ICANN or private section), where strangers register.",
  never_list: "The name is on the list of names that are never disposable.",
  under_government_suffix: "The name is under a suffix for government bodies.",
  under_education_suffix: "The name is under a suffix for education.",
  popular_needs_two:
    "A popular name, a known organisation, a name under one, or a listed school is disposable only when two independent trusted sources say so.",
  low_trust_only_if_unopposed:
    "Only sources of `low` or `medium` trust say so, and our own lists, popular names or another set contradict them.",
  deny_list: "The name is on the list of names that free-mail lists contain by mistake.",
  organisation_wins: "The name is a known organisation, and only uncurated sources call it personal or a school.",
  stopped: "The name, or a parent, is on a list of names that are not schools or whose addresses are sold.",
  relay_wins: "The name, or a parent, is a privacy relay.",
  curated_government_wins: "The name, or a parent, is on the curated government list.",
  curated_education_wins: "The name, or a parent, is on the curated education list.",
  curated_personal_wins: "The name, or a parent, is on the curated list of providers.",
  government_wins: "A registry of government names lists the name.",
  disposable_beats_long_tail:
    "A trusted disposable list has the name, and the sources that call it personal have less trust.",
  education_beats_long_tail: "The name is a school's, and only uncurated sources call it personal.",
  redundant: "A parent, or a suffix, already gives the same answer.",
  needs_second_source:
    "The source also lists names of other kinds, so it counts only with a second source that is not compiled from others.",
  removed_by_curator:
    "The curators of a more trusted list removed the name, and no source with as much trust lists it.",
  open_suffix: "Anyone can register under the suffix.",
} as const satisfies Record<string, string>

export type ListingRule = keyof typeof LISTING_RULES

/** All rules, in the order of their numbers in a pack. */
export const LISTING_RULE_NAMES = Object.keys(LISTING_RULES) as ListingRule[]

/** The outcome of one entry of one source: kept in the set, or dropped by a rule. */
export type ListingOutcome = "kept" | ListingRule
