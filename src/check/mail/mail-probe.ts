import type { Deadline } from "../../base/concurrency.ts"
import { type Finding, known, NOT_QUERIED, unknown } from "../../base/finding.ts"
import { lazy } from "../../base/lazy.ts"
import type { Clock } from "../../base/outside-world.ts"
import { isSameOrSubdomain } from "../address/public-suffix.ts"
import { type CacheStatus, createCacheStatusTracker } from "../cache-status.ts"
import { type CachingResolver, type DnsAnswer, txtValues } from "../dns/dns-types.ts"
import { parsePublicAddress } from "../fetch/public-address.ts"
import type { DetectedSuites, MailEvidence } from "../verdict/evidence.ts"
import { ALL_QUESTIONS, areAsked, QUESTIONS } from "../verdict/evidence-need.ts"
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
 *
 * `asked` are the questions that its caller needs (`QUESTIONS`); absent: all. What was not asked about is `not_asked`. If
 * `needsSuites` says so of the mail hosts, suites are asked about all the same; absent: never.
 */
export type MailProbe = (
  domain: string,
  organisationalDomain: string,
  deadline: Deadline,
  asked?: number,
  needsSuites?: NeedsSuites,
) => Promise<MailProbeResult>

/** Whether a suite would change what the mail hosts show. */
export type NeedsSuites = (found: MailHosts, hosts: readonly ResolvedHost[]) => boolean

type MailProbeDeps = {
  readonly resolver: CachingResolver
  /** Resolves the names at and below the domain, whose answers other domains do not need. Absent: `resolver`. */
  readonly resolverOnce?: CachingResolver
  readonly clock: Clock
  /** Whether to ask for a proof that the suite which the MX names is the domain's: a few questions more. Absent: never. */
  readonly needsSuiteProof?: (domain: string, organisationalDomain: string) => boolean
}

/** Builds a mail probe. */
export function createMailProbe({
  resolver,
  resolverOnce = resolver,
  clock,
  needsSuiteProof = () => false,
}: MailProbeDeps): MailProbe {
  return async (domain, organisationalDomain, deadline, asked = ALL_QUESTIONS, needsSuites = () => false) => {
    const tracker = createCacheStatusTracker(clock)
    const resolve: CachingResolver = question =>
      isSameOrSubdomain(question.name, domain) ? resolverOnce(question) : resolver(question)
    const bounded = withinDeadline(resolve, deadline)
    const budget = new QuestionBudget(organisationalDomain)
    const hostsDeadline = deadline.ofPart(HOSTS_TIMEOUT_MS)
    const isProofNeeded = needsSuiteProof(domain, organisationalDomain)
    const question = { domain, organisationalDomain, isProofNeeded, asked, needsSuites }
    const evidence = await queryDomain(question, budget, {
      own: tracker.track(bounded, FAILURE_TTL_MS),
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
  readonly asked: number
  readonly needsSuites: NeedsSuites
}

/** The records at the domain's own name. Null: they were not needed. */
type OwnRecords = { readonly mx: Finding<DnsAnswer> } & {
  readonly [Type in "txt" | "a" | "aaaa"]: Finding<DnsAnswer> | null
}

/**
 * Queries the domain's own records, and the names to which they lead as soon as each answer is there. `hosts` resolves the mail hosts,
 * `linked` all other names to which records lead, and `parents` its parents' DMARC records.
 */
async function queryDomain(
  query: MailQuery,
  budget: QuestionBudget,
  resolvers: { readonly [Part in "own" | "parents" | "hosts" | "linked"]: CachingResolver },
): Promise<Pick<MailProbeResult, "mail" | "suites" | "hosts">> {
  const { domain, organisationalDomain, asked } = query
  const own = queryOwnRecords(query, budget, resolvers.own)
  // Asked before all other linked records, so that its questions are there. The domain may be its own mail host.
  const hostAddresses = own.mailHosts.then(found => {
    const resolve: CachingResolver = question =>
      question.type === "A" && question.name === domain ? own.askAddress() : resolvers.hosts(question)
    return lookupHostAddresses(resolve, found.known ? found.value.accepting : [], budget.hosts)
  })
  const exists = async (): Promise<boolean> => {
    const [mx, txt, { a, aaaa }] = await Promise.all([own.mx, own.txt, own.addresses])
    return nameExists([mx, txt, a, aaaa])
  }
  const linked = own.mailHosts.then(async hosts => {
    if (!areAsked(asked, QUESTIONS.suites) && !(await areSuitesNeeded(query, hosts, hostAddresses)))
      return { spf: NOT_QUERIED, suites: await lookupOtherSuite(resolvers.linked, domain, hosts) }
    const txt = await own.askText()
    const spf = txt.known ? known(selectSpfRecord(txtValues(txt.value))) : txt
    return { spf, suites: await lookupLinkedSuites(resolvers.linked, query, hosts, spf) }
  })
  const [mx, txt, { a, aaaa }, dmarcPolicy, hosts, resolved, { spf, suites: linkedSuites }] = await Promise.all([
    own.mx,
    own.txt,
    own.addresses,
    areAsked(asked, QUESTIONS.records)
      ? lookupDmarcPolicy({ domain, organisationalDomain, exists }, resolvers.own, resolvers.parents)
      : NOT_QUERIED,
    own.mailHosts,
    hostAddresses,
    linked,
    ...own.begun,
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

/**
 * Starts the queries for the domain's own records. What is needed in any case is queried at the same time, the rest once the MX answer
 * shows the need.
 */
function queryOwnRecords({ domain, asked }: MailQuery, budget: QuestionBudget, resolver: CachingResolver) {
  const asksSuites = areAsked(asked, QUESTIONS.suites)
  const asksRecords = areAsked(asked, QUESTIONS.records)
  const mx = resolver({ name: domain, type: "MX" })
  const askText = lazy(() => resolver({ name: domain, type: "TXT" }))
  const askAddress = lazy(() => resolver({ name: domain, type: "A" }))
  // All that is begun gets a handler, should the resolver throw.
  const begun = [asksSuites ? askText() : null, asksRecords ? askAddress() : null]
  const mailHosts = mx.then(answer => {
    if (!answer.known) return answer
    const hosts = parseMailHosts(answer.value.records)
    if (!hosts.acceptsMail) budget.takeAddress()
    return known(hosts)
  })
  const addresses = mailHosts.then(async hosts => {
    if (!hosts.known || hosts.value.acceptsMail) return { a: asksRecords ? await askAddress() : null, aaaa: null }
    const answer = await mx
    const askIpv6 = lazy(() => resolver({ name: domain, type: "AAAA" }))
    // At the same time as A, since an address must not come later to those who ask for none at first. Of a name that MX denies, A that
    // is under way already shows whether AAAA is worth a question.
    if (!hosts.value.isNullMx && !(asksRecords && isNxdomain(answer))) askIpv6().catch(() => null) // it rejects below, too
    const a = await askAddress()
    return { a, aaaa: !hosts.value.isNullMx && needsIpv6Address(answer, a) ? await askIpv6() : null }
  })
  // A broken server may deny a name for one record type only.
  const txt = asksSuites ? askText() : mx.then(answer => (isNxdomain(answer) ? askText() : null))
  return { mx, mailHosts, txt, addresses, askText, askAddress, begun }
}

/** Whether the suites that linked records show are needed, though they are not asked about. */
async function areSuitesNeeded(
  { asked, needsSuites }: Pick<MailQuery, "asked" | "needsSuites">,
  hosts: Finding<MailHosts>,
  hostAddresses: Promise<HostAddresses>,
): Promise<boolean> {
  if (!hosts.known) return false
  const { operatedBy, accepting } = hosts.value
  if (areAsked(asked, QUESTIONS.proof) && isOfSuite(operatedBy)) return true
  // Their names may show it, and then nothing has to wait for their addresses.
  const named = accepting.filter(({ provider }) => provider === null).map(host => ({ ...host, addresses: [] }))
  return needsSuites(hosts.value, named) || needsSuites(hosts.value, (await hostAddresses).hosts)
}

/** Whether it is one of the two suites whose customers are known by further records. */
export const isOfSuite = (operatedBy: MailEvidence["operatedBy"]): operatedBy is "suite_a" | "suite_b" =>
  operatedBy === "suite_a" || operatedBy === "suite_b"

const addressTexts = (finding: Finding<DnsAnswer> | null): readonly string[] =>
  finding?.known ? finding.value.records.flatMap(addressText) : []

/** Domains with consumer mailboxes name the SPF domain of a vendor whose suite they do not use. */
const PERSONAL_PROVIDER_KINDS: readonly MailProviderKind[] = ["consumer", "group"]

/** The suites that show in the records to which mail hosts and SPF record lead. */
async function lookupLinkedSuites(
  resolver: CachingResolver,
  { domain, isProofNeeded }: MailQuery,
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
  const suiteKeys = isProofNeeded && isOfSuite(operatedBy) ? lookupSuiteKeys(resolver, domain, operatedBy) : []
  const spfSuites = record === null ? [] : lookupSpfSuites(resolver, domain, record)
  return (await Promise.all([spfSuites, hiddenSuites, suiteKeys])).flat()
}

/** The other suite that runs the mail at hosts that are also used without it. Nothing else that is linked shows who does. */
async function lookupOtherSuite(
  resolver: CachingResolver,
  domain: string,
  hosts: Finding<MailHosts>,
): Promise<readonly SuiteIndicator[]> {
  if (!hosts.known || hosts.value.provider === null || hosts.value.operatedBy !== null) return []
  return await lookupHiddenSuites(resolver, domain, hosts.value.provider, "other_suite")
}

/** Whether an IPv6 address may be the only one by which mail and visitors reach a domain without a mail host. */
const needsIpv6Address = (mx: Finding<DnsAnswer>, a: Finding<DnsAnswer>): boolean =>
  !hasPublicAddress(a) && !(isNxdomain(mx) && isNxdomain(a))

/** Whether one of the addresses is public: mail and visitors reach no special one (RFC 6890). */
const hasPublicAddress = (finding: Finding<DnsAnswer> | null): boolean =>
  finding?.known === true &&
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
  const addresses = [a, aaaa].filter(finding => finding !== null)
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
