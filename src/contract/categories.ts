type CategorySpec = { readonly says: string; readonly isBusiness: boolean }

/** What an address, domain or URL can be. `isBusiness` is the flag `is_business` of a result. */
export const CATEGORIES = {
  business: { says: "A company or another organisation with a domain of its own.", isBusiness: true },
  personal: { says: "A mailbox of a free provider or a consumer internet provider.", isBusiness: false },
  disposable: { says: "A throw-away mailbox.", isBusiness: false },
  relay: { says: "A privacy relay that forwards to a mailbox it hides.", isBusiness: false },
  education: { says: "A school, a university or another education body.", isBusiness: true },
  government: { says: "A government body, the military or an international organisation.", isBusiness: true },
  invalid: { says: "Nothing that can receive mail or be visited.", isBusiness: false },
  unknown: { says: "Not enough evidence for a verdict.", isBusiness: false },
} as const satisfies Record<string, CategorySpec>

export type Category = keyof typeof CATEGORIES

export const CATEGORY_NAMES = Object.keys(CATEGORIES) as Category[]
