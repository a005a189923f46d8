/** The number of domains of the disposable list that a host must serve before it is learned. */
export const LISTED_DOMAINS_MIN = 5

/** The share of a host's domains that must be on the disposable list. */
export const LISTED_SHARE_MIN = 0.8

/** The number of days for which an observation counts. */
export const OBSERVATION_DAYS_MAX = 90

/** The bounds of the memory. */
export type LearnedBounds = {
  readonly hostsMax: number
  readonly observationsMax: number
  /** The number of domains that are kept of one host. */
  readonly domainsPerHostMax: number
}

/** These bounds keep the memory within about 15 MB. */
export const LEARNED_BOUNDS: LearnedBounds = { hostsMax: 10_000, observationsMax: 50_000, domainsPerHostMax: 64 }

/**
 * Learns which mail hosts serve disposable domains from the domains that they were observed to serve. Only the lists decide
 * whether a domain is disposable. A registrable domain counts once, for the host on which it was last observed: listed
 * domains that are pointed at several hosts one after the other count for the last one only (`DECISIONS 18`).
 *
 * Of a host with many domains those with the smallest hashes are kept, which is a fair sample that does not depend on the
 * order or the process. If memory is full, the least recently observed host is evicted with all its domains, so that its
 * share does not change.
 */
export class LearnedHosts {
  readonly #bounds: LearnedBounds
  /** By the hash of the domain. */
  readonly #observations = new Map<number, HostObservation>()
  /** The domains of each host, least recently observed host first. */
  readonly #domainsOf = new Map<string, Set<number>>()
  /** The hashes of the domains whose observations are not yet stored. */
  readonly #unwritten = new Set<number>()

  constructor(bounds: LearnedBounds) {
    this.#bounds = bounds
  }

  /** The numbers of hosts and observations in memory. */
  get size(): { readonly hosts: number; readonly observations: number } {
    return { hosts: this.#domainsOf.size, observations: this.#observations.size }
  }

  /** Records that the host (`mailHostKey`) receives the mail of a registrable domain on this day. */
  observe(host: string, domain: string, isListed: boolean, day: number): void {
    const hash = hashDomain(domain)
    const before = this.#observations.get(hash)
    if (before?.host === host && before.isListed === isListed && before.seenOn === day) this.#markRecent(host)
    else if (this.#store({ domainHash: hash, host, isListed, seenOn: day }, day)) this.#unwritten.add(hash)
  }

  /** Whether the host serves disposable domains, by the observations of the last `OBSERVATION_DAYS_MAX` days. */
  servesDisposable(host: string, day: number): boolean {
    let [seenCount, listedCount] = [0, 0]
    for (const hash of this.#domainsOf.get(host) ?? []) {
      const observation = this.#observations.get(hash)
      if (observation === undefined || isExpired(observation, day)) continue
      seenCount++
      if (observation.isListed) listedCount++
    }
    return listedCount >= LISTED_DOMAINS_MIN && listedCount / seenCount >= LISTED_SHARE_MIN
  }

  /** Loads stored observations, least recent first. Observations of this process that are not yet stored take precedence. */
  load(observations: readonly HostObservation[], day: number): void {
    for (const observation of observations)
      if (!this.#unwritten.has(observation.domainHash) && !isExpired(observation, day)) this.#store(observation, day)
  }

  /** At most `countMax` observations that are not yet stored. */
  unwritten(countMax: number): readonly HostObservation[] {
    return [...this.#unwritten.values().take(countMax)].flatMap(hash => this.#observations.get(hash) ?? [])
  }

  /** Marks observations as stored. A newer observation of the same domain stays unwritten. */
  markWritten(observations: readonly HostObservation[]): void {
    for (const observation of observations)
      if (this.#observations.get(observation.domainHash) === observation) this.#unwritten.delete(observation.domainHash)
  }

  /** Stores an observation in place of an earlier one of the domain; false: its host has enough other domains. */
  #store(observation: HostObservation, day: number): boolean {
    const { domainHash: hash, host } = observation
    if (!this.#hasRoom(host, hash, day)) return false
    const before = this.#observations.get(hash)
    if (before !== undefined && before.host !== host) this.#removeObservation(before)
    this.#markRecent(host).add(hash)
    this.#observations.set(hash, observation)
    this.#evictHosts()
    return true
  }

  /** Whether the host has room for the domain. If it is full, an expired domain or the one with the largest hash is removed. */
  #hasRoom(host: string, hash: number, day: number): boolean {
    const domains = this.#domainsOf.get(host)
    if (domains === undefined || domains.has(hash) || domains.size < this.#bounds.domainsPerHostMax) return true
    let largest: HostObservation | null = null
    for (const each of domains) {
      const observation = this.#observations.get(each)
      if (observation === undefined) continue
      if (isExpired(observation, day)) {
        this.#removeObservation(observation)
        return true
      }
      if (largest === null || each > largest.domainHash) largest = observation
    }
    if (largest === null || hash > largest.domainHash) return false
    this.#removeObservation(largest)
    return true
  }

  /** Moves the host to the end of the eviction order and returns its domains. */
  #markRecent(host: string): Set<number> {
    const domains = this.#domainsOf.get(host) ?? new Set()
    this.#domainsOf.delete(host)
    this.#domainsOf.set(host, domains)
    return domains
  }

  #evictHosts(): void {
    const { hostsMax, observationsMax } = this.#bounds
    for (const [host, domains] of this.#domainsOf) {
      if (this.#domainsOf.size <= hostsMax && this.#observations.size <= observationsMax) return
      this.#domainsOf.delete(host)
      for (const hash of domains) this.#forgetDomain(hash)
    }
  }

  #removeObservation({ domainHash: hash, host }: HostObservation): void {
    this.#forgetDomain(hash)
    const domains = this.#domainsOf.get(host)
    domains?.delete(hash)
    if (domains?.size === 0) this.#domainsOf.delete(host)
  }

  #forgetDomain(hash: number): void {
    this.#observations.delete(hash)
    this.#unwritten.delete(hash)
  }
}

const isExpired = ({ seenOn }: HostObservation, day: number): boolean => day - seenOn > OBSERVATION_DAYS_MAX

/** The mail host of a domain when it was last checked. */
export type HostObservation = {
  /** 52 bits of a hash of the registrable domain (`hashDomain`). */
  readonly domainHash: number
  /** The key of the mail host (`mailHostKey`). */
  readonly host: string
  /** Whether the domain was on the disposable list at that time. */
  readonly isListed: boolean
  /** The day (UTC) of the observation, counted from 1 January 1970. */
  readonly seenOn: number
}

/** The hash that stands for a domain. It is stored, so it must be the same in every version. */
export const hashDomain = (domain: string): number => Number(Bun.hash.xxHash64(domain) >> DROPPED_BITS)

/** Of 64 bits 52 are kept: a JavaScript number and a database column hold them exactly. */
const DROPPED_BITS = 12n
