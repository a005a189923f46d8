type CategorySpec = { readonly description: string; readonly isBusiness: boolean }

/** The categories of addresses, domains and URLs. `isBusiness` is the member `is_business` of a result. */
export const CATEGORIES = {
  business: { description: "A company or another organisation with its own domain.", isBusiness: true },
  personal: { description: "A mailbox of a free provider or a consumer internet provider.", isBusiness: false },
  disposable: { description: "A disposable mailbox.", isBusiness: false },
  relay: { description: "A privacy relay. It forwards mail to a hidden mailbox.", isBusiness: false },
  education: { description: "A school, a university or another education body.", isBusiness: true },
  government: { description: "A government body, the military or an international organisation.", isBusiness: true },
  invalid: { description: "An address that cannot receive mail, or a website that cannot exist.", isBusiness: false },
  unknown: { description: "Not enough evidence for a verdict.", isBusiness: false },
} as const satisfies Record<string, CategorySpec>

export type Category = keyof typeof CATEGORIES

export const CATEGORY_NAMES = Object.keys(CATEGORIES) as Category[]
