import type { Clock, Random } from "../../../base/outside-world.ts"
import type { AskDns, CachingResolver, DnsServerAddress, Resolver } from "../dns-types.ts"
import { UdpExchange } from "../wire/udp-exchange.ts"
import { createCanaryGuard } from "./canary-guard.ts"
import { DnsCircuitBreaker, type DnsSuspicionReason } from "./circuit-breaker.ts"
import { ConcurrencyLimit } from "./concurrency-limit.ts"
import { cacheBounds, DnsCache, type DnsCacheStats } from "./dns-cache.ts"
import { type DnsOutage, dnsOutageOf, type SeenOutage } from "./outage.ts"
import { type DnsGuards, type DnsOutcomeCounts, DnsServers, type DnsServersDeps, Resolution } from "./resolution.ts"
import type { ServerFault } from "./server-health.ts"

/** How often one DNS query is sent within its timeout. */
const DNS_ATTEMPTS_MAX = 3
/** How long a query waits for one server before it is sent again. */
export const dnsAttemptMs = (timeoutMs: number): number => timeoutMs / DNS_ATTEMPTS_MAX
/** How many DNS queries are sent side by side: more would overflow socket buffers, which looks like timeouts. */
const DNS_IN_FLIGHT_MAX = 1_000
/** How many more wait. The queries of a check that has timed out are still sent, for the next check. */
const DNS_WAITING_MAX = 20_000
/** A query that every resolver can answer: the servers of the root (RFC 8109). It is used if there is no canary. */
export const ROOT_QUESTION = { name: "", type: "NS" } as const

/** The resolver of the product, with everything around it. */
export type ResolverChain = {
  readonly resolver: CachingResolver
  readonly ask: AskDns
  /** The same for a domain's own records, which are cached as its evidence and not as answers. */
  readonly askOnce: AskDns
  readonly stats: () => ResolverChainStats
  /** The servers are dead, or their answers are not believed. */
  readonly isUnavailable: () => boolean
  /** Finds out now whether the servers are dead, as another process of this host has found. */
  readonly suspect: (reason: DnsSuspicionReason) => void
  /** Ends the queries in the background and closes the sockets. */
  readonly stop: () => void
}

/** The state and the counters of a resolver chain. */
export type ResolverChainStats = {
  readonly isBreakerOpen: boolean
  readonly queryCounts: DnsOutcomeCounts
  readonly answerCache: DnsCacheStats
}

type ServerResolverDeps = Omit<DnsServersDeps, "attemptsMax"> & { readonly random: Random }

type ResolverChainDeps = ServerResolverDeps & {
  readonly servers: readonly DnsServerAddress[]
  /** Names that every working resolver knows; without any, every resolver is believed. */
  readonly canaries: readonly string[]
  /** The registrable domain of a name. */
  readonly registrableOf: (name: string) => string
  readonly clock: Clock
  /** How much memory the cache takes at most. Absent: the usual bound. */
  readonly dnsCacheBytes?: number
  /** The breaker has opened, and why. */
  readonly onOpen?: (reason: DnsSuspicionReason) => void
  /** The servers are of no use from now on, and why; null: they are of use again. */
  readonly onAvailabilityChange?: (outage: DnsOutage | null) => void
}

/** Builds the resolver. The steps of a question are listed at `Resolution`. */
export function createResolverChain(deps: ResolverChainDeps): ResolverChain {
  const { canaries, clock, setTimer } = deps
  const exchanges = deps.servers.map(server => new UdpExchange(server, deps))
  const servers = new DnsServers(exchanges, { ...deps, attemptsMax: DNS_ATTEMPTS_MAX })
  const { directResolver } = servers
  const canaryQuestions = canaries.map(name => ({ name, type: "A" }) as const)
  const probeQuestions = canaries.length === 0 ? [ROOT_QUESTION] : canaryQuestions
  const breaker = new DnsCircuitBreaker(directResolver, {
    ...deps,
    probeQuestions,
    onChange: () => {
      const reason = breaker.openReason()
      if (reason !== null) deps.onOpen?.(reason)
      tell()
    },
  })
  const limit = new ConcurrencyLimit(DNS_IN_FLIGHT_MAX, DNS_WAITING_MAX)
  const canaryGuard = createCanaryGuard({ canaries, directResolver, setTimer, onChange: () => tell() })
  const seen = (): SeenOutage | null => {
    if (canaryGuard.state() === "denied") return "denying"
    const reason = breaker.openReason()
    if (reason !== null) return reason === "timeouts" ? "silent" : "failing"
    return canaryGuard.state() === "silent" ? "silent" : null
  }
  const tell = createChangeTeller(() => dnsOutageOf(seen(), servers.health.faults()), deps.onAvailabilityChange)
  const cache = new DnsCache(clock, cacheBounds(deps.dnsCacheBytes))
  const guards = { canaryGuard, limit, breaker }
  const ask = cachingAsk(cache, servers, guards)
  // The state of DNS is known before the first check needs it.
  canaryGuard.start()
  return {
    resolver: promising(ask),
    ask,
    askOnce: cachingAsk(cache, servers, guards, true),
    stats: () => ({
      isBreakerOpen: breaker.isOpen(),
      queryCounts: servers.counts,
      answerCache: cache.stats(),
    }),
    isUnavailable: () => seen() !== null,
    suspect: reason => breaker.suspect(reason),
    stop: () => {
      canaryGuard.stop()
      breaker.stop()
      for (const exchange of exchanges) exchange.close()
    },
  }
}

/** Resolves from the cache first: its answers were believed when they came, so it serves them while no answer is believed. */
export const cachingAsk =
  (cache: DnsCache, servers: DnsServers, guards: DnsGuards, isOnce = false): AskDns =>
  (question, onFinding) =>
    cache.ask(question, onEnd => new Resolution(question, servers, guards, onEnd).ask(), onFinding, isOnce)

/** The same for callers who wait for a promise. */
export const promising =
  (ask: AskDns): CachingResolver =>
  question =>
    new Promise(resolve => ask(question, resolve))

/** Tells of an outage when it begins and when it ends. That its cause becomes another one is not told. */
function createChangeTeller(
  current: () => DnsOutage | null,
  tell: ResolverChainDeps["onAvailabilityChange"] = () => undefined,
): () => void {
  let isTold = false
  return () => {
    const outage = current()
    if ((outage !== null) === isTold) return
    isTold = !isTold
    tell(outage)
  }
}

/** Builds a plain resolver for one server, without cache and guards. `close` closes its sockets. */
export function createServerResolver(
  server: DnsServerAddress,
  deps: ServerResolverDeps,
): { readonly resolver: Resolver; readonly faults: () => readonly ServerFault[]; readonly close: () => void } {
  const exchange = new UdpExchange(server, deps)
  const { directResolver, health } = new DnsServers([exchange], { ...deps, attemptsMax: DNS_ATTEMPTS_MAX })
  return { resolver: directResolver, faults: () => health.faults(), close: () => exchange.close() }
}
