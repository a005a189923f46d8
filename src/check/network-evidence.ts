import { Deadline, inTime, KeyedSemaphore, type Release } from "../base/concurrency.ts"
import { type Finding, known, NOT_QUERIED, unknown } from "../base/finding.ts"
import type { Clock, SetTimer } from "../base/outside-world.ts"
import { TwoGenerationCache } from "../base/two-generation-cache.ts"
import { LIMITS } from "../contract/limits.ts"
import { type CachedEvidence, type EvidenceCache, EvidenceCaches, gatheredNow } from "./evidence-cache.ts"
import {
  FAILED_EVIDENCE,
  IGNORE_DEFECTS,
  type NetworkEvidence,
  type OnDefect,
  readEvidence,
} from "./evidence-defects.ts"
import type { LookupContext } from "./lookup-context.ts"
import { isOfSuite } from "./mail/mail-evidence.ts"
import type { MailProbeResult } from "./mail/mail-probe.ts"
import { cloudOfMailHosts, type IdentityCloud } from "./tenant/identity-endpoint.ts"
import type { TenantProbeResult } from "./tenant/tenant-probe.ts"
import type { MailEvidence } from "./verdict/evidence.ts"
import { ALL_QUESTIONS, areAsked, QUESTIONS } from "./verdict/evidence-need.ts"

/** One lookup. Names are A-labels, lower case. */
export type NetworkQuery = {
  readonly domain: string
  /** The domain that has one registrant: `domain` itself or a parent. */
  readonly organisationalDomain: string
  /** What its caller needs (`QUESTIONS`). The evidence holds nothing else, whatever is cached. */
  readonly asked: number
  /** Whether mail without an answer is a failure. Else it counts as not asked. */
  readonly isDecisive: boolean
  /** Who asks: an account, or the network of a visitor. Null: the operator, whose lookups are not limited. */
  readonly callerId: string | null
}

/**
 * Looks a domain up within one deadline, which a batch shares. A fresh cached result comes without a promise. A defect in reading
 * mail or tenant makes that part `unavailable`, and it is not cached.
 */
export type NetworkProbe = (query: NetworkQuery, context?: LookupContext) => NetworkEvidence | Promise<NetworkEvidence>

type ProbeTenant = (query: NetworkQuery, cloud: IdentityCloud) => TenantProbeResult | Promise<TenantProbeResult>

type ProbeMail = (query: NetworkQuery, deadline: Deadline) => Promise<MailProbeResult>

type NetworkProbeDeps = {
  /** Settles within the deadline, with the evidence that is there by then. */
  readonly probeMail: ProbeMail
  /** Null: tenants are never looked up. */
  readonly probeTenant: ProbeTenant | null
  /** Whether the mail hosts of a name are looked up though nobody needs them, for what is learned of them. Absent: of none. */
  readonly isSampled?: (organisationalDomain: string) => boolean
  /** DNS is known to be unavailable, so that no other query is worth waiting for. */
  readonly isUnavailable: () => boolean
  /** Absent: defects are not reported. */
  readonly onDefect?: OnDefect
  /** Another value after each change of the lists, by which evidence was read: cached evidence is then not used. Absent: they never change. */
  readonly listsVersion?: () => string
  /** Absent: some thousand domains are cached as objects. */
  readonly cache?: EvidenceCache
  /** The same for the domains of lists, which must not displace what others have cached. */
  readonly cacheApart?: EvidenceCache
  readonly clock: Clock
  readonly setTimer: SetTimer
  /** Calls `work` after this turn of the event loop has handled everything that has arrived. */
  readonly nextTick: (work: () => void) => void
  /** Told of each lookup that ends. Absent: nobody is. */
  readonly onLookup?: () => void
  /** For one check, or for one batch. */
  readonly timeoutMs: number
  /** For one DNS question. */
  readonly queryTimeoutMs: number
}

/** How many domains are cached at least as objects, about 1 kB each. */
const CACHED_DOMAINS_MIN = 20_000

/** How many lookups for which nobody waits run at a time. Those of further names are left out, since a long list would keep all others waiting. */
const SAMPLES_MAX = 16

/** How many lookups of one caller start in one turn of the event loop. Each takes about 0.1 ms. */
const STARTS_PER_TURN_MAX = 8

/** How many more lookups of a caller wait for their turn until their deadline. */
const LOOKUPS_WAITING_MAX = 10_000

/** Builds a network probe that caches its results. Mail and tenant are looked up at the same time. */
export function createNetworkProbe(deps: NetworkProbeDeps): NetworkProbe {
  const { isSampled = () => false, onDefect = IGNORE_DEFECTS } = deps
  const lookUp = createLookup(deps)
  let sampleCount = 0
  const sample = async (query: NetworkQuery, context: LookupContext | undefined): Promise<void> => {
    sampleCount++
    try {
      await lookUp({ ...query, asked: QUESTIONS.delivery }, context)
    } catch (error) {
      // Nobody waits for it who could make a failure of it.
      onDefect("dns", error)
    } finally {
      sampleCount--
    }
  }
  return (query, context) => {
    if (query.asked === 0) {
      if (sampleCount < SAMPLES_MAX && isSampled(query.organisationalDomain)) void sample(query, context)
      return NOTHING_ASKED
    }
    const evidence = lookUp(query, context)
    if (query.isDecisive) return evidence
    return evidence instanceof Promise ? evidence.then(withoutFailure) : withoutFailure(evidence)
  }
}

const withoutFailure = (evidence: NetworkEvidence): NetworkEvidence =>
  evidence.mail.known ? evidence : { ...evidence, mail: NOT_QUERIED }

function createLookup(deps: NetworkProbeDeps): NetworkProbe {
  const { clock, setTimer, timeoutMs, listsVersion = () => "" } = deps
  const {
    cache = new TwoGenerationCache(CACHED_DOMAINS_MIN),
    cacheApart = new TwoGenerationCache(CACHED_DOMAINS_MIN),
  } = deps
  const caches = new EvidenceCaches(cache, cacheApart, listsVersion, clock)
  const createDeadline = (): Deadline => new Deadline(setTimer, timeoutMs)
  const inTurn = createTurns(deps)
  const gather = (query: NetworkQuery, deadline: Deadline, isApart: boolean): Promise<NetworkEvidence> => {
    const { domain, asked } = query
    const version = listsVersion()
    const withStale = (evidence: NetworkEvidence): CachedEvidence =>
      caches.withStale(domain, gatheredNow(evidence, asked, version, clock()), isApart)
    const onLateTenant = (evidence: NetworkEvidence): void => caches.set(domain, withStale(evidence), isApart)
    return gatherNetworkEvidence(deps, query, deadline, onLateTenant).then(evidence => {
      const gathered = withStale(evidence)
      deps.onLookup?.()
      // Evidence that a deadline cut short is that of its caller alone.
      if (!deadline.isExpired) caches.set(domain, gathered, isApart)
      return restricted(gathered.evidence, asked)
    })
  }
  return (query, context) => {
    const { domain, asked } = query
    const cached = caches.usable(query, context)
    if (cached !== null && areAsked(cached.asked, asked))
      return cached.asked === asked ? cached.evidence : restricted(cached.evidence, asked)
    const gatherAsked = (deadline: Deadline): Promise<NetworkEvidence> =>
      inTurn(query.callerId, deadline, () => gather(query, deadline, context?.isApart === true))
    // A name holds no space.
    if (context !== undefined) return context.lookup(`${domain} ${asked}`, createDeadline, gatherAsked)
    const deadline = createDeadline()
    return afterwards(gatherAsked(deadline), () => deadline.cancel())
  }
}

/** Calls `end` when the promise settles. `finally` would make three promises more. */
const afterwards = <T>(promise: Promise<T>, end: () => void): Promise<T> =>
  promise.then(
    value => {
      end()
      return value
    },
    (error: unknown) => {
      end()
      throw error
    },
  )

/** What evidence tells of fewer questions, so that a verdict does not depend on what others asked. */
function restricted(evidence: NetworkEvidence, asked: number): NetworkEvidence {
  if (asked === ALL_QUESTIONS) return evidence
  const { mail, suites, tenant } = evidence
  const areSuitesAsked =
    areAsked(asked, QUESTIONS.suites) ||
    (areAsked(asked, QUESTIONS.proof) && mail.known && isOfSuite(mail.value.operatedBy))
  return {
    ...evidence,
    mail: mail.known && !areAsked(asked, QUESTIONS.records) ? known(askedMail(mail.value, asked)) : mail,
    suites: suites.known && !areSuitesAsked ? NOT_QUERIED : suites,
    tenant: areAsked(asked, QUESTIONS.tenant) ? tenant : NOT_QUERIED,
  }
}

const askedMail = (mail: MailEvidence, asked: number): MailEvidence => ({
  ...mail,
  hasAddress: mail.hasAddress && mail.delivery !== "mx",
  spf: areAsked(asked, QUESTIONS.suites) ? mail.spf : NOT_QUERIED,
  dmarcPolicy: NOT_QUERIED,
})

/** Bounds the lookups of each caller. One that does not get its turn before its deadline has no evidence. */
function createTurns({ setTimer, nextTick, queryTimeoutMs }: NetworkProbeDeps) {
  const lookups = new KeyedSemaphore<string>(LIMITS.lookupsPerCallerMax, LOOKUPS_WAITING_MAX)
  const starts = new KeyedSemaphore<string>(STARTS_PER_TURN_MAX, LIMITS.lookupsPerCallerMax)
  const run = (work: () => Promise<NetworkEvidence>, deadline: Deadline, endTurn: Release): Promise<NetworkEvidence> =>
    afterwards(work(), () => {
      // The questions of a lookup that was given up are still in flight.
      if (deadline.isExpired) setTimer(queryTimeoutMs, endTurn)
      else endTurn()
    })
  const waitAndRun = async (
    callerId: string,
    deadline: Deadline,
    work: () => Promise<NetworkEvidence>,
    turn: Release | null,
  ): Promise<NetworkEvidence> => {
    const endTurn = turn ?? (await inTime(lookups.acquire(callerId), deadline))
    if (endTurn === null) return LATE_EVIDENCE
    const endStart = await starts.acquire(callerId)
    if (endStart !== null) nextTick(endStart)
    return await run(work, deadline, endTurn)
  }
  return (
    callerId: string | null,
    deadline: Deadline,
    work: () => Promise<NetworkEvidence>,
  ): Promise<NetworkEvidence> => {
    if (callerId === null) return work()
    const endTurn = lookups.tryAcquire(callerId)
    const endStart = endTurn === null ? null : starts.tryAcquire(callerId)
    if (endTurn === null || endStart === null) return waitAndRun(callerId, deadline, work, endTurn)
    nextTick(endStart)
    return run(work, deadline, endTurn)
  }
}

/** `onLateTenant` gets the evidence, if its mail is there in time and its tenant is not, when the tenant is. */
function gatherNetworkEvidence(
  { probeMail, probeTenant, isUnavailable, onDefect = IGNORE_DEFECTS, clock }: NetworkProbeDeps,
  query: NetworkQuery,
  deadline: Deadline,
  onLateTenant: (evidence: NetworkEvidence) => void,
): Promise<NetworkEvidence> {
  const mailResult = readEvidence("dns", onDefect, MAIL_UNAVAILABLE, probeMail, query, deadline)
  if (probeTenant === null || !areAsked(query.asked, QUESTIONS.tenant) || isUnavailable())
    return Promise.resolve(mailResult).then(ofMail => combined(ofMail, TENANT_NOT_QUERIED, query.asked))
  // A tenant lookup that misses the deadline continues, and a later check reads its result, or its failure, from the cache.
  const fallback = { tenant: PENDING, isCached: false, freshUntilMs: clock() }
  const probeClouds = (): Promise<TenantProbeResult> => probeTenantClouds(probeTenant, query, mailResult)
  const tenantResult = readEvidence("tenant", onDefect, TENANT_UNAVAILABLE, probeClouds, null, null)
  const inTimeResult = tenantResult instanceof Promise ? deadline.wait(tenantResult, fallback) : tenantResult
  return Promise.resolve(mailResult).then(async ofMail => {
    const isMailInTime = !deadline.isExpired
    const ofTenant = await inTimeResult
    if (ofTenant === fallback && isMailInTime)
      Promise.resolve(tenantResult)
        .then(late => onLateTenant(combined(ofMail, late, query.asked)))
        .catch((error: unknown) => onDefect("tenant", error))
    return combined(ofMail, ofTenant, query.asked)
  })
}

const combined = (ofMail: MailProbeResult, ofTenant: TenantProbeResult, asked: number): NetworkEvidence =>
  restricted(
    {
      mail: ofMail.mail,
      suites: ofMail.suites,
      tenant: ofTenant.tenant,
      isCached: ofMail.isCached && ofTenant.isCached,
      freshUntilMs: Math.min(ofMail.freshUntilMs, ofTenant.freshUntilMs),
    },
    asked,
  )

/** Queries the worldwide cloud, where most tenants are. If it knows none, the mail hosts may point to another cloud. */
async function probeTenantClouds(
  probeTenant: ProbeTenant,
  query: NetworkQuery,
  mailResult: MailProbeResult | Promise<MailProbeResult>,
): Promise<TenantProbeResult> {
  const worldwide = await probeTenant(query, "worldwide")
  if (!worldwide.tenant.known || worldwide.tenant.value !== null) return worldwide
  const { mail } = await mailResult
  const cloud = mail.known ? cloudOfMailHosts(mail.value.mx.map(({ host }) => host)) : "worldwide"
  return cloud === "worldwide" ? worldwide : await probeTenant(query, cloud)
}

const PENDING: Finding<never> = unknown("pending")
const UNAVAILABLE: Finding<never> = unknown("unavailable")
const NOT_CACHED = { isCached: false, freshUntilMs: 0 }
const MAIL_UNAVAILABLE: MailProbeResult = { ...NOT_CACHED, mail: UNAVAILABLE, suites: UNAVAILABLE, hosts: [] }
const TENANT_UNAVAILABLE: TenantProbeResult = { ...NOT_CACHED, tenant: UNAVAILABLE }
const TENANT_NOT_QUERIED: TenantProbeResult = {
  tenant: NOT_QUERIED,
  isCached: true,
  freshUntilMs: Number.POSITIVE_INFINITY,
}

/** A lookup that did not get its turn, because its caller has too many others. It is not cached. */
const LATE_EVIDENCE: NetworkEvidence = { ...FAILED_EVIDENCE, mail: unknown("timed_out"), suites: unknown("timed_out") }

/** The evidence of a domain about which nothing has to be known. */
export const NOTHING_ASKED: NetworkEvidence = {
  mail: NOT_QUERIED,
  suites: NOT_QUERIED,
  tenant: NOT_QUERIED,
  isCached: false,
  freshUntilMs: Number.POSITIVE_INFINITY,
}

const OFFLINE_EVIDENCE: NetworkEvidence = { ...FAILED_EVIDENCE, freshUntilMs: Number.POSITIVE_INFINITY }

/** Queries nothing: every verdict rests on lists alone, and says so, whatever its caller needs. */
export const offlineNetworkProbe: NetworkProbe = () => OFFLINE_EVIDENCE
