import type { Category } from "./categories.ts"

/** What a caller is advised to do, least severe first. */
export const RECOMMENDATIONS = ["allow", "review", "block"] as const
export type Recommendation = (typeof RECOMMENDATIONS)[number]

type PolicySpec = { readonly says: string } & Readonly<Record<Category, Recommendation>>

/** Policy × category → recommendation (decisions §4). */
// biome-ignore format: a matrix is read by its columns
export const POLICIES = {
  b2b:     { says: "For business sign-ups: personal mailboxes are looked at, throw-away ones refused.",
             business: "allow", education: "allow", government: "allow", personal: "review", relay: "review", unknown: "review", disposable: "block", invalid: "block" },
  strict:  { says: "For business only: personal mailboxes and relays are refused too.",
             business: "allow", education: "allow", government: "allow", personal: "block", relay: "block", unknown: "review", disposable: "block", invalid: "block" },
  lenient: { says: "For everybody: only throw-away and invalid addresses are refused.",
             business: "allow", education: "allow", government: "allow", personal: "allow", relay: "allow", unknown: "allow", disposable: "block", invalid: "block" },
} as const satisfies Record<string, PolicySpec>

export type Policy = keyof typeof POLICIES

export const POLICY_NAMES = Object.keys(POLICIES) as Policy[]

/** The policy of a request that names none. */
export const POLICY_DEFAULT: Policy = "b2b"

type RaiseSpec = { readonly says: string } & Readonly<Record<Policy, Recommendation>>

/** What raises a recommendation, never lowers it: circumstance × policy → at least this (decisions §4). `allow` raises nothing. */
// biome-ignore format: a matrix is read by its columns
export const RAISES = {
  blocked:         { says: "on a block list",                                  lenient: "block",  b2b: "block",  strict: "block" },
  lookalike:       { says: "imitates a known name",                            lenient: "review", b2b: "review", strict: "block" },
  typo:            { says: "a domain is suggested in `did_you_mean`",          lenient: "allow",  b2b: "review", strict: "review" },
  new_domain:      { says: "registered less than 30 days ago",                 lenient: "allow",  b2b: "review", strict: "block" },
  role:            { says: "a role account",                                   lenient: "allow",  b2b: "allow",  strict: "review" },
  doubtful:        { says: "category business with a confidence under 0.6",    lenient: "allow",  b2b: "review", strict: "review" },
  degraded:        { says: "degraded, and category business or unknown",       lenient: "allow",  b2b: "review", strict: "review" },
} as const satisfies Record<string, RaiseSpec>

export type Raise = keyof typeof RAISES

/** A business verdict under this confidence is doubtful. */
export const DOUBTFUL_BELOW = 0.6
