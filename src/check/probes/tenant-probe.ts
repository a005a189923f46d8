import { assert } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import { unknown } from "../../base/finding.ts"
import { type Leave, Slots } from "../../base/slots.ts"
import type { Later } from "../../base/timer.ts"
import { DAY_MS } from "../../base/utc-day.ts"
import type { Web } from "../../base/web.ts"
import { Breaker, type BreakerBounds, type Fate } from "./breaker.ts"
import type { TenantFound } from "./found.ts"
import { HeldTenants, type HoldBounds } from "./held-tenants.ts"
import type { Cloud, IdentityUrls } from "./identity-endpoint.ts"
import { type LookedUp, type LookUp, tenantLookUp } from "./tenant-look-up.ts"

/** What bounds the look-ups of tenants. */
export type TenantBounds = {
  readonly held: HoldBounds
  readonly breaker: BreakerBounds
  /** Look-ups under way; each makes two requests. */
  readonly inFlightMax: number
  /** Look-ups that wait for others to end. */
  readonly waitingMax: number
}

const MINUTE_MS = 60_000

/** The bounds in use. */
export const TENANT_BOUNDS: TenantBounds = {
  held: { entriesMax: 20_000, answerMs: DAY_MS, partMs: MINUTE_MS, failureMs: 30_000, staleMs: DAY_MS },
  breaker: { failuresMax: 5, openMs: 30_000, openMinMs: 1000, openMaxMs: 10 * MINUTE_MS },
  inFlightMax: 64,
  waitingMax: 1000,
}

/**
 * Asks suite_b whose tenant a domain is, at the endpoints of one cloud. What is held is given at once; else the promise
 * never rejects, and is the same for all who ask while the look-up is under way. The look-up has a deadline of its own, so
 * it goes on when they stop waiting, and the next one to ask is given what it found.
 */
export type TenantProbe = {
  readonly ask: (domain: string, organisational: string, cloud?: Cloud) => TenantFound | Promise<TenantFound>
  /** What it has done so far, and how it stands. */
  readonly told: () => TenantsTold
}

/** How many answers are held, how often that was enough, what came of look-ups, and how many endpoints are left alone now. */
export type TenantsTold = {
  readonly entries: number
  readonly hits: number
  readonly misses: number
  readonly tenant: number
  readonly none: number
  readonly failed: number
  readonly breakersOpen: number
}

/** What a probe asks, and how it tells and bides the time. */
export type TenantWorld = {
  readonly web: Web
  readonly urls: IdentityUrls
  readonly clock: Clock
  readonly later: Later
}

/** Builds the probe of tenants. The domain is lower-case A-labels, `organisational` its registrable domain. */
export function tenantProbe({ web, urls, clock, later }: TenantWorld, bounds: TenantBounds): TenantProbe {
  const lookUp = tenantLookUp(web, clock, later)
  const held = new HeldTenants(clock, bounds.held)
  const slots = new Slots(bounds.inFlightMax, bounds.waitingMax)
  const breakers = new Map(Object.values(urls).map(base => [base, new Breaker(clock, bounds.breaker)]))
  const underWay = new Map<string, Promise<TenantFound>>()
  const counts = { hits: 0, misses: 0, tenant: 0, none: 0, failed: 0 }

  /** What is told when nobody can be asked now. */
  const notAsked = (key: string): TenantFound =>
    held.stale(key) ?? { tenant: unknown("unavailable"), isCached: false, freshUntilMs: clock() }

  /** Makes a look-up that has its slot, unless the breaker has opened while it waited. */
  const lookedUp = async (leave: Leave, breaker: Breaker, key: string, begin: () => LookUp): Promise<TenantFound> => {
    const pass = breaker.enter()
    if (pass === null) {
      leave()
      return notAsked(key)
    }
    const { found, ended } = begin()
    const result = await found
    counts[outcomeOf(result)]++
    pass(fateOf(result)) // before the slot is the next one's, which may have to be kept back
    void ended.then(leave)
    return held.keep(key, result)
  }

  const ask: TenantProbe["ask"] = (domain, organisational, cloud = "worldwide") => {
    const base = urls[cloud]
    const key = `${base}/${domain}`
    const ready = held.fresh(key) ?? underWay.get(key)
    if (ready !== undefined) {
      counts.hits++
      return ready
    }
    counts.misses++
    const breaker = breakers.get(base)
    assert(breaker !== undefined, "the endpoints of every cloud have a breaker")
    const slot = breaker.isShut ? null : slots.take()
    if (slot === null) return notAsked(key)
    const found = slot
      .then(leave => lookedUp(leave, breaker, key, () => lookUp(base, domain, organisational)))
      .finally(() => underWay.delete(key))
    underWay.set(key, found)
    return found
  }
  return { ask, told: () => ({ ...counts, entries: held.count, breakersOpen: openCount(breakers) }) }
}

const openCount = (breakers: ReadonlyMap<string, Breaker>): number =>
  [...breakers.values()].filter(({ isShut }) => isShut).length

const outcomeOf = ({ tenant }: LookedUp): "tenant" | "none" | "failed" =>
  tenant.known ? (tenant.value === null ? "none" : "tenant") : "failed"

/** An endpoint that says that there is no tenant works as well as one that names it. */
const fateOf = ({ tenant, retryAfterMs }: LookedUp): Fate =>
  tenant.known ? { kind: "answered" } : { kind: "failed", retryAfterMs }
