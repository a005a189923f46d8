import { type Finding, unknown } from "../../base/finding.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { CachingResolver } from "../dns/dns-types.ts"

/** How many DNS questions one check asks about mail, cached ones included. */
export const QUESTIONS_MAX = LIMITS.dnsQuestionsPerCheckMax

/** How many of them are about names outside the organisational domain, mail hosts apart: whoever writes its records chooses these names. */
export const FOREIGN_QUESTIONS_MAX = LIMITS.dnsForeignQuestionsPerCheckMax

/** How many of them are about the addresses of mail hosts. */
export const HOST_QUESTIONS_MAX = LIMITS.dnsHostQuestionsPerCheckMax

/** How many of those are kept for mail hosts until these are looked up: a long SPF record must not use them up. */
const HOST_QUESTIONS_RESERVED = 4

/** The questions of one check about the addresses of mail hosts. */
export type HostQuestions = {
  /** Resolves as `resolver` does as long as there are questions left; then every question is `unavailable` and not asked. */
  readonly limit: (resolver: CachingResolver) => CachingResolver
  /** Gives back what was kept for them. */
  readonly end: () => void
}

const NOT_ASKED: Finding<never> = unknown("unavailable")

/** The DNS questions of one check: a domain whose records lead to many others must not have us ask about all of them. */
export class QuestionBudget {
  readonly #organisationalDomain: string
  #left = QUESTIONS_MAX
  #foreignLeft = FOREIGN_QUESTIONS_MAX
  #hostsLeft = HOST_QUESTIONS_MAX
  #reservedForHosts = HOST_QUESTIONS_RESERVED

  constructor(organisationalDomain: string) {
    this.#organisationalDomain = organisationalDomain
  }

  /**
   * Takes questions for the domain's own records, whether or not they are asked, and when: what is left for others must not depend on
   * that.
   */
  take(count: number): void {
    this.#left -= count
  }

  /** Resolves as `resolver` does as long as there are questions left; then every question is `unavailable` and not asked. */
  limit(resolver: CachingResolver): CachingResolver {
    return question => {
      const isForeign = !this.#isOwn(question.name)
      if (this.#left <= this.#reservedForHosts || (isForeign && this.#foreignLeft <= 0))
        return Promise.resolve(NOT_ASKED)
      this.#left--
      if (isForeign) this.#foreignLeft--
      return resolver(question)
    }
  }

  /** The questions about the addresses of mail hosts, which count apart from those about other names. */
  readonly hosts: HostQuestions = {
    limit: resolver => question => {
      if (this.#hostsLeft <= 0 || (this.#left <= 0 && this.#reservedForHosts <= 0)) return Promise.resolve(NOT_ASKED)
      this.#left--
      this.#hostsLeft--
      this.#reservedForHosts = Math.max(0, this.#reservedForHosts - 1)
      return resolver(question)
    },
    end: () => {
      this.#reservedForHosts = 0
    },
  }

  #isOwn(name: string): boolean {
    return name === this.#organisationalDomain || name.endsWith(`.${this.#organisationalDomain}`)
  }
}
