import { type Finding, unknown } from "../../base/finding.ts"
import { LIMITS } from "../../contract/limits.ts"
import { isSameOrSubdomain } from "../address/public-suffix.ts"
import type { CachingResolver } from "../dns/dns-types.ts"

/** How many DNS questions one check asks about mail, cached ones included. */
export const QUESTIONS_MAX = LIMITS.dnsQuestionsPerCheckMax

/** How many of them are about names outside the organisational domain, mail hosts apart: whoever writes its records chooses these names. */
export const FOREIGN_QUESTIONS_MAX = LIMITS.dnsForeignQuestionsPerCheckMax

/** How many of them are about the addresses of mail hosts. */
export const HOST_QUESTIONS_MAX = LIMITS.dnsHostQuestionsPerCheckMax

/** MX, TXT, A and DMARC of the domain. One without a mail host has AAAA too. */
const OWN_QUESTIONS = 4

/** The finding of a question that is beyond the budget. */
export const NOT_ASKED: Finding<never> = unknown("unavailable")

/**
 * The DNS questions of one check: a domain whose records lead to many others must not have us ask about all of them. The domain's own
 * records have their share whether they are asked for or not. Mail hosts have what they may need, and other names have the rest and what
 * hosts leave over. So the answers decide what is asked, not the order in which they come, and not what else the caller needs.
 */
export class QuestionBudget {
  readonly #organisationalDomain: string
  /** Null: nobody waits for it. */
  #hostsEnd: PromiseWithResolvers<void> | null = null
  #left = QUESTIONS_MAX - OWN_QUESTIONS
  #areHostsDone = false
  #foreignLeft: number = FOREIGN_QUESTIONS_MAX
  #hostsLeft: number = HOST_QUESTIONS_MAX

  constructor(organisationalDomain: string) {
    this.#organisationalDomain = organisationalDomain
  }

  /** Takes the question for AAAA of a domain without a mail host, whether or not it is asked. */
  takeAddress(): void {
    this.#left--
  }

  /**
   * Resolves as `resolver` does as long as there are questions left, waiting for what mail hosts leave over; then every question is
   * `unavailable` and not asked.
   */
  limit(resolver: CachingResolver): CachingResolver {
    return async question => {
      const isForeign = !isSameOrSubdomain(question.name, this.#organisationalDomain)
      if (isForeign && this.#foreignLeft <= 0) return NOT_ASKED
      if (isForeign) this.#foreignLeft--
      if (this.#left <= this.#hostsLeft && !this.#areHostsDone) await this.#waitForHosts()
      if (this.#left <= this.#hostsLeft) return NOT_ASKED
      this.#left--
      return await resolver(question)
    }
  }

  /** Sets how many of the questions mail hosts have, before any of them is asked. */
  beginHosts(count: number): void {
    this.#hostsLeft = Math.min(count, HOST_QUESTIONS_MAX)
  }

  /** Takes a question about a mail host. False: none is left for them. */
  takeHost(): boolean {
    if (this.#hostsLeft <= 0) return false
    this.#left--
    this.#hostsLeft--
    return true
  }

  /** Gives what mail hosts leave over to others. */
  endHosts(): void {
    this.#hostsLeft = 0
    this.#areHostsDone = true
    this.#hostsEnd?.resolve()
  }

  #waitForHosts(): Promise<void> {
    this.#hostsEnd ??= Promise.withResolvers()
    return this.#hostsEnd.promise
  }
}
