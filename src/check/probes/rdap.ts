import type { Clock } from "../../base/clock.ts"
import { known, unknown } from "../../base/finding.ts"
import { DAY_MS } from "../../base/utc-day.ts"
import type { AgeShelf, ShelvedAge } from "./fact-shelf.ts"
import { type AgeFound, type AgeHoldBounds, HeldAges } from "./held-ages.ts"
import type { Bootstrap } from "./rdap-bootstrap.ts"
import type { LookedUpAge, RdapLookUp, Registration } from "./rdap-look-up.ts"
import type { LineBounds } from "./registry-line.ts"

/** What bounds the look-ups of ages. */
export type RdapBounds = {
  readonly held: AgeHoldBounds
  /** Look-ups under way, waiting ones included. */
  readonly underWayMax: number
  /** Of each server. */
  readonly line: LineBounds
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The bounds in use. */
export const RDAP_BOUNDS: RdapBounds = {
  held: { entriesMax: 20_000, foundMs: 30 * DAY_MS, untoldMs: HOUR_MS, failureMs: 30_000 },
  underWayMax: 2000,
  line: {
    inFlightMax: 4,
    waitingMax: 100,
    breaker: { failuresMax: 5, openMs: 30_000, openMinMs: 1000, openMaxMs: HOUR_MS },
    restMs: MINUTE_MS,
    restMinMs: 1000,
    restMaxMs: HOUR_MS,
  },
}

/** Asks how old domains are. Names are registrable domains as A-labels, lower case. */
export type RdapProbe = {
  /**
   * Asks when a domain was registered. What is held is given at once; else the promise never rejects, and is the same for
   * all who ask meanwhile. The look-up goes on when they stop waiting, and the next one to ask is given what it found.
   */
  readonly ask: (domain: string) => AgeFound | Promise<AgeFound>
  /** What `ask` would give at once: it is held in memory, or no server is known that could tell; undefined: it would ask. */
  readonly fresh: (domain: string) => AgeFound | undefined
  /** The domain's age in whole days by what is held in memory; null: nothing is, or the registry does not tell. */
  readonly heldAge: (domain: string) => number | null
}

/** Which server knows a domain: the bootstrap that is there, or null, and a promise of it that never rejects. */
export type BootstrapInUse = {
  readonly current: () => Bootstrap | null
  readonly ready: () => Promise<Bootstrap | null>
}

/** What a probe asks, and where it keeps what it was told. */
export type RdapWorld = {
  readonly lookUp: RdapLookUp
  readonly bootstrap: BootstrapInUse
  /** Null: what is known is kept in memory alone. */
  readonly shelf: AgeShelf | null
  readonly clock: Clock
  /** Is told why the shelf could not be read; the registry is asked then. */
  readonly failed: (error: unknown) => void
}

/** How many whole days lie between the registration and now; 0 when the registry's clock is ahead of ours. */
export const ageInDays = ({ registeredAtMs }: Registration, nowMs: number): number =>
  Math.max(0, Math.floor((nowMs - registeredAtMs) / DAY_MS))

/** Builds the probe of ages. */
export function rdapProbe(world: RdapWorld, bounds: RdapBounds): RdapProbe {
  const { lookUp, bootstrap, shelf, clock } = world
  const held = new HeldAges(clock, bounds.held)
  const underWay = new Map<string, Promise<AgeFound>>()

  /** Nobody is known who could tell; that was known before anybody asked. */
  const unserved = (): AgeFound => ({
    registration: known(null),
    isCached: true,
    freshUntilMs: clock() + bounds.held.untoldMs,
  })
  const notAsked = (): AgeFound => ({ registration: unknown("unavailable"), isCached: false, freshUntilMs: clock() })

  const keep = (domain: string, { registration, isAsked }: LookedUpAge): AgeFound => {
    if (!registration.known) return held.keepFailure(domain, registration, isAsked)
    const age = { registeredAtMs: registration.value?.registeredAtMs ?? null, checkedAtMs: clock() }
    shelf?.write(domain, age)
    return { ...held.keepAge(domain, age), isCached: false }
  }
  const find = async (domain: string): Promise<AgeFound> => {
    const shelved = await shelvedAge(world, domain)
    if (shelved !== null) held.keepAge(domain, shelved)
    const fresh = held.fresh(domain)
    if (fresh !== undefined) return fresh
    const inUse = bootstrap.current() ?? (await bootstrap.ready())
    if (inUse === null) return notAsked()
    const base = inUse.serviceOf(domain)
    return base === null ? unserved() : keep(domain, await lookUp(base, domain))
  }

  const fresh: RdapProbe["fresh"] = domain =>
    held.fresh(domain) ?? (bootstrap.current()?.serviceOf(domain) === null ? unserved() : undefined)
  const ask: RdapProbe["ask"] = domain => {
    const ready = fresh(domain) ?? underWay.get(domain)
    if (ready !== undefined) return ready
    if (underWay.size >= bounds.underWayMax) return notAsked()
    const found = find(domain).finally(() => underWay.delete(domain))
    underWay.set(domain, found)
    return found
  }
  const heldAge: RdapProbe["heldAge"] = domain => {
    const registration = held.fresh(domain)?.registration
    return registration?.known && registration.value !== null ? ageInDays(registration.value, clock()) : null
  }
  return { ask, fresh, heldAge }
}

/** What is on the shelf; null: nothing, or the shelf fails. */
async function shelvedAge({ shelf, failed }: RdapWorld, domain: string): Promise<ShelvedAge | null> {
  try {
    return (await shelf?.read(domain)) ?? null
  } catch (error) {
    failed(error)
    return null
  }
}
