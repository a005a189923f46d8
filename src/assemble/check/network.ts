import type { CachingResolver } from "../../check/dns/dns-types.ts"
import { createCanaryGuard } from "../../check/dns/resolver/canary-guard.ts"
import { createDnsCircuitBreaker } from "../../check/dns/resolver/circuit-breaker.ts"
import { withCnameChasing } from "../../check/dns/resolver/cname-chaser.ts"
import { withConcurrencyLimit } from "../../check/dns/resolver/concurrency-limit.ts"
import { createDnsCache, type DnsCacheStats } from "../../check/dns/resolver/dns-cache.ts"
import { createFailover } from "../../check/dns/resolver/failover.ts"
import { createInstrumentedResolver, type DnsOutcomeCounts } from "../../check/dns/resolver/instrumented-resolver.ts"
import { withSingleFlight } from "../../check/dns/resolver/single-flight.ts"
import { createUdpExchange } from "../../check/dns/wire/udp-exchange.ts"
import { createLearningProbe, type LearningProbeDeps } from "../../check/learned/learning-probe.ts"
import { createMailProbe } from "../../check/mail/mail-probe.ts"
import { createNetworkProbe, type NetworkProbe, offlineNetworkProbe } from "../../check/network-evidence.ts"
import { identityUrls } from "../../check/tenant/identity-endpoint.ts"
import { createTenantProbe, TENANT_PROBE_BOUNDS, type TenantProbeStats } from "../../check/tenant/tenant-probe.ts"
import { isDnsServer, parseDnsServer, type Settings } from "../../config/settings.ts"
import type { System } from "../../system/system.ts"

/** How often one DNS query is sent within its timeout. */
const DNS_ATTEMPTS_MAX = 3
/** How many DNS queries are in flight: more would overflow socket buffers, which looks like timeouts. */
const DNS_IN_FLIGHT_MAX = 1_000
/** How many more wait. The queries of a check that has timed out are still sent, for the next check. */
const DNS_WAITING_MAX = 20_000
/** A query that every resolver can answer: the servers of the root (RFC 8109). Used when there is no canary. */
export const ROOT_QUESTION = { name: "", type: "NS" } as const

/** The network look-ups of checks, and their state. */
export type NetworkService = {
  readonly networkProbe: NetworkProbe
  /** Whether DNS gives no trustworthy answers, so that verdicts do not use it. */
  readonly isDnsUnavailable: () => boolean
  /** Sends one DNS query; `null` if DNS is turned off. */
  readonly queryDns: CachingResolver | null
  /** State and counters; `null` if DNS is turned off. */
  readonly stats: () => NetworkStats | null
  /** Stops background queries and closes sockets. */
  readonly stop: () => void
}

/** Counters of the network look-ups so far. */
export type NetworkStats = {
  readonly isBreakerOpen: boolean
  readonly queryCounts: DnsOutcomeCounts
  readonly answerCache: DnsCacheStats
  /** `null` if tenants are not looked up. */
  readonly tenantStats: TenantProbeStats | null
}

/** The service of an operator who turned DNS off: nothing is looked up. */
export const OFFLINE_NETWORK: NetworkService = {
  networkProbe: offlineNetworkProbe,
  isDnsUnavailable: () => true,
  queryDns: null,
  stats: () => null,
  stop: () => undefined,
}

/** What learning of mail hosts needs: the hosts and the active lists. */
export type HostLearning = Omit<LearningProbeDeps, "clock">

/** Wires DNS and tenant look-ups according to the settings. Without `learning`, mail hosts are not learned. */
export function createNetworkService(
  system: System,
  settings: Settings,
  learning: HostLearning | null = null,
): NetworkService {
  const { clock, setTimer } = system
  const servers = dnsServerNames(system, settings)
  if (servers.length === 0) return OFFLINE_NETWORK
  const dns = createResolverChain(system, settings, servers)
  const probe = createMailProbe({ resolver: dns.resolver, clock })
  const mail = learning === null ? probe : createLearningProbe(probe, { ...learning, clock })
  const tenant = createTenantLookup(system, settings)
  return {
    networkProbe: createNetworkProbe({
      probeMail: ({ domain, organisationalDomain }, budget) => mail(domain, organisationalDomain, budget),
      probeTenant:
        tenant && (({ domain, organisationalDomain }, cloud) => tenant.lookup(domain, organisationalDomain, cloud)),
      isUnavailable: dns.isUnavailable,
      clock,
      setTimer,
      timeoutMs: settings.MAILKIND_CHECK_TIMEOUT_MS,
    }),
    isDnsUnavailable: dns.isUnavailable,
    queryDns: dns.resolver,
    stats: () => ({ ...dns.stats(), tenantStats: tenant?.stats() ?? null }),
    stop: dns.stop,
  }
}

function createTenantLookup({ fetchUrl, clock, setTimer }: System, { MAILKIND_IDENTITY_URL: operatorUrl }: Settings) {
  return operatorUrl === "off"
    ? null
    : createTenantProbe({ fetchUrl, urls: identityUrls(operatorUrl), clock, setTimer }, TENANT_PROBE_BOUNDS)
}

/** The chain of resolvers, from the packets outwards. Each wrapper's position has its reason beside it. */
function createResolverChain(system: System, settings: Settings, servers: readonly string[]) {
  const { clock, setTimer, stopwatch, random } = system
  const timeoutMs = settings.MAILKIND_DNS_TIMEOUT_MS
  const canaries = settings.MAILKIND_DNS_CANARIES.filter(name => name !== "off")
  const [canary] = canaries
  const exchanges = servers.map(server => createUdpExchange(parseDnsServer(server), { random, setTimer, stopwatch }))
  // Innermost: all other wrappers deal with complete answers, whichever server sent them.
  const failover = createFailover(
    exchanges.map(({ exchange }) => exchange),
    { timeoutMs, attemptsMax: DNS_ATTEMPTS_MAX, setTimer, stopwatch },
  )
  const instrumented = createInstrumentedResolver(withCnameChasing(failover))
  const directResolver = instrumented.resolver
  const probeQuestion = canary === undefined ? ROOT_QUESTION : ({ name: canary, type: "A" } as const)
  // The breaker is inside the limit: when it opens, all waiting queries are answered at once.
  const breaker = createDnsCircuitBreaker(directResolver, { probeQuestion, setTimer })
  const limited = withConcurrencyLimit(breaker.resolver, {
    inFlightMax: DNS_IN_FLIGHT_MAX,
    waitingMax: DNS_WAITING_MAX,
  })
  // The cache is outermost: its answers were trusted when they came, so it serves them while no answer is trusted.
  const canaryGuard = createCanaryGuard(limited, { canaries, directResolver, setTimer })
  const { resolver, stats: cacheStats } = createDnsCache(withSingleFlight(canaryGuard.resolver), clock)
  // The state of DNS is known before the first check needs it.
  canaryGuard.start()
  return {
    resolver,
    stats: () => ({ isBreakerOpen: breaker.isOpen(), queryCounts: instrumented.stats(), answerCache: cacheStats() }),
    isUnavailable: () => breaker.isOpen() || canaryGuard.state() === "denied" || canaryGuard.state() === "silent",
    stop: () => {
      canaryGuard.stop()
      breaker.stop()
      for (const { close } of exchanges) close()
    },
  }
}

/** A resolver for each single DNS server of the settings, and the canaries. `close` closes their sockets. */
export function createServerResolvers(system: System, settings: Settings) {
  const { setTimer, stopwatch } = system
  const timeoutMs = settings.MAILKIND_DNS_TIMEOUT_MS
  const opened = dnsServerNames(system, settings).map(name => ({
    name,
    ...createUdpExchange(parseDnsServer(name), system),
  }))
  return {
    servers: opened.map(({ name, exchange }) => ({
      name,
      resolver: withCnameChasing(
        createFailover([exchange], { timeoutMs, attemptsMax: DNS_ATTEMPTS_MAX, setTimer, stopwatch }),
      ),
    })),
    canaries: settings.MAILKIND_DNS_CANARIES.filter(name => name !== "off"),
    close: () => {
      for (const { close } of opened) close()
    },
  }
}

function dnsServerNames(system: System, { MAILKIND_DNS_SERVERS: names }: Settings): readonly string[] {
  if (names.includes("off")) return []
  return names.length > 0 ? names : system.systemDnsServers().filter(isDnsServer)
}
