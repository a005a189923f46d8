import { LRUCache } from "lru-cache"
import { CircuitBreaker, type CircuitBreakerBounds } from "../../base/circuit-breaker.ts"
import { type Release, Semaphore } from "../../base/concurrency.ts"
import type { Fetch } from "../../base/fetch.ts"
import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Clock, SetTimer } from "../../base/outside-world.ts"
import { isLoopbackUrl, type RdapRequestDeps, type RdapResponse, rdapDomainUrl, requestRdap } from "./rdap-request.ts"
import { parseRegistration } from "./rdap-response.ts"

/** When a domain was registered, in milliseconds since the Unix epoch. */
export type DomainRegistration = { readonly registeredAtMs: number }

/** How long one look-up may take, a redirect included, from when it is its turn. */
const RDAP_LOOKUP_TIMEOUT_MS = 3000

/** How many servers' lines are held: all of a bootstrap, which names 600, and where those redirect to. */
const SERVER_LIMITERS_MAX = 2000

/** What look-ups need of the outside world. */
type RdapLookupDeps = RdapRequestDeps & {
  readonly setTimer: SetTimer
  /** Asks a server that no bootstrap names but another server redirects to: at public addresses only. */
  readonly fetchPublicUrl: Fetch
}

/** Asks when a domain was registered, at the server under `base`. It never rejects. */
export type RdapLookup = (base: string, domain: string) => Promise<RdapLookupResult>

/** What one look-up found. */
export type RdapLookupResult = {
  readonly registration: Finding<DomainRegistration | null>
  /** False: the server was not asked, since too many wait for it, it fails, or it wants to be left alone. */
  readonly wasQueried: boolean
}

/**
 * Builds the look-up of a domain's registration. Each server has a line of its own: what the bootstrap names by its base
 * URL, since that is what a registry is known by, and what is redirected to by its origin.
 */
export function createRdapLookup(needs: RdapLookupDeps, bounds: ServerLimiterBounds): RdapLookup {
  const lines = new LRUCache<string, ServerLimiter>({ max: SERVER_LIMITERS_MAX })
  const lineOf = (server: string): ServerLimiter => {
    const line = lines.get(server) ?? new ServerLimiter(needs.clock, bounds)
    lines.set(server, line)
    return line
  }

  /** Where the first server redirects to, the second's answer counts; nobody is followed further. */
  const ask = async (
    base: string,
    domain: string,
    pass: ServerPermit,
    deadline: AbortSignal,
  ): Promise<RdapResponse> => {
    const url = new URL(rdapDomainUrl(base, domain))
    const reply = await requestRdap(needs, url, deadline)
    pass(callOutcome(reply))
    if (reply.kind !== "redirected") return reply
    const { to } = reply
    const isSame = to.origin === url.origin
    const second = lineOf(isSame ? base : to.origin).acquire()
    if (second === null) return { kind: "refused" }
    const fetchUrl = isSame || isLoopbackUrl(to) ? needs.fetchUrl : needs.fetchPublicUrl
    const last = await requestRdap({ ...needs, fetchUrl }, to, deadline)
    second(callOutcome(last))
    return last
  }

  return async (base, domain) => {
    const line = lineOf(base)
    const leave = await line.enqueue()
    if (leave === null) return NOT_QUERIED
    const pass = line.acquire() // the line may have been shut while it waited
    if (pass === null) {
      leave()
      return NOT_QUERIED
    }
    const deadline = new AbortController()
    const callOff = needs.setTimer(RDAP_LOOKUP_TIMEOUT_MS, () => deadline.abort())
    const reply = await ask(base, domain, pass, deadline.signal)
    callOff()
    leave()
    return { registration: registrationOf(reply, domain, needs.clock()), wasQueried: reply.kind !== "sent_off" }
  }
}

const NOT_QUERIED: RdapLookupResult = { registration: unknown("unavailable"), wasQueried: false }

/** A server that refuses one question works; so does one that redirects to another. */
function callOutcome(reply: RdapResponse): ServerCallOutcome {
  if (reply.kind === "sent_off") return reply
  return { kind: reply.kind === "failed" || reply.kind === "timed_out" ? "failed" : "answered" }
}

function registrationOf(reply: RdapResponse, domain: string, nowMs: number): Finding<DomainRegistration | null> {
  if (reply.kind === "timed_out") return unknown("timed_out")
  if (reply.kind === "not_found") return known(null)
  if (reply.kind !== "told") return unknown("unavailable")
  const told = parseRegistration(reply.json, domain, nowMs)
  if (told.kind === "unreadable") return unknown("unavailable")
  return known(told.kind === "registered" ? { registeredAtMs: told.registeredAtMs } : null)
}

/** How one RDAP server is spared. */
export type ServerLimiterBounds = {
  /** Requests under way. */
  readonly inFlightMax: number
  /** Requests that wait for others to end. */
  readonly waitingMax: number
  readonly breaker: CircuitBreakerBounds
  /** How long it is left alone when it says that there were too many requests, and not how long. */
  readonly throttleMs: number
  /** The shortest and the longest time that it can ask to be left alone. */
  readonly throttleMinMs: number
  readonly throttleMaxMs: number
}

/** What became of one request to a server. */
export type ServerCallOutcome =
  | { readonly kind: "answered" }
  | { readonly kind: "failed" }
  /** It asked to be left alone; null: it did not say how long. */
  | { readonly kind: "sent_off"; readonly retryAfterMs: number | null }

/** Leave to make one request, whose fate is told by calling it, once. */
type ServerPermit = (fate: ServerCallOutcome) => void

/** The line before one RDAP server: few requests at once, none while it wants to be left alone, and few while it fails. */
export class ServerLimiter {
  readonly #clock: Clock
  readonly #bounds: ServerLimiterBounds
  readonly #semaphore: Semaphore
  readonly #breaker: CircuitBreaker
  #throttledUntilMs = 0

  constructor(clock: Clock, bounds: ServerLimiterBounds) {
    this.#clock = clock
    this.#bounds = bounds
    this.#semaphore = new Semaphore(bounds.inFlightMax, bounds.waitingMax)
    this.#breaker = new CircuitBreaker(clock, bounds.breaker)
  }

  /** Whether a request would not be let through now. */
  get isBlocked(): boolean {
    return this.#clock() < this.#throttledUntilMs || this.#breaker.isOpen
  }

  /** Resolves with a slot when there is one; null: nobody is let through now, or too many wait already. */
  enqueue(): Promise<Release> | null {
    return this.isBlocked ? null : this.#semaphore.acquire()
  }

  /** Leave to make a request; null: nobody is let through. */
  acquire(): ServerPermit | null {
    const pass = this.isBlocked ? null : this.#breaker.acquire()
    if (pass === null) return null
    return fate => {
      // A server that sends us off is there: it fails nobody who waits.
      pass(fate.kind === "failed" ? { kind: "failed", retryAfterMs: null } : { kind: "answered" })
      if (fate.kind === "sent_off") this.#throttle(fate.retryAfterMs)
    }
  }

  /** Of several who are sent off at once, the one who is told the longest time counts. */
  #throttle(retryAfterMs: number | null): void {
    const { throttleMs, throttleMinMs, throttleMaxMs } = this.#bounds
    const ms = Math.min(Math.max(retryAfterMs ?? throttleMs, throttleMinMs), throttleMaxMs)
    this.#throttledUntilMs = Math.max(this.#throttledUntilMs, this.#clock() + ms)
  }
}
