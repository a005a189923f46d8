import { Deadline } from "../base/concurrency.ts"
import { type Finding, unknown } from "../base/finding.ts"
import type { Clock, SetTimer } from "../base/outside-world.ts"
import { TwoGenerationCache } from "../base/two-generation-cache.ts"
import type { MailProbeResult, TenantProbeResult } from "./cache-status.ts"
import { cloudOfMailHosts, type IdentityCloud } from "./tenant/identity-endpoint.ts"
import type { DetectedSuites, MailEvidence, Tenant } from "./verdict/evidence.ts"

/** What the outside world told of a domain. */
export type NetworkEvidence = {
  readonly mail: Finding<MailEvidence>
  readonly suites: Finding<DetectedSuites>
  readonly tenant: Finding<Tenant | null>
  /** Every part that was asked for came from a cache, and one was asked for. */
  readonly isCached: boolean
  /** Until when asking again would tell the same, in milliseconds since the Unix epoch. */
  readonly freshUntilMs: number
}

/** What is asked of the outside world. Names are A-labels, lower case. */
export type NetworkQuery = {
  readonly domain: string
  /** The name that has one registrant: the domain itself or a parent. */
  readonly organisationalDomain: string
  /** Whether the tenant in suite_b is asked for too. */
  readonly includeTenant: boolean
}

/**
 * Asks the outside world about a domain within one budget of time, which is the visit's where there is one. What is held
 * and fresh comes without a promise. It never rejects.
 */
export type NetworkProbe = (asked: NetworkQuery, visit?: BatchContext) => NetworkEvidence | Promise<NetworkEvidence>

/**
 * What several checks ask of the outside world together: within one budget of time, and about each domain once. It takes
 * no timer until somebody has to wait, and whoever made it ends it when all checks are done.
 */
export class BatchContext {
  readonly #onError: (error: unknown) => void
  readonly #queries = new Map<string, Promise<NetworkEvidence>>()
  #deadline: Deadline | null = null

  /** `failed` is told why a domain could not be asked about by our own fault; its verdict then rests on lists alone. */
  constructor(failed: (error: unknown) => void) {
    this.#onError = failed
  }

  /** What is told of the key: `ask` is called for the first who wants to know, and given the budget; `begun` makes that. It never rejects. */
  lookup(
    key: string,
    begun: () => Deadline,
    ask: (budget: Deadline) => Promise<NetworkEvidence>,
  ): Promise<NetworkEvidence> {
    return this.#queries.getOrInsertComputed(key, () => {
      this.#deadline ??= begun()
      return ask(this.#deadline).catch(error => {
        this.#onError(error)
        return FAILED_EVIDENCE
      })
    })
  }

  /** Ends it: nobody waits any more. */
  close(): void {
    this.#deadline?.cancel()
  }
}

type ProbeTenant = (asked: NetworkQuery, cloud: IdentityCloud) => TenantProbeResult | Promise<TenantProbeResult>

type NetworkProbeDeps = {
  /** Settles within the budget, with what is there by then. */
  readonly probeMail: (asked: NetworkQuery, budget: Deadline) => Promise<MailProbeResult>
  /** Null: tenants are never asked for. */
  readonly probeTenant: ProbeTenant | null
  /** DNS is known to be away, so that nothing from outside is worth waiting for. */
  readonly isUnavailable: () => boolean
  readonly clock: Clock
  readonly setTimer: SetTimer
  /** The whole budget of one check, or of one visit, in milliseconds. */
  readonly timeoutMs: number
}

/** How many domains are held at least, about 1 kB each: a second check of a name costs no more than its lists. */
const CACHED_DOMAINS_MIN = 20_000

/** Builds the questions of one check over the probes. All are asked side by side. */
export function createNetworkProbe(needs: NetworkProbeDeps): NetworkProbe {
  const { clock, setTimer, timeoutMs } = needs
  const held = new TwoGenerationCache<string, NetworkEvidence>(CACHED_DOMAINS_MIN)
  const begun = (): Deadline => new Deadline(setTimer, timeoutMs)
  const heldFrom = async (key: string, asked: NetworkQuery, budget: Deadline): Promise<NetworkEvidence> => {
    const told = await gatherNetworkEvidence(needs, asked, budget)
    // Held from now on, so whoever asks again is told from a cache; a failure was not, whoever asks.
    if (told.freshUntilMs > clock()) held.set(key, told.mail.known ? { ...told, isCached: true } : told)
    return told
  }
  return (asked, visit) => {
    const key = asked.includeTenant ? asked.domain : `${asked.domain} `
    const before = held.get(key)
    if (before !== undefined && before.freshUntilMs > clock()) return before
    if (visit !== undefined) return visit.lookup(key, begun, budget => heldFrom(key, asked, budget))
    const own = begun()
    return heldFrom(key, asked, own).finally(() => own.cancel())
  }
}

async function gatherNetworkEvidence(
  { probeMail, probeTenant, isUnavailable, clock }: NetworkProbeDeps,
  asked: NetworkQuery,
  budget: Deadline,
): Promise<NetworkEvidence> {
  const mailAsked = probeMail(asked, budget)
  if (probeTenant === null || !asked.includeTenant || isUnavailable())
    return { ...(await mailAsked), tenant: NOT_QUERIED }
  // A look-up that is not there in time goes on when the check is over, and the next check has it.
  const late = { tenant: PENDING, isCached: false, freshUntilMs: clock() }
  const [ofMail, ofTenant] = await Promise.all([
    mailAsked,
    budget.wait(probeTenantClouds(probeTenant, asked, mailAsked), late),
  ])
  return {
    ...ofMail,
    tenant: ofTenant.tenant,
    isCached: ofMail.isCached && ofTenant.isCached,
    freshUntilMs: Math.min(ofMail.freshUntilMs, ofTenant.freshUntilMs),
  }
}

/** Most tenants are in one cloud, which is asked at once; where it knows none, the mail hosts may name another. */
async function probeTenantClouds(
  tenant: ProbeTenant,
  asked: NetworkQuery,
  mailAsked: Promise<MailProbeResult>,
): Promise<TenantProbeResult> {
  const found = await tenant(asked, "worldwide")
  if (!found.tenant.known || found.tenant.value !== null) return found
  const { mail } = await mailAsked
  const cloud = mail.known ? cloudOfMailHosts(mail.value.mx.map(({ host }) => host)) : "worldwide"
  return cloud === "worldwide" ? found : await tenant(asked, cloud)
}

const NOT_QUERIED: Finding<never> = unknown("not_asked")
const PENDING: Finding<never> = unknown("pending")

/** Nothing, and not for long: it is asked for again by whoever wants to know. */
const FAILED_EVIDENCE: NetworkEvidence = {
  mail: unknown("unavailable"),
  suites: unknown("unavailable"),
  tenant: NOT_QUERIED,
  isCached: false,
  freshUntilMs: 0,
}

const OFFLINE_EVIDENCE: NetworkEvidence = { ...FAILED_EVIDENCE, freshUntilMs: Number.POSITIVE_INFINITY }

/** The outside world of somebody who asks nobody: every verdict rests on lists alone. */
export const offlineNetworkProbe: NetworkProbe = () => OFFLINE_EVIDENCE
