import type { Clock } from "../../../../src/base/outside-world.ts"
import type { CachingResolver, Resolver } from "../../../../src/check/dns/dns-types.ts"
import { DnsCache } from "../../../../src/check/dns/resolver/dns-cache.ts"
import { type DnsGuards, DnsServers, NO_GUARDS, Resolution } from "../../../../src/check/dns/resolver/resolution.ts"
import { cachingAsk, promising } from "../../../../src/check/dns/resolver/resolver-chain.ts"
import { exchangeOf, replyOf } from "../../../support/dns-exchange.ts"
import { createFakeTime } from "../../../support/time.ts"

/** Servers that resolve each question once, as `resolver` does, and are waited for without end. */
const serversOf = (resolver: Resolver, time = createFakeTime()) =>
  new DnsServers([exchangeOf(replyOf(resolver))], {
    timeoutMs: 1e9,
    attemptsMax: 1,
    setTimer: time.later,
    stopwatch: time.stopwatch,
  })

/** A resolver with some guards, over servers that resolve as `resolver` does. */
export function guardedResolver(resolver: Resolver, guards: Partial<DnsGuards>, time = createFakeTime()): Resolver {
  const servers = serversOf(resolver, time)
  return question =>
    new Promise(resolve => new Resolution(question, servers, { ...NO_GUARDS, ...guards }, resolve).ask())
}

/** A resolver with a cache, over servers that resolve as `resolver` does. */
export function cachedResolver(
  resolver: Resolver,
  clock: Clock,
  ...bounds: [] | [ConstructorParameters<typeof DnsCache>[1]]
): Record<"resolver" | "resolverOnce", CachingResolver> & { readonly stats: DnsCache["stats"] } {
  const cache = new DnsCache(clock, ...bounds)
  const servers = serversOf(resolver)
  return {
    resolver: promising(cachingAsk(cache, servers, NO_GUARDS)),
    resolverOnce: promising(cachingAsk(cache, servers, NO_GUARDS, true)),
    stats: () => cache.stats(),
  }
}
