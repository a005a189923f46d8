import type { Deadline } from "../../base/concurrency.ts"
import type { Outage } from "../../base/fault-log.ts"
import type { HeapCollector } from "../../base/heap-collector.ts"
import { defectFields } from "../../base/log.ts"
import { classifySuffix } from "../../check/address/public-suffix.ts"
import type { CachingResolver } from "../../check/dns/dns-types.ts"
import type { DnsSuspicionReason } from "../../check/dns/resolver/circuit-breaker.ts"
import { DNS_REMEDIES, type DnsOutage, faultText } from "../../check/dns/resolver/outage.ts"
import {
  createResolverChain,
  createServerResolver,
  dnsAttemptMs,
  type ResolverChain,
  type ResolverChainStats,
} from "../../check/dns/resolver/resolver-chain.ts"
import type { OnDefect } from "../../check/evidence-defects.ts"
import { createLearningProbe, isSampled, type LearningProbeDeps } from "../../check/learned/learning-probe.ts"
import { createMailProbe, type MailProbeResult } from "../../check/mail/mail-probe.ts"
import {
  createNetworkProbe,
  type NetworkProbe,
  type NetworkQuery,
  offlineNetworkProbe,
} from "../../check/network-evidence.ts"
import { identityUrls } from "../../check/tenant/identity-endpoint.ts"
import { TENANT_PROBE_BOUNDS, TenantProbe, type TenantProbeStats } from "../../check/tenant/tenant-probe.ts"
import { isDnsOff, isDnsServer, parseDnsServer, type Settings } from "../../config/settings.ts"
import { cacheSamples, METRIC_LABELS, type Sample } from "../../contract/metrics.ts"
import type { Meter } from "../../http/metrics/meter.ts"
import { type CheckContext, faultsOf } from "../context.ts"
import type { NetworkCaches } from "./caches.ts"

/** The network look-ups of checks, and their state. */
export type NetworkService = {
  readonly networkProbe: NetworkProbe
  /** Whether DNS gives no trustworthy answers, so that verdicts do not use it. */
  readonly isDnsUnavailable: () => boolean
  /** Sends one DNS query; `null` if DNS is turned off. */
  readonly queryDns: CachingResolver | null
  /** Finds out now whether the servers are dead, as another process of this host has found. */
  readonly suspectDns: (reason: DnsSuspicionReason) => void
  /** State and counters; `null` if DNS is turned off. */
  readonly stats: () => NetworkStats | null
  readonly samples: () => readonly Sample[]
  /** Stops background queries and closes sockets. */
  readonly stop: () => void
}

/** Counters of the network look-ups so far. */
export type NetworkStats = ResolverChainStats & {
  /** `null` if tenants are not looked up. */
  readonly tenantStats: TenantProbeStats | null
}

/** The service where nothing is looked up: the operator turned DNS off. */
export const OFFLINE_NETWORK: NetworkService = {
  networkProbe: offlineNetworkProbe,
  isDnsUnavailable: () => true,
  queryDns: null,
  suspectDns: () => undefined,
  stats: () => null,
  samples: () => [["mailkind_dns_up", 1]],
  stop: () => undefined,
}

/** The service where the system names no DNS server: nothing is looked up, and metrics tell that DNS is away. */
const UNNAMED_NETWORK: NetworkService = { ...OFFLINE_NETWORK, samples: () => [["mailkind_dns_up", 0]] }

/** What look-ups need of the lists, and what was learned of mail hosts; null: nothing is learned. */
export type HostLearning = Omit<LearningProbeDeps, "clock" | "onDefect"> & {
  /** Another value after each change of the lists that `matchLists` reads. Absent: they never change. */
  readonly listsVersion?: () => string
}

type NetworkOptions = {
  /** Absent: evidence is cached as objects. */
  readonly caches?: NetworkCaches
  /** The bound of the DNS cache where `caches` is absent, if it is not the usual one. */
  readonly dnsCacheBytes?: number | undefined
  /** Collects the garbage of look-ups. Absent: the runtime alone does. */
  readonly collector?: HeapCollector
  /** Told of outages of DNS. */
  readonly outages?: DnsOutageLog
  /** Told why the servers count as dead, as soon as they do. */
  readonly onDnsDead?: ((reason: DnsSuspicionReason) => void) | undefined
  /** Absent: defects are logged and not counted. */
  readonly onDefect?: OnDefect
}

/** Wires DNS and tenant look-ups according to the settings. */
export function createNetworkService(
  context: CheckContext,
  learning: HostLearning,
  options: NetworkOptions = {},
): NetworkService {
  const { system, settings } = context
  const { clock, setTimer } = system
  if (isDnsOff(settings)) return OFFLINE_NETWORK
  if (dnsServerNames(context).length === 0) {
    options.outages?.onAvailabilityChange("unnamed")
    return UNNAMED_NETWORK
  }
  const { caches, outages, collector, onDefect = createOnDefect(context) } = options
  const dnsCacheBytes = caches?.dnsCacheBytes ?? options.dnsCacheBytes
  const dns = createChain(context, { ...options, dnsCacheBytes, onDefect })
  const probeMail = createMailLookup(context, { ...learning, onDefect }, dns, failureCounter(dns, outages))
  const tenant = createTenantLookup(context, caches?.tenantsMax)
  const stats = (): NetworkStats => ({ ...dns.stats(), tenantStats: tenant?.stats() ?? null })
  return {
    networkProbe: createNetworkProbe({
      probeMail,
      ...(caches && { cache: caches.cache, cacheApart: caches.cacheApart }),
      probeTenant:
        tenant &&
        (({ domain, organisationalDomain, callerId }, cloud) =>
          tenant.lookup(domain, organisationalDomain, cloud, callerId)),
      ...(learning.learnedHosts !== null && { isSampled }),
      isUnavailable: dns.isUnavailable,
      onDefect,
      ...(learning.listsVersion && { listsVersion: learning.listsVersion }),
      clock,
      setTimer,
      nextTick: system.nextTick,
      ...(collector && { onLookup: collector.countWork }),
      timeoutMs: settings.MAILKIND_CHECK_TIMEOUT_MS,
      queryTimeoutMs: settings.MAILKIND_DNS_TIMEOUT_MS,
    }),
    isDnsUnavailable: dns.isUnavailable,
    queryDns: dns.resolver,
    suspectDns: dns.suspect,
    stats,
    samples: () => networkSamples(dns.isUnavailable(), stats()),
    stop: () => {
      collector?.stop()
      dns.stop()
    },
  }
}

/** What look-ups measure. */
export function networkSamples(
  isDnsUnavailable: boolean,
  { isBreakerOpen, queryCounts, answerCache, tenantStats }: NetworkStats,
): readonly Sample[] {
  const dns: readonly Sample[] = [
    ["mailkind_dns_up", isDnsUnavailable ? 0 : 1],
    ["mailkind_dns_breaker_open", isBreakerOpen ? 1 : 0],
    ...METRIC_LABELS.dns_outcome.map(
      (outcome): Sample => ["mailkind_dns_questions_total", queryCounts[outcome], outcome],
    ),
    ...cacheSamples("dns", answerCache),
  ]
  if (tenantStats === null) return dns
  return [
    ...dns,
    ...METRIC_LABELS.tenant_outcome.map(
      (outcome): Sample => ["mailkind_tenant_lookups_total", tenantStats[outcome], outcome],
    ),
    ["mailkind_tenant_breakers_open", tenantStats.openBreakerCount],
    ...cacheSamples("tenants", tenantStats),
  ]
}

/** Looks mail up through a resolver, and learns from what it finds. `onStart` receives each look-up. */
function createMailLookup(
  { system: { clock } }: CheckContext,
  learning: Omit<LearningProbeDeps, "clock">,
  { ask, askOnce }: Pick<ResolverChain, "ask" | "askOnce">,
  onStart: (lookup: Promise<MailProbeResult>) => void,
) {
  const probe = createMailProbe({
    ask,
    askOnce,
    clock,
    // Only a weak listing is contradicted by a proof.
    needsSuiteProof: (domain, organisational) => learning.matchLists(domain, organisational).strength === "weak",
  })
  const mail = createLearningProbe(probe, { ...learning, clock })
  return ({ domain, organisationalDomain, asked }: NetworkQuery, deadline: Deadline): Promise<MailProbeResult> => {
    const lookup = mail(domain, organisationalDomain, deadline, asked)
    onStart(lookup)
    return lookup
  }
}

/** Counts look-ups that start while DNS is of no use and find nothing. */
function failureCounter({ isUnavailable }: ResolverChain, outages: DnsOutageLog | undefined) {
  return (lookup: Promise<MailProbeResult>): void => {
    if (outages === undefined || !isUnavailable()) return
    lookup.then(
      ({ mail }) => {
        if (!mail.known) outages.countFailure()
      },
      () => undefined,
    )
  }
}

function createTenantLookup(
  { system: { fetchUrl, clock, setTimer }, settings }: CheckContext,
  entriesMax = TENANT_PROBE_BOUNDS.cache.entriesMax,
) {
  const bounds = { ...TENANT_PROBE_BOUNDS, cache: { ...TENANT_PROBE_BOUNDS.cache, entriesMax } }
  const operatorUrl = settings.MAILKIND_IDENTITY_URL
  return operatorUrl === "off" || settings.MAILKIND_OUTSIDE === "off"
    ? null
    : new TenantProbe({ fetchUrl, urls: identityUrls(operatorUrl), clock, setTimer }, bounds)
}

/** The resolver of the settings, which opens no socket before its first question; null: DNS is turned off. */
export function createLazyResolver(context: CheckContext): {
  readonly resolver: CachingResolver | null
  readonly stop: () => void
} {
  if (dnsServerNames(context).length === 0) return { resolver: null, stop: () => undefined }
  const state: { chain: ResolverChain | null } = { chain: null }
  return {
    resolver: question => {
      state.chain ??= createChain(context)
      return state.chain.resolver(question)
    },
    stop: () => state.chain?.stop(),
  }
}

const createChain = (
  context: CheckContext,
  { dnsCacheBytes, outages, onDnsDead, onDefect = createOnDefect(context) }: NetworkOptions = {},
): ResolverChain =>
  createResolverChain({
    ...context.system,
    ...resolverSettings(context.settings),
    servers: dnsServerNames(context).map(parseDnsServer),
    registrableOf: name => classifySuffix(name).registrable,
    onDefect: error => onDefect("dns", error),
    ...(dnsCacheBytes !== undefined && { dnsCacheBytes }),
    ...(onDnsDead !== undefined && { onOpen: onDnsDead }),
    ...(outages !== undefined && { onAvailabilityChange: outages.onAvailabilityChange }),
  })

/** A resolver for each single DNS server of the settings, and the canaries. `close` closes their sockets. */
export function createServerResolvers(context: CheckContext) {
  const { timeoutMs, canaries } = resolverSettings(context.settings)
  const servers = dnsServerNames(context).map(name => ({
    name,
    ...createServerResolver(parseDnsServer(name), { ...context.system, timeoutMs }),
  }))
  return {
    servers: servers.map(({ name, resolver, faults }) => ({ name, resolver, faults })),
    canaries,
    attemptMs: dnsAttemptMs(timeoutMs),
    close: () => {
      for (const { close } of servers) close()
    },
  }
}

const resolverSettings = ({ MAILKIND_DNS_TIMEOUT_MS, MAILKIND_DNS_CANARIES }: Settings) => ({
  timeoutMs: MAILKIND_DNS_TIMEOUT_MS,
  canaries: MAILKIND_DNS_CANARIES.filter(name => name !== "off"),
})

/** The DNS servers of the settings, or those of the system; none: they are off. */
function dnsServerNames({ system, settings }: CheckContext): readonly string[] {
  const { MAILKIND_DNS_SERVERS: names } = settings
  if (isDnsOff(settings)) return []
  return names.length > 0 ? names : system.systemDnsServers().filter(isDnsServer)
}

/** The address and port of each DNS server that is asked. */
export const dnsServerPlaces = (context: CheckContext): readonly string[] =>
  dnsServerNames(context).map(name => {
    const { address, port } = parseDnsServer(name)
    return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`
  })

/** Logs each defect in reading evidence as a fault of its kind, and counts it. */
export const createOnDefect =
  ({ log }: Pick<CheckContext, "log">, meter?: Meter): OnDefect =>
  (kind, error) => {
    meter?.increment("mailkind_evidence_defects_total", 1, kind)
    log("error", "evidence was not read", { fault: `defect_${kind}`, ...defectFields(error) })
  }

/** What tells an operator of outages of DNS. */
export type DnsOutageLog = {
  readonly onAvailabilityChange: (outage: DnsOutage | "unnamed" | null) => void
  /** A domain had no evidence while DNS was of no use. */
  readonly countFailure: () => void
}

/** Logs when DNS begins to be of no use and when it is of use again, with the number of domains that had no evidence. */
export function createDnsOutageLog(context: CheckContext, servers: () => readonly string[]): DnsOutageLog {
  const faults = faultsOf(context)
  const tell = faults.outages("warn", "DNS does not answer", "DNS answers again")
  let fault = ""
  const describe = (outage: DnsOutage | "unnamed"): Outage => {
    if (outage === "unnamed") return { fault, where: "/etc/resolv.conf", why: NO_SERVER, remedy: DNS_REMEDIES.unnamed }
    const places = servers()
    const why = outage.faults.map((found, at) => `${places[at]} ${faultText(outage.kind, found)}`).join("; ")
    return { fault, where: places.join(", "), why, remedy: DNS_REMEDIES[outage.kind] }
  }
  return {
    onAvailabilityChange: outage => {
      fault = outage === null ? "" : `dns_${outage === "unnamed" ? outage : outage.kind}`
      tell(outage && describe(outage))
    },
    countFailure: () => faults.countTask(fault),
  }
}

const NO_SERVER = "MAILKIND_DNS_SERVERS is not set, and the system names no DNS server."
