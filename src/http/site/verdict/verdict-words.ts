import type { Category } from "../../../contract/categories.ts"
import type { Recommendation } from "../../../contract/policies.ts"

/** What a verdict is called in a headline. */
export const CATEGORY_WORDS: { readonly [C in Category]: string } = {
  business: "Business",
  personal: "Personal",
  disposable: "Disposable",
  relay: "Privacy relay",
  education: "Education",
  government: "Government",
  invalid: "Not valid",
  unknown: "Not known",
}

/** What a recommendation asks of who gets it. */
export const ADVICE_WORDS: { readonly [R in Recommendation]: string } = {
  allow: "Let it through.",
  review: "Have a look at it before you trust it.",
  block: "Turn it away.",
}

/** A confidence as people say it: `95 % sure`. */
export const sureness = (confidence: number): string => `${Math.round(confidence * 100)} % sure`
