import { known } from "../../base/finding.ts"
import type { Clock } from "../../base/outside-world.ts"
import { utcDay } from "../../base/time.ts"
import { classifySuffix, isSameOrSubdomain } from "../address/public-suffix.ts"
import { IGNORE_DEFECTS, type OnDefect, readEvidence } from "../evidence-defects.ts"
import type { ListMatch } from "../lists/list-match.ts"
import { SET_BITS } from "../lists/sets.ts"
import type { ResolvedHost } from "../mail/host-addresses.ts"
import type { MailHosts } from "../mail/mail-hosts.ts"
import type { MailProbe, MailProbeResult } from "../mail/mail-probe.ts"
import { isSharedAddress } from "./address-network.ts"
import { hashDomain, type LearnedHosts, type MailPlaces } from "./learned-hosts.ts"
import { mailHostKey } from "./mail-host-key.ts"

/** The dependencies of `createLearningProbe`. */
export type LearningProbeDeps = {
  /** Null: nothing is learned, and mail hosts are judged by the lists alone. */
  readonly learnedHosts: LearnedHosts | null
  /** The sets that match a domain or host, given its registrable domain. */
  readonly matchLists: (domain: string, registrable: string) => ListMatch
  readonly clock: Clock
  /** Absent: defects are not reported. */
  readonly onDefect?: OnDefect
}

/** Of so many names which the lists decide, the mail hosts of one are looked up for what they teach. */
const SAMPLED_ONE_IN = 8

/** Whether the mail hosts of a name which the lists decide are looked up: a fair sample, the same in each process. */
export const isSampled = (organisationalDomain: string): boolean =>
  hashDomain(organisationalDomain) % SAMPLED_ONE_IN === 0

/** How many addresses of a domain's mail hosts are read, those of the first host first. */
export const ADDRESSES_LEARNED_MAX = 4

/**
 * Wraps a mail probe: it learns which mail hosts and addresses serve disposable domains, and sets `operatedBy` to
 * `learned_disposable` for a domain that is in no list but that of free suffixes, has its mail there or at a host under a disposable
 * name, and has no known mail operator. Cached results are not counted again. A defect leaves the result as it was probed.
 *
 * Poisoning is bounded (`DECISIONS 65`): hosts of known providers, hosts under names of the personal, organisation, education,
 * government and relay sets, and addresses of shared networks are never learned; a host under the domain's own name counts by its
 * address alone; and one honest domain at a place outweighs eighteen listed ones.
 */
export function createLearningProbe(
  probe: MailProbe,
  { onDefect = IGNORE_DEFECTS, ...deps }: LearningProbeDeps,
): MailProbe {
  const judge = (result: MailProbeResult, names: JudgedNames) => withLearned(result, names, deps)
  return (domain, organisational, deadline, asked) => {
    const names = { domain, organisational }
    const mayBeLearned = (found: FoundHosts): boolean => maySuiteDecide(found, names, deps)
    // A suite that shows behind the hosts keeps them from counting as learned.
    const needsSuites = (found: MailHosts, hosts: readonly ResolvedHost[]): boolean =>
      readEvidence("learned", onDefect, true, mayBeLearned, { ...found, hosts }, null) === true
    return probe(domain, organisational, deadline, asked, needsSuites).then(result =>
      readEvidence("learned", onDefect, result, judge, result, names),
    )
  }
}

type JudgedNames = { readonly domain: string; readonly organisational: string }

/** The mail hosts of a domain, and who runs them as far as their names tell. */
type FoundHosts = Pick<MailHosts, "provider" | "operatedBy"> & Pick<MailProbeResult, "hosts">

/** Whether the hosts serve disposable domains by what was learned or by their names, if no suite shows behind them. */
function maySuiteDecide(
  { provider, operatedBy, hosts: found }: FoundHosts,
  { domain, organisational }: JudgedNames,
  { learnedHosts, matchLists, clock }: Omit<LearningProbeDeps, "onDefect">,
): boolean {
  const hosts = provider === null && operatedBy === null ? judgedHosts(found, matchLists) : []
  if (hosts.length === 0 || (matchLists(domain, organisational).mask & ~SET_BITS.free_subdomain) !== 0) return false
  const places = learnablePlaces(hosts, organisational)
  const isLearned = places !== null && learnedHosts?.servesDisposable(organisational, places, utcDay(clock())) === true
  return isLearned || hosts.some(({ host }) => isDisposableHost(host, matchLists))
}

function withLearned(
  result: MailProbeResult,
  { domain, organisational }: JudgedNames,
  { learnedHosts, matchLists, clock }: Omit<LearningProbeDeps, "onDefect">,
): MailProbeResult {
  const hosts = result.mail.known && result.mail.value.provider === null ? judgedHosts(result.hosts, matchLists) : []
  if (!result.mail.known || hosts.length === 0) return result
  const places = learnablePlaces(hosts, organisational)
  const { mask } = matchLists(domain, organisational)
  const today = utcDay(clock())
  const isListed = (mask & SET_BITS.disposable) !== 0
  // A listing of a name below it says nothing of the registrable domain.
  const isOfDomain = !isListed || matchLists(organisational, organisational).has("disposable")
  if (places !== null && !result.isCached && isOfDomain) learnedHosts?.observe(organisational, places, isListed, today)
  if ((mask & ~SET_BITS.free_subdomain) !== 0 || hasKnownOperator(result)) return result
  const isLearned = places !== null && learnedHosts?.servesDisposable(organisational, places, today) === true
  if (!isLearned && !hosts.some(({ host }) => isDisposableHost(host, matchLists))) return result
  return { ...result, mail: known({ ...result.mail.value, operatedBy: "learned_disposable" }) }
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

/** The most preferred hosts; none if one of them stands under a name of a trusted set. */
function judgedHosts(
  hosts: readonly ResolvedHost[],
  matchLists: LearningProbeDeps["matchLists"],
): readonly ResolvedHost[] {
  const preferred = hosts.filter(({ priority }) => priority === hosts[0]?.priority)
  return preferred.some(({ host }) => isTrusted(host, matchLists)) ? [] : preferred
}

/** Where the mail is received by the most preferred hosts; null: nothing of it must be learned. */
function learnablePlaces(preferred: readonly ResolvedHost[], organisational: string): MailPlaces | null {
  const all = preferred.flatMap(({ addresses }) => addresses)
  const addresses = all.slice(0, ADDRESSES_LEARNED_MAX).filter(address => !isSharedAddress(address))
  const foreign = preferred.find(({ host }) => !isSameOrSubdomain(host, organisational))
  const isShared = addresses.length < Math.min(all.length, ADDRESSES_LEARNED_MAX)
  const host = foreign === undefined || isShared ? null : mailHostKey(foreign.host)
  return host === null && addresses.length === 0 ? null : { host, addresses }
}

/**
 * Whether the host stands under a name that more than aggregators call disposable: a disposable service receives the mail of its further
 * domains at hosts of its first one.
 */
function isDisposableHost(host: string, matchLists: LearningProbeDeps["matchLists"]): boolean {
  const match = matchLists(host, classifySuffix(host).registrable)
  return match.has("disposable") && match.strength !== "weak"
}

const isTrusted = (host: string, matchLists: LearningProbeDeps["matchLists"]): boolean =>
  (matchLists(host, classifySuffix(host).registrable).mask & TRUSTED_SETS_MASK) !== 0

/** Whether the operator of the mail, or an office suite behind it, is known. */
function hasKnownOperator({ mail, suites }: MailProbeResult): boolean {
  if (mail.known && mail.value.operatedBy !== null) return true
  return (
    suites.known &&
    (suites.value.suiteA.length > 0 || suites.value.suiteB.length > 0 || suites.value.otherSuite !== null)
  )
}
