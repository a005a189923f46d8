import { type Finding, known } from "../base/finding.ts"
import type { Clock } from "../base/outside-world.ts"
import { type CacheLifetime, isFresh } from "../base/time.ts"
import { STALE_TTL_MS, STALE_WINDOW_S } from "./dns/resolver/dns-cache.ts"
import type { NetworkEvidence } from "./evidence-defects.ts"
import type { LookupContext } from "./lookup-context.ts"
import { areAsked, QUESTIONS } from "./verdict/evidence-need.ts"

/** Evidence with what was asked, and the version of the lists at the start of its lookup. */
export type CachedEvidence = CacheLifetime & {
  readonly evidence: NetworkEvidence
  readonly asked: number
  readonly version: string
  /** Until when it may replace evidence that could not be gathered. */
  readonly staleUntilMs: number
  /** Stale evidence of more questions whose place it took. */
  readonly wider?: CachedEvidence | undefined
}

/**
 * Caches the evidence of domains. It is the one place where a domain is held: what its own records say is cached nowhere else. The values
 * must survive JSON, in which a large cache has them.
 */
export type EvidenceCache = {
  readonly get: (domain: string) => CachedEvidence | undefined
  readonly set: (domain: string, cached: CachedEvidence) => void
}

/** Evidence that was gathered now. It may replace a failure as long as a DNS answer may. */
export function gatheredNow(evidence: NetworkEvidence, asked: number, version: string, nowMs: number): CachedEvidence {
  const { freshUntilMs } = evidence
  const staleUntilMs = freshUntilMs + STALE_WINDOW_S * 1000
  return { evidence, asked, version, cachedAtMs: nowMs, freshUntilMs, staleUntilMs }
}

/** The evidence that is cached: of domains that are checked singly and in batches, and of domains of lists. */
export class EvidenceCaches {
  readonly #shared: EvidenceCache
  readonly #apart: EvidenceCache
  readonly #listsVersion: () => string
  readonly #clock: Clock

  constructor(shared: EvidenceCache, apart: EvidenceCache, listsVersion: () => string, clock: Clock) {
    this.#shared = shared
    this.#apart = apart
    this.#listsVersion = listsVersion
    this.#clock = clock
  }

  /** The evidence that serves a lookup, which may answer other questions; null: there is none. A list uses that of all others too. */
  usable({ domain, asked }: CachedQuery, context: LookupContext | undefined): CachedEvidence | null {
    const cached = this.#usable(this.#shared.get(domain))
    if (context?.isApart !== true || (cached !== null && areAsked(cached.asked, asked))) return cached
    return this.#usable(this.#apart.get(domain), context.sinceMs)
  }

  /** What was found, with stale evidence in place of what failed. */
  withStale(domain: string, found: CachedEvidence, isApart: boolean): CachedEvidence {
    if (isMailComplete(found.evidence)) return found
    const cached = this.#shared.get(domain) ?? (isApart ? this.#apart.get(domain) : undefined)
    const isNarrower = cached !== undefined && !areAsked(cached.asked, found.asked & QUESTIONS.records)
    return withStale(found, isNarrower ? cached.wider : cached)
  }

  /** Caches evidence while it is fresh. What a list has only in part is looked up again when it comes up again. */
  set(domain: string, gathered: CachedEvidence, isApart: boolean): void {
    if (!isFresh(gathered, this.#clock()) || (isApart && !isComplete(gathered.evidence))) return
    const cache = isApart ? this.#apart : this.#shared
    const cached = cache.get(domain)
    if (!mayReplace(gathered, cached)) return
    const before = gathered.version === this.#listsVersion() ? this.#usable(cached) : null
    const found = asCached(joined(before, gathered))
    if (cached === undefined) {
      cache.set(domain, found)
      return
    }
    const wider = [cached, cached.wider].find(
      one => one !== undefined && gathered.cachedAtMs < one.staleUntilMs && hasMoreMail(one, found),
    )
    cache.set(domain, { ...found, wider: wider && { ...wider, wider: undefined } })
  }

  #usable(cached: CachedEvidence | undefined, sinceMs = Number.POSITIVE_INFINITY): CachedEvidence | null {
    if (cached === undefined || cached.version !== this.#listsVersion()) return null
    return isFresh(cached, this.#clock()) || cached.cachedAtMs >= sinceMs ? cached : null
  }
}

type CachedQuery = { readonly domain: string; readonly asked: number }

/**
 * What was found, with stale evidence in place of what failed (RFC 8767): all of the mail, or the SPF record with the suites to which it
 * leads, or the DMARC policy. Evidence that does not answer all that was asked replaces nothing.
 */
function withStale(found: CachedEvidence, stale: CachedEvidence | undefined): CachedEvidence {
  if (stale === undefined || found.cachedAtMs >= stale.staleUntilMs) return found
  if (!areAsked(stale.asked, found.asked & QUESTIONS.records)) return found
  const { mail, suites } = stale.evidence
  if (!mail.known) return found
  // What was learned of mail hosts is no answer of DNS, and holds for the lists of its time alone.
  if (stale.version !== found.version && mail.value.operatedBy === "learned_disposable") return found
  const { evidence } = found
  const staleUntilMs = Math.min(found.staleUntilMs, stale.staleUntilMs)
  if (!evidence.mail.known) {
    const freshUntilMs = Math.min(found.cachedAtMs + STALE_TTL_MS, stale.staleUntilMs)
    const asked = (stale.asked & QUESTIONS.records) | (found.asked & QUESTIONS.tenant)
    const replaced = { ...evidence, mail, suites, isCached: true, freshUntilMs }
    return { ...found, evidence: replaced, asked, freshUntilMs, staleUntilMs: stale.staleUntilMs }
  }
  const { spf, dmarcPolicy } = evidence.mail.value
  const hasSpf = isAnswered(spf)
  const merged = known({
    ...evidence.mail.value,
    spf: hasSpf ? spf : mail.value.spf,
    dmarcPolicy: isAnswered(dmarcPolicy) ? dmarcPolicy : mail.value.dmarcPolicy,
  })
  return { ...found, evidence: { ...evidence, mail: merged, suites: hasSpf ? evidence.suites : suites }, staleUntilMs }
}

/** Whether evidence may take the place of what is cached: a failure does not, as long as what is cached may replace a failure. */
const mayReplace = ({ evidence, cachedAtMs }: CachedEvidence, cached: CachedEvidence | undefined): boolean =>
  evidence.mail.known || cached?.evidence.mail.known !== true || cachedAtMs >= cached.staleUntilMs

/** The next request gets it from the cache with `isCached`. A failure does not count as cached. A spread would cost a microsecond. */
function asCached(found: CachedEvidence): CachedEvidence {
  const { evidence, asked, version, cachedAtMs, freshUntilMs, staleUntilMs } = found
  const { mail, suites, tenant } = evidence
  if (!mail.known || evidence.isCached) return found
  const cached = { mail, suites, tenant, isCached: true, freshUntilMs: evidence.freshUntilMs }
  return { evidence: cached, asked, version, cachedAtMs, freshUntilMs, staleUntilMs }
}

/**
 * What is cached of a domain when a lookup ends: its evidence, with what others have asked meanwhile and it has not. Mail that is known
 * stands above mail that failed, and wider mail above narrower.
 */
function joined(before: CachedEvidence | null, found: CachedEvidence): CachedEvidence {
  if (before === null) return found
  const [mail, other] = hasMoreMail(before, found) ? [before, found] : [found, before]
  const tenant = areAsked(found.asked, QUESTIONS.tenant) ? found : before
  if (tenant === mail || !areAsked(tenant.asked, QUESTIONS.tenant)) return mail
  const freshUntilMs = Math.min(mail.freshUntilMs, other.freshUntilMs)
  return {
    ...{ evidence: { ...mail.evidence, tenant: tenant.evidence.tenant, freshUntilMs }, freshUntilMs },
    asked: mail.asked | QUESTIONS.tenant,
    cachedAtMs: Math.min(mail.cachedAtMs, other.cachedAtMs),
    staleUntilMs: mail.staleUntilMs,
    version: found.version,
  }
}

/** Whether the first knows more of the mail: of the questions about it each holds those before it. */
function hasMoreMail(one: CachedEvidence, other: CachedEvidence): boolean {
  const [isKnown, isOtherKnown] = [one.evidence.mail.known, other.evidence.mail.known]
  if (isKnown !== isOtherKnown) return isKnown
  return (one.asked & QUESTIONS.records) > (other.asked & QUESTIONS.records)
}

/** Whether everything that was asked about is known. */
const isComplete = (evidence: NetworkEvidence): boolean =>
  isMailComplete(evidence) && isAnswered(evidence.suites) && isAnswered(evidence.tenant)

/** The same of the mail. */
const isMailComplete = ({ mail }: NetworkEvidence): boolean =>
  mail.known && isAnswered(mail.value.spf) && isAnswered(mail.value.dmarcPolicy)

const isAnswered = (finding: Finding<unknown>): boolean => finding.known || finding.cause === "not_asked"
