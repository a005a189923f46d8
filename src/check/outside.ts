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

/** Asks the outside world about a domain within one budget of time. What is held and fresh comes without a promise. It never rejects. */
export type Outside = (asked: Asked) => Told | Promise<Told>

type AskTenant = (asked: Asked, cloud: Cloud) => TenantFound | Promise<TenantFound>

type Needs = {
  /** Settles within the budget, with what is there by then. */
  readonly mail: (asked: Asked) => Promise<MailFound>
  /** Null: tenants are never asked for. */
  readonly tenant: AskTenant | null
  /** DNS is known to be away, so that nothing from outside is worth waiting for. */
  readonly isAway: () => boolean
  readonly clock: Clock
  readonly later: Later
  /** The whole budget of one check, in milliseconds. */
  readonly budgetMs: number
}

/** How many domains are held at least, about 1 kB each: a second check of a name costs no more than its lists. */
const HELD_MIN = 20_000

/** Builds the questions of one check over the probes. All are asked side by side. */
export function outside(needs: Needs): Outside {
  const held = new Recent<string, Told>(HELD_MIN)
  return asked => {
    const key = asked.wantsTenant ? asked.domain : `${asked.domain} `
    const before = held.get(key)
    if (before !== undefined && before.freshUntilMs > needs.clock()) return before
    return gathered(needs, asked).then(told => {
      // Held from now on, so whoever asks again is told from a cache; a failure was not, whoever asks.
      if (told.freshUntilMs > needs.clock()) held.set(key, told.mail.known ? { ...told, isCached: true } : told)
      return told
    })
  }
}

async function gathered({ mail, tenant, isAway, clock, later, budgetMs }: Needs, asked: Asked): Promise<Told> {
  const mailAsked = mail(asked)
  if (tenant === null || !asked.wantsTenant || isAway()) return { ...(await mailAsked), tenant: NOT_ASKED }
  const tenantAsked = tenantOf(tenant, asked, mailAsked)
  const [ofMail, tenantFound] = await Promise.all([mailAsked, within(tenantAsked, budgetMs, later)])
  const ofTenant = tenantFound ?? { tenant: PENDING, isCached: false, freshUntilMs: clock() }
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

/** Null when it is not there in time: it is still looked up when the check is over, and the next check has it. */
async function within(found: Promise<TenantFound>, ms: number, later: Later): Promise<TenantFound | null> {
  const { promise: late, resolve: end } = Promise.withResolvers<null>()
  const callOff = later(ms, () => end(null))
  const inTime = await Promise.race([found, late])
  callOff()
  return inTime
}

const NOT_ASKED: Finding<never> = unknown("not_asked")
const PENDING: Finding<never> = unknown("pending")

const NEVER: Told = {
  mail: unknown("unavailable"),
  suites: unknown("unavailable"),
  tenant: NOT_ASKED,
  isCached: false,
  freshUntilMs: Number.POSITIVE_INFINITY,
}

/** The outside world of somebody who asks nobody: every verdict rests on lists alone. */
export const offline: Outside = () => NEVER
