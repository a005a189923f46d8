import type { Category } from "./categories.ts"
import type { Recommendation, RecommendationFloor } from "./policies.ts"
import type { Reason } from "./reasons.ts"

type RuleSpec = {
  readonly covers: "category" | "reason"
  /** What the rule is about, as it stands in a sentence: "Your rule for … decided: block." */
  readonly about: string
}

/** The reasons for which an account can have a rule. */
type RuledReason = Extract<Reason, "role_account" | "subaddress" | "free_subdomain" | "new_domain" | "lookalike_domain" | "likely_typo">

/** What an account can have a rule for. `invalid` has none: what can get no mail is never let in. */
export const ACCOUNT_RULES = {
  business: { covers: "category", about: "businesses" },
  personal: { covers: "category", about: "personal addresses" },
  disposable: { covers: "category", about: "disposable addresses" },
  relay: { covers: "category", about: "privacy relays" },
  education: { covers: "category", about: "schools and universities" },
  government: { covers: "category", about: "government bodies" },
  unknown: { covers: "category", about: "unknown domains" },
  role_account: { covers: "reason", about: "role accounts" },
  subaddress: { covers: "reason", about: "addresses with a tag" },
  free_subdomain: { covers: "reason", about: "free subdomains" },
  new_domain: { covers: "reason", about: "new domains" },
  lookalike_domain: { covers: "reason", about: "look-alikes" },
  likely_typo: { covers: "reason", about: "likely typos" },
} as const satisfies Readonly<Record<Exclude<Category, "invalid"> | RuledReason, RuleSpec>>

export type AccountRule = keyof typeof ACCOUNT_RULES

export const ACCOUNT_RULE_NAMES = Object.keys(ACCOUNT_RULES) as AccountRule[] // the keys of a table are its type's

/** The rules of one account. What has no rule is absent. */
export type AccountRules = { readonly [R in AccountRule]?: Recommendation }

/**
 * How a recommendation is found, in this order (DECISIONS 150). A rule replaces what the policy says about one thing, and the policy
 * counts for everything else.
 */
export const RECOMMENDATION_ORDER = {
  own_lists: "An entry of an own list decides alone. No rule changes it.",
  invalid: "An `invalid` input is blocked. No rule changes it.",
  category: "The category's rule, or else what the policy says about the category, doubts and weak evidence included. If `free_subdomain` gave the category, its rule stands above that of the category.",
  reasons: "For each of the reasons that hold: its rule, or else what the policy says about it.",
  strictest: "The strictest of these is the recommendation. If it is not the policy's own, the reasons hold `account_rule`.",
} as const satisfies Record<string, string>

/** Which rule replaces a row of `RECOMMENDATION_FLOORS`: that of the category, that of a reason, or none. */
export const RULE_OF_FLOOR = {
  blocked: null,
  lookalike: "lookalike_domain",
  typo: "likely_typo",
  household_slip: "likely_typo",
  new_domain: "new_domain",
  role: "role_account",
  doubtful: "category",
  open_suffix: "category",
  missing_name: "category",
  degraded: "category",
} as const satisfies { readonly [F in RecommendationFloor]: RuledReason | "category" | null }
