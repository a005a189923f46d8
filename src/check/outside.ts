import { Budget } from "../base/budget.ts"
import type { Clock } from "../base/clock.ts"
import { type Finding, unknown } from "../base/finding.ts"
import { Recent } from "../base/recent.ts"
import type { Later } from "../base/timer.ts"
import type { MailFound, TenantFound } from "./probes/found.ts"
import { type Cloud, cloudOf } from "./probes/identity-endpoint.ts"
import type { Mail, Suites, Tenant } from "./verdict/evidence.ts"

/** What the outside world told of a domain. */
export type Told = {
  readonly mail: Finding<Mail>
  readonly suites: Finding<Suites>
  readonly tenant: Finding<Tenant | null>
  /** Every part that was asked for came from a cache, and one was asked for. */
  readonly isCached: boolean
  /** Until when asking again would tell the same, in milliseconds since the Unix epoch. */
  readonly freshUntilMs: number
}

/** What is asked of the outside world. Names are A-labels, lower case. */
export type Asked = {
  readonly domain: string
  /** The name that has one registrant: the domain itself or a parent. */
  readonly organisational: string
  /** Whether the tenant in suite_b is asked for too. */
  readonly wantsTenant: boolean
}

/**
 * Asks the outside world about a domain within one budget of time, which is the visit's where there is one. What is held
 * and fresh comes without a promise. It never rejects.
 */
export type Outside = (asked: Asked, visit?: Visit) => Told | Promise<Told>

/**
 * What several checks ask of the outside world together: within one budget of time, and about each domain once. It takes
 * no timer until somebody has to wait, and whoever made it ends it when all checks are done.
 */
export class Visit {
  readonly #failed: (error: unknown) => void
  readonly #asked = new Map<string, Promise<Told>>()
  #budget: Budget | null = null

  /** `failed` is told why a domain could not be asked about by our own fault; its verdict then rests on lists alone. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  /** What is told of the key: `ask` is called for the first who wants to know, and given the budget; `begun` makes that. It never rejects. */
  tell(key: string, begun: () => Budget, ask: (budget: Budget) => Promise<Told>): Promise<Told> {
    return this.#asked.getOrInsertComputed(key, () => {
      this.#budget ??= begun()
      return ask(this.#budget).catch(error => {
        this.#failed(error)
        return BROKEN
      })
    })
  }

  /** Ends it: nobody waits any more. */
  end(): void {
    this.#budget?.end()
  }
}

type AskTenant = (asked: Asked, cloud: Cloud) => TenantFound | Promise<TenantFound>

type Needs = {
  /** Settles within the budget, with what is there by then. */
  readonly mail: (asked: Asked, budget: Budget) => Promise<MailFound>
  /** Null: tenants are never asked for. */
  readonly tenant: AskTenant | null
  /** DNS is known to be away, so that nothing from outside is worth waiting for. */
  readonly isAway: () => boolean
  readonly clock: Clock
  readonly later: Later
  /** The whole budget of one check, or of one visit, in milliseconds. */
  readonly budgetMs: number
}

/** How many domains are held at least, about 1 kB each: a second check of a name costs no more than its lists. */
const HELD_MIN = 20_000

/** Builds the questions of one check over the probes. All are asked side by side. */
export function outside(needs: Needs): Outside {
  const { clock, later, budgetMs } = needs
  const held = new Recent<string, Told>(HELD_MIN)
  const begun = (): Budget => new Budget(later, budgetMs)
  const heldFrom = async (key: string, asked: Asked, budget: Budget): Promise<Told> => {
    const told = await gathered(needs, asked, budget)
    // Held from now on, so whoever asks again is told from a cache; a failure was not, whoever asks.
    if (told.freshUntilMs > clock()) held.set(key, told.mail.known ? { ...told, isCached: true } : told)
    return told
  }
  return (asked, visit) => {
    const key = asked.wantsTenant ? asked.domain : `${asked.domain} `
    const before = held.get(key)
    if (before !== undefined && before.freshUntilMs > clock()) return before
    if (visit !== undefined) return visit.tell(key, begun, budget => heldFrom(key, asked, budget))
    const own = begun()
    return heldFrom(key, asked, own).finally(() => own.end())
  }
}

async function gathered({ mail, tenant, isAway, clock }: Needs, asked: Asked, budget: Budget): Promise<Told> {
  const mailAsked = mail(asked, budget)
  if (tenant === null || !asked.wantsTenant || isAway()) return { ...(await mailAsked), tenant: NOT_ASKED }
  // A look-up that is not there in time goes on when the check is over, and the next check has it.
  const late = { tenant: PENDING, isCached: false, freshUntilMs: clock() }
  const [ofMail, ofTenant] = await Promise.all([mailAsked, budget.wait(tenantOf(tenant, asked, mailAsked), late)])
  return {
    ...ofMail,
    tenant: ofTenant.tenant,
    isCached: ofMail.isCached && ofTenant.isCached,
    freshUntilMs: Math.min(ofMail.freshUntilMs, ofTenant.freshUntilMs),
  }
}

/** Most tenants are in one cloud, which is asked at once; where it knows none, the mail hosts may name another. */
async function tenantOf(tenant: AskTenant, asked: Asked, mailAsked: Promise<MailFound>): Promise<TenantFound> {
  const found = await tenant(asked, "worldwide")
  if (!found.tenant.known || found.tenant.value !== null) return found
  const { mail } = await mailAsked
  const cloud = mail.known ? cloudOf(mail.value.mx.map(({ host }) => host)) : "worldwide"
  return cloud === "worldwide" ? found : await tenant(asked, cloud)
}

const NOT_ASKED: Finding<never> = unknown("not_asked")
const PENDING: Finding<never> = unknown("pending")

/** Nothing, and not for long: it is asked for again by whoever wants to know. */
const BROKEN: Told = {
  mail: unknown("unavailable"),
  suites: unknown("unavailable"),
  tenant: NOT_ASKED,
  isCached: false,
  freshUntilMs: 0,
}

const NEVER: Told = { ...BROKEN, freshUntilMs: Number.POSITIVE_INFINITY }

/** The outside world of somebody who asks nobody: every verdict rests on lists alone. */
export const offline: Outside = () => NEVER
