import type { Deadline } from "../../base/concurrency.ts"
import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Clock } from "../../base/outside-world.ts"
import { type CacheStatus, createCacheStatusTracker } from "../cache-status.ts"
import { type CachingResolver, type DnsAnswer, txtValues } from "../dns/dns-types.ts"
import { parsePublicAddress } from "../fetch/public-address.ts"
import type { DetectedSuites, MailEvidence } from "../verdict/evidence.ts"
import { isDisposableAddress } from "./disposable-addresses.ts"
import { lookupDmarcPolicy } from "./dmarc.ts"
import {
  addressText,
  HOSTS_TIMEOUT_MS,
  type HostAddresses,
  lookupHostAddresses,
  publicAddresses,
  type ResolvedHost,
} from "./host-addresses.ts"
import { type MailHosts, parseMailHosts } from "./mail-hosts.ts"
import type { MailOperator, MailProviderKind } from "./mail-providers.ts"
import { QuestionBudget } from "./question-budget.ts"
import { lookupSpfSuites, selectSpfRecord } from "./spf.ts"
import { detectSuites, lookupHiddenSuites, lookupSuiteKeys, type SuiteIndicator } from "./suite-indicators.ts"

/** What DNS tells about a domain's mail. */
export type MailProbeResult = CacheStatus & {
  readonly mail: Finding<MailEvidence>
  readonly suites: Finding<DetectedSuites>
  /** The mail hosts of no known provider whose addresses were looked up, the most preferred first. */
  readonly hosts: readonly ResolvedHost[]
}

/**
 * Looks up a domain's mail records. `organisationalDomain` is the registrable domain; it may be the domain itself. Both are
 * A-labels, lower case, without a trailing dot. At the deadline, the records that are there make the result. It asks at most
 * `QUESTIONS_MAX` DNS questions, of which at most `HOST_QUESTIONS_MAX` are about the addresses of mail hosts, and at most
 * `FOREIGN_QUESTIONS_MAX` about other names outside the organisational domain; and besides at most `DMARC_QUESTIONS_MAX` less one
 * about the DMARC records of parents. It never rejects.
 */
export type MailProbe = (domain: string, organisationalDomain: string, deadline: Deadline) => Promise<MailProbeResult>

type MailProbeDeps = {
  readonly resolver: CachingResolver
  readonly clock: Clock
  /** Whether to ask for a proof that the suite which the MX names is the domain's: a few questions more. Absent: never. */
  readonly needsSuiteProof?: (domain: string, organisationalDomain: string) => boolean
}

/** Builds a mail probe. */
export function createMailProbe({ resolver, clock, needsSuiteProof = () => false }: MailProbeDeps): MailProbe {
  return async (domain, organisationalDomain, deadline) => {
    const tracker = createCacheStatusTracker(clock)
    const bounded = withinDeadline(resolver, deadline)
    const budget = new QuestionBudget(organisationalDomain)
    const hostsDeadline = deadline.ofPart(HOSTS_TIMEOUT_MS)
    const question = { domain, organisationalDomain, isProofNeeded: needsSuiteProof(domain, organisationalDomain) }
    const evidence = await queryDomain(question, budget, {
      own: budget.count(tracker.track(bounded, FAILURE_TTL_MS)),
      // Not counted: the tree walk has a bound of its own, and a long name must not use up the share of what is linked.
      parents: tracker.trackOptional(bounded, LINKED_FAILURE_TTL_MS),
      hosts: tracker.trackOptional(withinDeadline(bounded, hostsDeadline), LINKED_FAILURE_TTL_MS),
      // A question that is not asked is no failure, and must not make the result short-lived: the tracker is inside the limit.
      linked: budget.limit(tracker.track(bounded, LINKED_FAILURE_TTL_MS)),
    })
    hostsDeadline.cancel()
    return { ...evidence, ...tracker.status() }
  }
}

/** How long a failed query for the domain's own records makes the result fresh. */
const FAILURE_TTL_MS = 1000

/**
 * The same for queries to which its records lead, and for its parents' DMARC records: a dead include matters little, and must not
 * make a good result short-lived.
 */
const LINKED_FAILURE_TTL_MS = 5000

/**
 * Until the deadline, resolves as `resolver` does; from then on every question is `timed_out` at once, pending ones too. A resolver
 * that throws rejects: the questions of a check are asked side by side, and an exception would leave the others without a handler.
 */
export function withinDeadline(resolver: CachingResolver, deadline: Deadline): CachingResolver {
  return question => {
    if (deadline.isExpired) return Promise.resolve(TIMED_OUT)
    try {
      return deadline.wait(resolver(question), TIMED_OUT)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}

const TIMED_OUT: Finding<never> = unknown("timed_out")

type MailQuery = {
  readonly domain: string
  readonly organisationalDomain: string
  readonly isProofNeeded: boolean
}

/** The records at the domain's own name. `aaaa` is null if it was not needed. */
type OwnRecords = { readonly [Type in "mx" | "txt" | "a"]: Finding<DnsAnswer> } & {
  readonly aaaa: Finding<DnsAnswer> | null
}

/**
 * Queries the domain's own records at the same time, and the names to which they lead as soon as each answer is there.
 * Of the latter `hosts` resolves the mail hosts, and `linked` all others. `parents` resolves its parents' DMARC records.
 */
async function queryDomain(
  { domain, organisationalDomain, isProofNeeded }: MailQuery,
  budget: QuestionBudget,
  resolvers: { readonly [Part in "own" | "parents" | "hosts" | "linked"]: CachingResolver },
): Promise<Pick<MailProbeResult, "mail" | "suites" | "hosts">> {
  const resolver = resolvers.own
  const mxQuery = resolver({ name: domain, type: "MX" })
  const txtQuery = resolver({ name: domain, type: "TXT" })
  const mailHosts = mxQuery.then(mx => (mx.known ? known(parseMailHosts(mx.value.records)) : mx))
  const aQuery = resolver({ name: domain, type: "A" })
  // Asked before all other linked records, so that its questions are there. The domain may be its own mail host.
  const hostAddresses = mailHosts.then(found => {
    const resolve: CachingResolver = question =>
      question.type === "A" && question.name === domain ? aQuery : resolvers.hosts(question)
    return lookupHostAddresses(resolve, found.known ? found.value.accepting : [], budget.hosts)
  })
  // Few domains have neither a mail host nor an IPv4 address. To query AAAA only for those saves a fifth of all queries, and
  // costs them one more round trip.
  const aaaaQuery = Promise.all([mxQuery, mailHosts, aQuery]).then(([mx, hosts, a]) =>
    needsIpv6Address(mx, hosts, a) ? resolver({ name: domain, type: "AAAA" }) : null,
  )
  const exists = async (): Promise<boolean> => nameExists(await Promise.all([mxQuery, txtQuery, aQuery, aaaaQuery]))
  const linked = Promise.all([mailHosts, txtQuery]).then(async ([hosts, txt]) => {
    const spf = txt.known ? known(selectSpfRecord(txtValues(txt.value))) : txt
    return { spf, suites: await lookupLinkedSuites(resolvers.linked, { domain, isProofNeeded }, hosts, spf) }
  })
  const [mx, txt, a, aaaa, dmarcPolicy, hosts, resolved, { spf, suites: linkedSuites }] = await Promise.all([
    mxQuery,
    txtQuery,
    aQuery,
    aaaaQuery,
    lookupDmarcPolicy({ domain, organisationalDomain, exists }, resolver, resolvers.parents),
    mailHosts,
    hostAddresses,
    linked,
  ])
  if (!hosts.known) return { mail: hosts, suites: hosts, hosts: [] }
  const records = { mx, txt, a, aaaa }
  const operatedBy = operatorOf(hosts.value, records, resolved, linkedSuites)
  const otherSuite = operatedBy === "other_suite" ? (hosts.value.provider?.key ?? null) : null
  const policies = { isUnreachable: resolved.areUnreachable, spf, dmarcPolicy }
  return {
    mail: mailEvidence(records, { ...hosts.value, operatedBy }, policies),
    suites: known(detectSuites([...hosts.value.indicators, ...linkedSuites], otherSuite)),
    hosts: resolved.hosts,
  }
}

/** Who operates the mail: an address that serves disposable domains shows it, else the names of the hosts, else linked records. */
function operatorOf(
  { acceptsMail, operatedBy }: MailHosts,
  { a, aaaa }: OwnRecords,
  { hosts }: HostAddresses,
  linkedSuites: readonly SuiteIndicator[],
): MailOperator | null {
  // Without a mail host the domain itself is one (RFC 5321 §5.1).
  const addresses = acceptsMail
    ? hosts.flatMap(host => host.addresses)
    : publicAddresses([a, aaaa].flatMap(addressTexts))
  if (addresses.some(isDisposableAddress)) return "disposable"
  return operatedBy ?? linkedSuites.find(({ operator }) => operator === "other_suite")?.operator ?? null
}

const addressTexts = (finding: Finding<DnsAnswer> | null): readonly string[] =>
  finding?.known ? finding.value.records.flatMap(addressText) : []

/** Domains with consumer mailboxes name the SPF domain of a vendor whose suite they do not use. */
const PERSONAL_PROVIDER_KINDS: readonly MailProviderKind[] = ["consumer", "group"]

/** The suites that show in the records to which mail hosts and SPF record lead. */
async function lookupLinkedSuites(
  resolver: CachingResolver,
  { domain, isProofNeeded }: Pick<MailQuery, "domain" | "isProofNeeded">,
  hosts: Finding<MailHosts>,
  spf: MailEvidence["spf"],
): Promise<readonly SuiteIndicator[]> {
  if (!hosts.known) return []
  const { provider, operatedBy } = hosts.value
  const isPersonal = provider !== null && PERSONAL_PROVIDER_KINDS.includes(provider.kind)
  const record = spf.known && !isPersonal ? spf.value : null
  // Asked about first: these questions are few and about the domain itself, and a long SPF record must not use up their share.
  const hiddenSuites =
    provider === null || operatedBy === "disposable" ? [] : lookupHiddenSuites(resolver, domain, provider)
  const isOfSuite = operatedBy === "suite_a" || operatedBy === "suite_b"
  const suiteKeys = isProofNeeded && isOfSuite ? lookupSuiteKeys(resolver, domain, operatedBy) : []
  const spfSuites = record === null ? [] : lookupSpfSuites(resolver, domain, record)
  return (await Promise.all([spfSuites, hiddenSuites, suiteKeys])).flat()
}

/** Whether an IPv6 address may be the only one by which mail and visitors reach the domain. */
function needsIpv6Address(mx: Finding<DnsAnswer>, hosts: Finding<MailHosts>, a: Finding<DnsAnswer>): boolean {
  if (!hosts.known || hosts.value.acceptsMail || hosts.value.isNullMx) return false
  if (hasPublicAddress(a)) return false
  return !(isNxdomain(mx) && isNxdomain(a))
}

/** Whether one of the addresses is public: mail and visitors reach no special one (RFC 6890). */
const hasPublicAddress = (finding: Finding<DnsAnswer>): boolean =>
  finding.known &&
  finding.value.records.some(record => "address" in record && parsePublicAddress(record.address) !== null)

/** Whether any answer knows the name. A broken server may deny it for one record type only. */
const nameExists = (answers: readonly (Finding<DnsAnswer> | null)[]): boolean =>
  answers.some(answer => answer?.known === true && answer.value.outcome !== "no_name")

const isNxdomain = (finding: Finding<DnsAnswer>): boolean => finding.known && finding.value.outcome === "no_name"

function mailEvidence(
  { mx, txt, a, aaaa }: OwnRecords,
  hosts: MailHosts,
  others: Pick<MailEvidence, "isUnreachable" | "spf" | "dmarcPolicy">,
): Finding<MailEvidence> {
  const { acceptsMail, isNullMx, hasNoHost, provider, operatedBy } = hosts
  const addresses = aaaa === null ? [a] : [a, aaaa]
  const hasAddress = addresses.some(hasPublicAddress)
  const failedAddress = addresses.find(finding => !finding.known)
  // Without an MX record the address decides, and an address whose query failed may exist.
  if (!acceptsMail && !isNullMx && !hasNoHost && !hasAddress && failedAddress !== undefined && !failedAddress.known)
    return failedAddress
  return known({
    exists: nameExists([mx, txt, ...addresses]),
    delivery: deliveryOf(hosts, hasAddress),
    hasAddress,
    mx: hosts.mx,
    provider: provider?.key ?? null,
    operatedBy,
    ...others,
  })
}

function deliveryOf({ acceptsMail, isNullMx, hasNoHost }: MailHosts, hasAddress: boolean): MailEvidence["delivery"] {
  if (acceptsMail) return "mx"
  if (isNullMx) return "null_mx"
  // The address record stands in for missing MX records, and not for wrong ones (RFC 5321 §5.1).
  if (hasNoHost) return "none"
  return hasAddress ? "implicit" : "none"
}
