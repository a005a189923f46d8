import type { Clock, Random, SetTimer, Stopwatch } from "../../../base/outside-world.ts"
import type { CachingResolver, DnsServerAddress, Resolver } from "../dns-types.ts"
import { createUdpExchange } from "../wire/udp-exchange.ts"
import { createCanaryGuard } from "./canary-guard.ts"
import { DnsCircuitBreaker } from "./circuit-breaker.ts"
import { withCnameChasing } from "./cname-chaser.ts"
import { withConcurrencyLimit } from "./concurrency-limit.ts"
import { cacheBounds, createDnsCache, type DnsCacheStats } from "./dns-cache.ts"
import { createFailover } from "./failover.ts"
import { createInstrumentedResolver, type DnsOutcomeCounts } from "./instrumented-resolver.ts"

/** How often one DNS query is sent within its timeout. */
const DNS_ATTEMPTS_MAX = 3
/** How many DNS queries are sent side by side: more would overflow socket buffers, which looks like timeouts. */
const DNS_IN_FLIGHT_MAX = 1_000
/** How many more wait. The queries of a check that has timed out are still sent, for the next check. */
const DNS_WAITING_MAX = 20_000
/** A query that every resolver can answer: the servers of the root (RFC 8109). It is used if there is no canary. */
export const ROOT_QUESTION = { name: "", type: "NS" } as const

/** The resolver of the product, with everything around it. */
export type ResolverChain = {
  readonly resolver: CachingResolver
  /** The same for a domain's own records, which are cached as its evidence and not as answers. */
  readonly resolverOnce: CachingResolver
  readonly stats: () => ResolverChainStats
  /** The servers are dead, or their answers are not believed. */
  readonly isUnavailable: () => boolean
  /** Ends the queries in the background and closes the sockets. */
  readonly stop: () => void
}

/** The state and the counters of a resolver chain. */
export type ResolverChainStats = {
  readonly isBreakerOpen: boolean
  readonly queryCounts: DnsOutcomeCounts
  readonly answerCache: DnsCacheStats
}

type ServerResolverDeps = {
  /** For one question with all its attempts. */
  readonly timeoutMs: number
  readonly random: Random
  readonly setTimer: SetTimer
  readonly stopwatch: Stopwatch
  /** Receives defects of ours in reading replies. Absent: they are not reported. */
  readonly onDefect?: (error: unknown) => void
}

type ResolverChainDeps = ServerResolverDeps & {
  readonly servers: readonly DnsServerAddress[]
  /** Names that every working resolver knows; without any, every resolver is believed. */
  readonly canaries: readonly string[]
  /** The registrable domain of a name. */
  readonly registrableOf: (name: string) => string
  readonly clock: Clock
  /** How much memory the cache takes at most. Absent: the usual bound. */
  readonly dnsCacheBytes?: number
  /** The servers are of no use from now on, and why; null: they are of use again. */
  readonly onAvailabilityChange?: (outage: DnsOutage | null) => void
}

/** `silent`: no server answers. `failing`: they answer every question with a failure. `denying`: they deny the canaries. */
export type DnsOutage = "silent" | "failing" | "denying"

/** Builds the chain of resolvers, from the packets outwards. The reason for a wrapper's position stands beside it. */
export function createResolverChain(deps: ResolverChainDeps): ResolverChain {
  const { servers, canaries, clock, setTimer } = deps
  const exchanges = servers.map(server => createUdpExchange(server, deps))
  // Innermost: all other wrappers deal with complete answers, whichever server sent them.
  const failover = createFailover(
    exchanges.map(({ exchange }) => exchange),
    { ...deps, attemptsMax: DNS_ATTEMPTS_MAX },
  )
  const instrumented = createInstrumentedResolver(withCnameChasing(failover, deps))
  const directResolver = instrumented.resolver
  const canaryQuestions = canaries.map(name => ({ name, type: "A" }) as const)
  const probeQuestions = canaries.length === 0 ? [ROOT_QUESTION] : canaryQuestions
  // The breaker is inside the limit: a query that has waited for its slot is not sent to servers that died meanwhile.
  const breaker = new DnsCircuitBreaker(directResolver, { ...deps, probeQuestions, onChange: () => tell() })
  const limited = withConcurrencyLimit(breaker.resolver, {
    inFlightMax: DNS_IN_FLIGHT_MAX,
    waitingMax: DNS_WAITING_MAX,
    setTimer,
  })
  const canaryGuard = createCanaryGuard(limited, { canaries, directResolver, setTimer, onChange: () => tell() })
  const outage = (): DnsOutage | null => {
    if (canaryGuard.state() === "denied") return "denying"
    const reason = breaker.openReason()
    if (reason !== null) return reason === "timeouts" ? "silent" : "failing"
    return canaryGuard.state() === "silent" ? "silent" : null
  }
  const tell = createChangeTeller(outage, deps.onAvailabilityChange)
  // The cache is outermost: its answers were believed when they came, so it serves them while no answer is believed.
  const cache = createDnsCache(canaryGuard.resolver, clock, cacheBounds(deps.dnsCacheBytes))
  // The state of DNS is known before the first check needs it.
  canaryGuard.start()
  return {
    resolver: cache.resolver,
    resolverOnce: cache.resolverOnce,
    stats: () => ({
      isBreakerOpen: breaker.isOpen(),
      queryCounts: instrumented.stats(),
      answerCache: cache.stats(),
    }),
    isUnavailable: () => outage() !== null,
    stop: () => {
      canaryGuard.stop()
      breaker.stop()
      for (const { close } of exchanges) close()
    },
  }
}

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
): { readonly resolver: Resolver; readonly close: () => void } {
  const { timeoutMs, setTimer, stopwatch } = deps
  const { exchange, close } = createUdpExchange(server, deps)
  const failover = createFailover([exchange], { timeoutMs, attemptsMax: DNS_ATTEMPTS_MAX, setTimer, stopwatch })
  return { resolver: withCnameChasing(failover, deps), close }
}
