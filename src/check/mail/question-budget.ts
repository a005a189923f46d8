import { type Finding, unknown } from "../../base/finding.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { CachingResolver } from "../dns/dns-types.ts"

/** How many DNS questions one check asks about mail, cached ones included. */
export const QUESTIONS_MAX = LIMITS.dnsQuestionsPerCheckMax

/** How many of them are about names outside the organisational domain: whoever writes its records chooses these names. */
export const FOREIGN_QUESTIONS_MAX = LIMITS.dnsForeignQuestionsPerCheckMax

const NOT_ASKED: Finding<never> = unknown("unavailable")

/** The DNS questions of one check: a domain whose records lead to many others must not have us ask about all of them. */
export class QuestionBudget {
  readonly #organisationalDomain: string
  #left = QUESTIONS_MAX
  #foreignLeft = FOREIGN_QUESTIONS_MAX

  constructor(organisationalDomain: string) {
    this.#organisationalDomain = organisationalDomain
  }

  /** Resolves as `resolver` does and counts each question. For the domain's own records, of which there are few. */
  count(resolver: CachingResolver): CachingResolver {
    return question => {
      this.#left--
      return resolver(question)
    }
  }

  /** Resolves as `resolver` does as long as there are questions left; then every question is `unavailable` and not asked. */
  limit(resolver: CachingResolver): CachingResolver {
    return question => {
      const isForeign = !this.#isOwn(question.name)
      if (this.#left <= 0 || (isForeign && this.#foreignLeft <= 0)) return Promise.resolve(NOT_ASKED)
      this.#left--
      if (isForeign) this.#foreignLeft--
      return resolver(question)
    }
  }

  #isOwn(name: string): boolean {
    return name === this.#organisationalDomain || name.endsWith(`.${this.#organisationalDomain}`)
  }
}
