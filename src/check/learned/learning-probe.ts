import { known } from "../../base/finding.ts"
import type { Clock } from "../../base/outside-world.ts"
import { utcDay } from "../../base/time.ts"
import { classifySuffix, isSameOrSubdomain } from "../address/public-suffix.ts"
import type { ListMatch } from "../lists/list-match.ts"
import { SET_BITS } from "../lists/sets.ts"
import type { MailProbe, MailProbeResult } from "../mail/mail-probe.ts"
import type { MailEvidence } from "../verdict/evidence.ts"
import type { LearnedHosts } from "./learned-hosts.ts"

/** The dependencies of `createLearningProbe`. */
export type LearningProbeDeps = {
  readonly learnedHosts: LearnedHosts
  /** The sets that match a domain or host, given its registrable domain. */
  readonly matchLists: (domain: string, registrable: string) => ListMatch
  readonly clock: Clock
}

/**
 * Wraps a mail probe: it learns which mail hosts serve disposable domains, and sets `operatedBy` to `learned_disposable` for
 * a domain that is in no list, uses such a host, and has no known mail operator. Cached results are not counted again.
 *
 * Poisoning is bounded (`DECISIONS 18`): hosts of known providers and hosts under names of the personal, organisation,
 * education, government and relay sets are never learned; a host under the domain itself is not used to judge it; and one
 * honest domain on a host outweighs four listed ones.
 */
export function createLearningProbe(
  probe: MailProbe,
  { learnedHosts, matchLists, clock }: LearningProbeDeps,
): MailProbe {
  return async (domain, organisational, deadline) => {
    const result = await probe(domain, organisational, deadline)
    if (!result.mail.known) return result
    const host = learnableHost(result.mail.value, organisational, matchLists)
    if (host === null) return result
    const { mask } = matchLists(domain, organisational)
    const today = utcDay(clock())
    if (!result.isCached) learnedHosts.observe(host, organisational, (mask & SET_BITS.disposable) !== 0, today)
    if (mask !== 0 || hasKnownOperator(result) || !learnedHosts.servesDisposable(host, today)) return result
    return { ...result, mail: known({ ...result.mail.value, operatedBy: "learned_disposable" }) }
  }
}

/** Sets of names whose hosts may serve other domains honestly. Their hosts are never learned. */
const TRUSTED_SETS_MASK =
  SET_BITS.personal |
  SET_BITS.organisation |
  SET_BITS.education |
  SET_BITS.education_suffix |
  SET_BITS.government |
  SET_BITS.government_suffix |
  SET_BITS.relay |
  SET_BITS.open_education_suffix |
  SET_BITS.agent_mailbox

/** The key of the most preferred mail host; null: it must not be learned. */
function learnableHost(
  { provider, mx }: MailEvidence,
  organisational: string,
  matchLists: LearningProbeDeps["matchLists"],
): string | null {
  if (provider !== null) return null
  // The most preferred host has no known provider, so a known host before this one is a placeholder.
  const host = mx.find(each => each.provider === null)?.host
  if (host === undefined || isSameOrSubdomain(host, organisational)) return null
  const key = mailHostKey(host)
  if (key === null || (matchLists(host, classifySuffix(host).registrable).mask & TRUSTED_SETS_MASK) !== 0) return null
  return key
}

/** Whether the operator of the mail, or an office suite behind it, is known. */
function hasKnownOperator({ mail, suites }: MailProbeResult): boolean {
  if (mail.known && mail.value.operatedBy !== null) return true
  return (
    suites.known &&
    (suites.value.suiteA.length > 0 || suites.value.suiteB.length > 0 || suites.value.otherSuite !== null)
  )
}

/** Words that describe the role of a mail server and not its owner. */
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

/** A longer word may name a customer; a shorter one is a region or a server number (`eu`, `b`). */
const LOCATION_LENGTH_MAX = 2

/**
 * The name by which servers count as one mail host: the host without leading labels that only distinguish servers (`mx1`,
 * `mail-in-3`), down to its registrable domain. So `mx1.` and `mx2.` of a name are one host, while a customer's
 * `acme.mail.host.example` and a rented `vps-7.host.example` are different hosts. The host is lower case, without a trailing
 * dot. Null: the name cannot exist in public DNS.
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

/** Whether a label has only role words, numbers and short words. */
function isServerLabel(label: string): boolean {
  const words = label.match(/[a-z]+|\d+/g) ?? []
  return (
    words.some(word => SERVER_ROLE_WORDS.has(word)) &&
    words.every(word => SERVER_ROLE_WORDS.has(word) || word.length <= LOCATION_LENGTH_MAX || /^\d/.test(word))
  )
}
