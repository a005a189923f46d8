import type { Clock } from "../../base/clock.ts"
import { known } from "../../base/finding.ts"
import { dayOf } from "../../base/utc-day.ts"
import { isWithin, standingOf } from "../address/public-suffix.ts"
import type { Listed } from "../lists/listed.ts"
import { SET_BITS } from "../lists/sets.ts"
import type { MailFound } from "../probes/found.ts"
import type { MailProbe } from "../probes/mail-probe.ts"
import type { Mail } from "../verdict/evidence.ts"
import { hostKeyOf } from "./host-key.ts"
import type { LearnedHosts } from "./learned-hosts.ts"

/** What mail hosts are learned by. */
export type LearningNeeds = {
  readonly hosts: LearnedHosts
  /** What the lists in use say of a domain or host, given its registrable domain. */
  readonly listed: (domain: string, registrable: string) => Listed
  readonly clock: Clock
}

/**
 * Builds a probe that learns from what `probe` finds which mail hosts serve disposable domains, and says
 * `learned_disposable` of the mail of a domain that no list knows where it goes to such a host and nothing else is known
 * of who runs it. An answer from a cache teaches nothing: it was counted when it came.
 *
 * Poisoning is bounded: no host of a known provider and no host under a name that a list holds for persons,
 * organisations, schools, governments or relays is ever learned; a domain is never judged by a host of its own name; and
 * one honest domain that is seen on a host outweighs four listed ones that were pointed at it.
 */
export function learningProbe(probe: MailProbe, { hosts, listed, clock }: LearningNeeds): MailProbe {
  return async (domain, organisational, budget) => {
    const found = await probe(domain, organisational, budget)
    if (!found.mail.known) return found
    const host = learnable(found.mail.value, organisational, listed)
    if (host === null) return found
    const { mask } = listed(domain, organisational)
    const today = dayOf(clock())
    if (!found.isCached) hosts.met(host, organisational, (mask & SET_BITS.disposable) !== 0, today)
    if (mask !== 0 || isRunBySomebody(found) || !hosts.servesDisposable(host, today)) return found
    return { ...found, mail: known({ ...found.mail.value, runBy: "learned_disposable" }) }
  }
}

/** Sets whose names have hosts that serve others honestly, or have nothing to hide. */
const HONEST_MASK =
  SET_BITS.personal |
  SET_BITS.organisation |
  SET_BITS.education |
  SET_BITS.education_suffix |
  SET_BITS.government |
  SET_BITS.government_suffix |
  SET_BITS.relay

/** The key of the most preferred host that takes the mail; null: it is none of those that are learned. */
function learnable({ provider, mx }: Mail, organisational: string, listed: LearningNeeds["listed"]): string | null {
  if (provider !== null) return null
  // Nobody we know is most preferred, and a placeholder is somebody we know.
  const host = mx.find(each => each.provider === null)?.host
  if (host === undefined || isWithin(host, organisational)) return null
  const key = hostKeyOf(host)
  if (key === null || (listed(host, standingOf(host).registrable).mask & HONEST_MASK) !== 0) return null
  return key
}

/** Whether anything else is known of who runs the mail, or of a suite behind it. */
function isRunBySomebody({ mail, suites }: MailFound): boolean {
  if (mail.known && mail.value.runBy !== null) return true
  return suites.known && (suites.value.a.length > 0 || suites.value.b.length > 0 || suites.value.other !== null)
}
