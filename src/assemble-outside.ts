import { believing } from "./check/dns/believing.ts"
import { bounding } from "./check/dns/bounding.ts"
import { breaking } from "./check/dns/breaking.ts"
import { caching, type Held } from "./check/dns/caching.ts"
import { coalescing } from "./check/dns/coalescing.ts"
import { counting, type QuestionCounts } from "./check/dns/counting.ts"
import { following } from "./check/dns/following.ts"
import type { Ask } from "./check/dns/question.ts"
import { retrying } from "./check/dns/retrying.ts"
import { udpExchange } from "./check/dns/udp-exchange.ts"
import { type LearningNeeds, learningProbe } from "./check/learned/learning-probe.ts"
import { type Outside, offline, outside } from "./check/outside.ts"
import { identityUrls } from "./check/probes/identity-endpoint.ts"
import { mailProbe } from "./check/probes/mail-probe.ts"
import { TENANT_BOUNDS, type TenantsTold, tenantProbe } from "./check/probes/tenant-probe.ts"
import { dnsServer, isDnsServer, type Settings } from "./config/settings.ts"
import type { World } from "./world.ts"

/** How often one DNS question is sent within its time. */
const ATTEMPTS_MAX = 3
/** How many DNS questions are asked at once: more overflow the buffers of sockets, and look like silence. */
const IN_FLIGHT_MAX = 1_000
/** How many more wait. Those of a check that has run out of its budget are asked all the same, for whoever asks next. */
const WAITING_MAX = 20_000
/** What any resolver has an answer to: who serves the root (RFC 8109). It is asked when there is no canary. */
const ROOT = { name: "", type: "NS" } as const

/** What asks the outside world, and how that stands. */
export type OutsideAsked = {
  readonly outside: Outside
  /** DNS gives no answers, or none that can be believed; no verdict rests on it now. */
  readonly isDnsAway: () => boolean
  /** Asks one DNS question; null: none is ever asked. */
  readonly ask: Ask | null
  /** How it stands and what it has done; null: nobody is ever asked. */
  readonly told: () => OutsideTold | null
  /** Asks nothing in the background any more, and closes what is open. */
  readonly end: () => void
}

/** What was asked of the outside world so far. */
export type OutsideTold = {
  readonly isBreakerOpen: boolean
  readonly questions: QuestionCounts
  readonly answers: Held
  /** Null: tenants are not looked up. */
  readonly tenants: TenantsTold | null
}

/** Nobody outside is asked, by the operator's will. */
export const OFFLINE: OutsideAsked = {
  outside: offline,
  isDnsAway: () => true,
  ask: null,
  told: () => null,
  end: () => undefined,
}

/** By what mail hosts are learned: the hosts themselves, and the lists in use. */
export type Learning = Omit<LearningNeeds, "clock">

/** Wires what asks DNS and the identity endpoints as the settings want it. `learning` null: no mail host is learned. */
export function outsideAsked(world: World, settings: Settings, learning: Learning | null = null): OutsideAsked {
  const { clock, later } = world
  const servers = serversOf(world, settings)
  if (servers.length === 0) return OFFLINE
  const dns = dnsAsked(world, settings, servers)
  const probe = mailProbe({ ask: dns.ask, clock })
  const mail = learning === null ? probe : learningProbe(probe, { ...learning, clock })
  const tenant = tenantAsked(world, settings)
  return {
    outside: outside({
      mail: ({ domain, organisational }, budget) => mail(domain, organisational, budget),
      tenant: tenant && (({ domain, organisational }, cloud) => tenant.ask(domain, organisational, cloud)),
      isAway: dns.isAway,
      clock,
      later,
      budgetMs: settings.MAILKIND_CHECK_TIMEOUT_MS,
    }),
    isDnsAway: dns.isAway,
    ask: dns.ask,
    told: () => ({ ...dns.told(), tenants: tenant?.told() ?? null }),
    end: dns.end,
  }
}

function tenantAsked({ web, clock, later }: World, { MAILKIND_IDENTITY_URL: own }: Settings) {
  return own === "off" ? null : tenantProbe({ web, urls: identityUrls(own), clock, later }, TENANT_BOUNDS)
}

/** The resolver, from the packets outwards. The order of its wrappers is told here, once. */
function dnsAsked(world: World, settings: Settings, servers: readonly string[]) {
  const { clock, later, stopwatch, random } = world
  const timeoutMs = settings.MAILKIND_DNS_TIMEOUT_MS
  const canaries = settings.MAILKIND_DNS_CANARIES.filter(name => name !== "off")
  const [canary] = canaries
  const exchanges = servers.map(server => udpExchange(dnsServer(server), { random, later, stopwatch }))
  // Innermost, since all that is outside of it speaks of whole answers from whichever server.
  const asked = retrying(
    exchanges.map(({ exchange }) => exchange),
    { timeoutMs, attemptsMax: ATTEMPTS_MAX, later, stopwatch },
  )
  const counted = counting(following(asked))
  const direct = counted.resolver
  const probe = canary === undefined ? ROOT : ({ name: canary, type: "A" } as const)
  // The breaker stands within the bound: when it opens, all that waits is answered at once.
  const breaker = breaking(direct, { probe, later })
  const bounded = bounding(breaker.resolver, { inFlightMax: IN_FLIGHT_MAX, waitingMax: WAITING_MAX })
  // What is held was believed when it came, so the cache stands outside and serves it while nobody is believed.
  const believer = believing(bounded, { canaries, direct, later })
  const { ask, held } = caching(coalescing(believer.resolver), clock)
  // What stands is known before the first check asks.
  believer.start()
  return {
    ask,
    told: () => ({ isBreakerOpen: breaker.isOpen(), questions: counted.counts(), answers: held() }),
    isAway: () => breaker.isOpen() || believer.state() === "denied" || believer.state() === "silent",
    end: () => {
      believer.end()
      breaker.end()
      for (const { close } of exchanges) close()
    },
  }
}

/** Each DNS server of the settings by itself, over sockets of its own that `end` closes, and the canaries. */
export function serversAlone(world: World, settings: Settings) {
  const { later, stopwatch } = world
  const timeoutMs = settings.MAILKIND_DNS_TIMEOUT_MS
  const opened = serversOf(world, settings).map(name => ({ name, ...udpExchange(dnsServer(name), world) }))
  return {
    servers: opened.map(({ name, exchange }) => ({
      name,
      resolver: following(retrying([exchange], { timeoutMs, attemptsMax: ATTEMPTS_MAX, later, stopwatch })),
    })),
    canaries: settings.MAILKIND_DNS_CANARIES.filter(name => name !== "off"),
    end: () => {
      for (const { close } of opened) close()
    },
  }
}

function serversOf(world: World, { MAILKIND_DNS_SERVERS: set }: Settings): readonly string[] {
  if (set.includes("off")) return []
  return set.length > 0 ? set : world.systemDnsServers().filter(isDnsServer)
}
