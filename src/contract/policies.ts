import type { Category } from "./categories.ts"
import type { Reason } from "./reasons.ts"

/** Least severe first. */
export const RECOMMENDATIONS = ["allow", "review", "block"] as const
export type Recommendation = (typeof RECOMMENDATIONS)[number]

type PolicySpec = { readonly description: string } & Readonly<Record<Category, Recommendation>>

/** Policy × category → recommendation. */
// biome-ignore format: a matrix is read by its columns
export const POLICIES = {
  b2b:     { description: "For business sign-ups. Review personal mailboxes, and block disposable ones.",
             business: "allow", education: "allow", government: "allow", personal: "review", relay: "review", unknown: "review", disposable: "block", invalid: "block" },
  strict:  { description: "For businesses only. Block personal mailboxes and relays too.",
             business: "allow", education: "allow", government: "allow", personal: "block", relay: "block", unknown: "review", disposable: "block", invalid: "block" },
  lenient: { description: "For everybody. Block only disposable and invalid addresses.",
             business: "allow", education: "allow", government: "allow", personal: "allow", relay: "allow", unknown: "allow", disposable: "block", invalid: "block" },
} as const satisfies Record<string, PolicySpec>

export type Policy = keyof typeof POLICIES

export const POLICY_NAMES = Object.keys(POLICIES) as Policy[]

/** The policy of a request without one. */
export const POLICY_DEFAULT: Policy = "b2b"

/** What gives the recommendation instead of the category, because a verdict on it alone may be wrong. */
// biome-ignore format: a matrix is read by its columns
export const WEAK_EVIDENCE = {
  household_slip:       { description: "a disposable domain that is a typo of a very common provider", lenient: "review", b2b: "review", strict: "block" },
  learned_mail_host:    { description: "a learned mail host",   lenient: "review", b2b: "review", strict: "review" },
  personal_mail_host:   { description: "a forwarding service or a provider of personal mailboxes", lenient: "allow", b2b: "allow", strict: "review" },
  weak_listing:         { description: "a weak listing",         lenient: "review", b2b: "review", strict: "block" },
  listing_contradicted: { description: "a contradicted listing", lenient: "review", b2b: "review", strict: "block" },
} as const satisfies Record<string, { readonly description: string } & Readonly<Record<Policy, Recommendation>>>

export type WeakEvidence = keyof typeof WEAK_EVIDENCE

/** `reason`: what a verdict tells then. */
type FloorSpec = { readonly description: string; readonly reason: Reason } & Readonly<Record<Policy, Recommendation>>

/** Circumstance × policy → the least severe recommendation that is given then. `allow` changes nothing (DECISIONS 2). */
// biome-ignore format: a matrix is read by its columns
export const RECOMMENDATION_FLOORS = {
  blocked:        { description: "on a block list",                                          reason: "blocklisted",      lenient: "block",  b2b: "block",  strict: "block" },
  lookalike:      { description: "imitates a known name",                                    reason: "lookalike_domain", lenient: "review", b2b: "review", strict: "block" },
  typo:           { description: "a domain is suggested in `did_you_mean`",                  reason: "likely_typo",      lenient: "allow",  b2b: "review", strict: "review" },
  household_slip: { description: "the suggested provider is a very common one",  reason: "likely_typo",      lenient: "review", b2b: "review", strict: "block" },
  new_domain:     { description: "registered less than 30 days ago",                         reason: "new_domain",       lenient: "allow",  b2b: "review", strict: "block" },
  role:           { description: "a role account",                                           reason: "role_account",     lenient: "allow",  b2b: "allow",  strict: "review" },
  doubtful:       { description: "category business with a confidence below 0.6",            reason: "parked_domain",    lenient: "allow",  b2b: "review", strict: "review" },
  open_suffix:    { description: "under an education suffix where anyone can register",      reason: "education_suffix", lenient: "allow",  b2b: "review", strict: "review" },
  missing_name:   { description: "a school or government domain that does not exist in DNS", reason: "domain_not_found", lenient: "review", b2b: "review", strict: "block" },
  degraded:       { description: "degraded, and category business or unknown",               reason: "dns_unavailable",  lenient: "allow",  b2b: "review", strict: "review" },
} as const satisfies Record<string, FloorSpec>

export type RecommendationFloor = keyof typeof RECOMMENDATION_FLOORS

/** The reasons that raise a recommendation. */
export const RAISING_REASONS: ReadonlySet<Reason> = new Set(Object.values(RECOMMENDATION_FLOORS).map(({ reason }) => reason))

/** A business verdict with a lower confidence is doubtful. */
export const DOUBTFUL_BELOW = 0.6
