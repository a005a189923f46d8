import { known } from "../../base/finding.ts"
import type { Clock } from "../../base/outside-world.ts"
import { utcDay } from "../../base/time.ts"
import { classifySuffix, isSameOrSubdomain } from "../address/public-suffix.ts"
import type { ListMatch } from "../lists/list-match.ts"
import { SET_BITS } from "../lists/sets.ts"
import type { MailProbe, MailProbeResult } from "../mail/mail-probe.ts"
import type { MailEvidence } from "../verdict/evidence.ts"
import type { LearnedHosts } from "./learned-hosts.ts"

/** What mail hosts are learned by. */
export type LearningProbeDeps = {
  readonly learnedHosts: LearnedHosts
  /** What the lists in use say of a domain or host, given its registrable domain. */
  readonly matchLists: (domain: string, registrable: string) => ListMatch
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
export function createLearningProbe(
  probe: MailProbe,
  { learnedHosts, matchLists, clock }: LearningProbeDeps,
): MailProbe {
  return async (domain, organisational, budget) => {
    const found = await probe(domain, organisational, budget)
    if (!found.mail.known) return found
    const host = learnableHost(found.mail.value, organisational, matchLists)
    if (host === null) return found
    const { mask } = matchLists(domain, organisational)
    const today = utcDay(clock())
    if (!found.isCached) learnedHosts.observe(host, organisational, (mask & SET_BITS.disposable) !== 0, today)
    if (mask !== 0 || hasKnownOperator(found) || !learnedHosts.servesDisposable(host, today)) return found
    return { ...found, mail: known({ ...found.mail.value, operatedBy: "learned_disposable" }) }
  }
}

/** Sets whose names have hosts that serve others honestly, or have nothing to hide. */
const TRUSTED_SETS_MASK =
  SET_BITS.personal |
  SET_BITS.organisation |
  SET_BITS.education |
  SET_BITS.education_suffix |
  SET_BITS.government |
  SET_BITS.government_suffix |
  SET_BITS.relay

/** The key of the most preferred host that takes the mail; null: it is none of those that are learned. */
function learnableHost(
  { provider, mx }: MailEvidence,
  organisational: string,
  listed: LearningProbeDeps["matchLists"],
): string | null {
  if (provider !== null) return null
  // Nobody we know is most preferred, and a placeholder is somebody we know.
  const host = mx.find(each => each.provider === null)?.host
  if (host === undefined || isSameOrSubdomain(host, organisational)) return null
  const key = mailHostKey(host)
  if (key === null || (listed(host, classifySuffix(host).registrable).mask & TRUSTED_SETS_MASK) !== 0) return null
  return key
}

/** Whether anything else is known of who runs the mail, or of a suite behind it. */
function hasKnownOperator({ mail, suites }: MailProbeResult): boolean {
  if (mail.known && mail.value.operatedBy !== null) return true
  return (
    suites.known &&
    (suites.value.suiteA.length > 0 || suites.value.suiteB.length > 0 || suites.value.otherSuite !== null)
  )
}

/** Words that say what a mail host is for, and not whose it is. */
const SERVER_ROLE_WORDS: ReadonlySet<string> = new Set([
  "alt",
  "backup",
  "email",
  "fallback",
  "gateway",
  "gw",
  "imap",
  "in",
  "inbound",
  "incoming",
  "mail",
  "mailer",
  "mailgate",
  "mailgw",
  "mailhost",
  "mailin",
  "mailserver",
  "mta",
  "mx",
  "mxa",
  "mxb",
  "mxin",
  "pop",
  "post",
  "primary",
  "relay",
  "secondary",
  "smtp",
  "smtpin",
])

/** A region or a place in a row (`eu`, `b`): too short to name a customer. */
const LOCATION_LENGTH_MAX = 2

/**
 * What counts as one mail host: the name without the leading labels that only tell one of several servers from the
 * others (`mx1`, `mail-in-3`), down to its registrable domain. So `mx1.` and `mx2.` of a name are one host, a customer's
 * own `acme.mail.host.example` and a rented machine's `vps-7.host.example` are hosts of their own. The host is lower case,
 * without a trailing dot. Null: it is no name that could exist in public DNS.
 */
export function mailHostKey(host: string): string | null {
  const { fault, registrable } = classifySuffix(host)
  if (fault !== null) return null
  let key = host
  while (key.length > registrable.length) {
    const dot = key.indexOf(".")
    if (!isServerLabel(key.slice(0, dot))) break
    key = key.slice(dot + 1)
  }
  return key
}

/** Whether a label says nothing but what the host is for and which of several it is. */
function isServerLabel(label: string): boolean {
  const words = label.match(/[a-z]+|\d+/g) ?? []
  return (
    words.some(word => SERVER_ROLE_WORDS.has(word)) &&
    words.every(word => SERVER_ROLE_WORDS.has(word) || word.length <= LOCATION_LENGTH_MAX || /^\d/.test(word))
  )
}
