import { Budget } from "../base/budget.ts"
import type { Clock } from "../base/clock.ts"
import { type Finding, known, unknown } from "../base/finding.ts"
import type { Later } from "../base/timer.ts"
import type { AgeFound } from "./probes/held-ages.ts"
import type { HeldHomepage, HeldHomepages } from "./probes/held-homepages.ts"
import { ageInDays, type RdapProbe } from "./probes/rdap.ts"
import type { Evidence } from "./verdict/evidence.ts"

/** What a deep check was told of a domain. */
export type DeepTold = Pick<Evidence, "ageDays" | "homepage"> & {
  /** All of it came from a cache. */
  readonly isCached: boolean
  /** Until when asking again would tell the same, in milliseconds since the Unix epoch. */
  readonly freshUntilMs: number
}

/** What deep checks ask. Names are registrable domains as A-labels, lower case. */
export type Deep = {
  /** What is held and fresh comes without a promise. It never rejects. */
  readonly ask: (domain: string) => DeepTold | Promise<DeepTold>
  /** The age in days that an earlier deep check found, for a check that is not deep; null: it is not held in memory. */
  readonly heldAge: (domain: string) => number | null
}

type Needs = {
  readonly ages: RdapProbe
  readonly homepages: HeldHomepages
  /** DNS is known to be away, so that nothing from outside is worth waiting for. */
  readonly isAway: () => boolean
  readonly clock: Clock
  readonly later: Later
}

/** The whole time of what is deep about a check: a homepage may take all of it. */
const DEEP_MS = 5000

/** An age in days is right for a part of a day only. */
const AGE_FRESH_MS = 3_600_000

/** Builds the deep part of checks: the age and the homepage are asked for side by side. */
export function deepChecks({ ages, homepages, isAway, clock, later }: Needs): Deep {
  return {
    ask: domain => {
      const age = ages.fresh(domain)
      const page = homepages.fresh(domain)
      if ((age !== undefined && page !== undefined) || isAway()) return told(age ?? NO_AGE, page ?? NO_PAGE)
      const budget = new Budget(later, DEEP_MS)
      const late = { freshUntilMs: clock(), isCached: false }
      return Promise.all([
        age ?? budget.wait(Promise.resolve(ages.ask(domain)), { ...late, registration: unknown("timed_out") }),
        page ?? budget.wait(homepages.ask(domain, budget), { ...late, homepage: unknown("timed_out") }),
      ])
        .then(([ofAge, ofPage]) => told(ofAge, ofPage))
        .finally(() => budget.end())
    },
    heldAge: ages.heldAge,
  }

  function told(age: AgeFound, page: HeldHomepage): DeepTold {
    return {
      ageDays: daysOf(age.registration),
      homepage: page.homepage,
      isCached: age.isCached && page.isCached,
      freshUntilMs: Math.min(age.freshUntilMs, page.freshUntilMs, clock() + AGE_FRESH_MS),
    }
  }

  function daysOf(registration: AgeFound["registration"]): Finding<number | null> {
    if (!registration.known) return registration
    return known(registration.value === null ? null : ageInDays(registration.value, clock()))
  }
}

const UNAVAILABLE: Finding<never> = unknown("unavailable")
const UNHELD = { isCached: false, freshUntilMs: 0 }
const NO_AGE: AgeFound = { ...UNHELD, registration: UNAVAILABLE }
const NO_PAGE: HeldHomepage = { ...UNHELD, homepage: UNAVAILABLE }

/** Nothing could be asked. */
const UNANSWERED: DeepTold = { ...UNHELD, ageDays: UNAVAILABLE, homepage: UNAVAILABLE }

/** Of somebody who asks nobody: each deep check answers like a plain one, and says so. */
export const NEVER_DEEP: Deep = { ask: () => UNANSWERED, heldAge: () => null }
