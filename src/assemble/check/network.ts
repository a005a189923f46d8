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

/** How often one DNS question is sent within its time. */
const DNS_ATTEMPTS_MAX = 3
/** How many DNS questions are asked at once: more overflow the buffers of sockets, and look like silence. */
const DNS_IN_FLIGHT_MAX = 1_000
/** How many more wait. Those of a check that has run out of its budget are asked all the same, for whoever asks next. */
const DNS_WAITING_MAX = 20_000
/** What any resolver has an answer to: who serves the root (RFC 8109). It is asked when there is no canary. */
const ROOT_QUESTION = { name: "", type: "NS" } as const

/** What asks the outside world, and how that stands. */
export type NetworkService = {
  readonly networkEvidence: NetworkProbe
  /** DNS gives no answers, or none that can be believed; no verdict rests on it now. */
  readonly isDnsUnavailable: () => boolean
  /** Asks one DNS question; null: none is ever asked. */
  readonly queryDns: CachingResolver | null
  /** How it stands and what it has done; null: nobody is ever asked. */
  readonly stats: () => NetworkStats | null
  /** Asks nothing in the background any more, and closes what is open. */
  readonly stop: () => void
}

/** What was asked of the outside world so far. */
export type NetworkStats = {
  readonly isBreakerOpen: boolean
  readonly queryCounts: DnsOutcomeCounts
  readonly answerCache: DnsCacheStats
  /** Null: tenants are not looked up. */
  readonly tenantStats: TenantProbeStats | null
}

/** Nobody outside is asked, by the operator's will. */
export const OFFLINE_NETWORK: NetworkService = {
  networkEvidence: offlineNetworkProbe,
  isDnsUnavailable: () => true,
  queryDns: null,
  stats: () => null,
  stop: () => undefined,
}

/** By what mail hosts are learned: the hosts themselves, and the lists in use. */
export type HostLearning = Omit<LearningProbeDeps, "clock">

/** Wires what asks DNS and the identity endpoints as the settings want it. `learning` null: no mail host is learned. */
export function createNetworkService(
  world: System,
  settings: Settings,
  learning: HostLearning | null = null,
): NetworkService {
  const { clock, setTimer } = world
  const servers = dnsServerNames(world, settings)
  if (servers.length === 0) return OFFLINE_NETWORK
  const dns = createResolverChain(world, settings, servers)
  const probe = createMailProbe({ resolver: dns.ask, clock })
  const mail = learning === null ? probe : createLearningProbe(probe, { ...learning, clock })
  const tenant = createTenantLookup(world, settings)
  return {
    networkEvidence: createNetworkProbe({
      probeMail: ({ domain, organisationalDomain }, budget) => mail(domain, organisationalDomain, budget),
      probeTenant:
        tenant && (({ domain, organisationalDomain }, cloud) => tenant.lookup(domain, organisationalDomain, cloud)),
      isUnavailable: dns.isAway,
      clock,
      setTimer,
      timeoutMs: settings.MAILKIND_CHECK_TIMEOUT_MS,
    }),
    isDnsUnavailable: dns.isAway,
    queryDns: dns.ask,
    stats: () => ({ ...dns.told(), tenantStats: tenant?.stats() ?? null }),
    stop: dns.end,
  }
}

function createTenantLookup({ fetchUrl, clock, setTimer }: System, { MAILKIND_IDENTITY_URL: own }: Settings) {
  return own === "off"
    ? null
    : createTenantProbe({ fetchUrl, urls: identityUrls(own), clock, setTimer }, TENANT_PROBE_BOUNDS)
}

/** The resolver, from the packets outwards. The order of its wrappers is told here, once. */
function createResolverChain(world: System, settings: Settings, servers: readonly string[]) {
  const { clock, setTimer, stopwatch, random } = world
  const timeoutMs = settings.MAILKIND_DNS_TIMEOUT_MS
  const canaries = settings.MAILKIND_DNS_CANARIES.filter(name => name !== "off")
  const [canary] = canaries
  const exchanges = servers.map(server => createUdpExchange(parseDnsServer(server), { random, setTimer, stopwatch }))
  // Innermost, since all that is outside of it speaks of whole answers from whichever server.
  const asked = createFailover(
    exchanges.map(({ exchange }) => exchange),
    { timeoutMs, attemptsMax: DNS_ATTEMPTS_MAX, setTimer, stopwatch },
  )
  const counted = createInstrumentedResolver(withCnameChasing(asked))
  const directResolver = counted.resolver
  const probeQuestion = canary === undefined ? ROOT_QUESTION : ({ name: canary, type: "A" } as const)
  // The breaker stands within the bound: when it opens, all that waits is answered at once.
  const breaker = createDnsCircuitBreaker(directResolver, { probeQuestion, setTimer })
  const bounded = withConcurrencyLimit(breaker.resolver, {
    inFlightMax: DNS_IN_FLIGHT_MAX,
    waitingMax: DNS_WAITING_MAX,
  })
  // What is held was believed when it came, so the cache stands outside and serves it while nobody is believed.
  const believer = createCanaryGuard(bounded, { canaries, directResolver, setTimer })
  const { resolver, stats } = createDnsCache(withSingleFlight(believer.resolver), clock)
  // What stands is known before the first check asks.
  believer.start()
  return {
    ask: resolver,
    told: () => ({ isBreakerOpen: breaker.isOpen(), queryCounts: counted.stats(), answerCache: stats() }),
    isAway: () => breaker.isOpen() || believer.state() === "denied" || believer.state() === "silent",
    end: () => {
      believer.stop()
      breaker.stop()
      for (const { close } of exchanges) close()
    },
  }
}

/** Each DNS server of the settings by itself, over sockets of its own that `end` closes, and the canaries. */
export function createServerResolvers(world: System, settings: Settings) {
  const { setTimer, stopwatch } = world
  const timeoutMs = settings.MAILKIND_DNS_TIMEOUT_MS
  const opened = dnsServerNames(world, settings).map(name => ({
    name,
    ...createUdpExchange(parseDnsServer(name), world),
  }))
  return {
    servers: opened.map(({ name, exchange }) => ({
      name,
      resolver: withCnameChasing(
        createFailover([exchange], { timeoutMs, attemptsMax: DNS_ATTEMPTS_MAX, setTimer, stopwatch }),
      ),
    })),
    canaries: settings.MAILKIND_DNS_CANARIES.filter(name => name !== "off"),
    end: () => {
      for (const { close } of opened) close()
    },
  }
}

function dnsServerNames(world: System, { MAILKIND_DNS_SERVERS: set }: Settings): readonly string[] {
  if (set.includes("off")) return []
  return set.length > 0 ? set : world.systemDnsServers().filter(isDnsServer)
}
