/** How many domains of our disposable list a host must serve before it is learned. */
export const LISTED_DOMAINS_MIN = 5

/** Which share of a host's domains they must be. */
export const LISTED_SHARE_MIN = 0.8

/** How many days a sighting counts. */
export const OBSERVATION_DAYS_MAX = 90

/** How much is remembered at most. */
export type LearnedBounds = {
  readonly hostsMax: number
  readonly sightingsMax: number
  /** Of a host with more domains so many are kept. */
  readonly domainsPerHostMax: number
}

/** Bounds that keep the memory within about 15 MB. */
export const LEARNED_BOUNDS: LearnedBounds = { hostsMax: 10_000, sightingsMax: 50_000, domainsPerHostMax: 64 }

/**
 * Mail hosts, the domains they were seen to serve, and so which of them serve disposable domains. Only our own lists say
 * that a domain is disposable. A registrable domain counts once, on the host where it was seen last: whoever points a
 * few listed domains at the hosts of others, one after the other, has them count on the last one only.
 *
 * Of a host with many domains those with the smallest hashes are kept, which are a fair sample of them, the same in
 * every order and every process. A host that is forgotten for want of room is forgotten whole, lest its share shift; the
 * one that was met least recently goes first.
 */
export class LearnedHosts {
  readonly #bounds: LearnedBounds
  /** By the hash of the domain. */
  readonly #observations = new Map<number, HostObservation>()
  /** The domains of each host, least recently met host first. */
  readonly #domainsOf = new Map<string, Set<number>>()
  /** The sightings that no store has yet, by the hash of the domain. */
  readonly #unwritten = new Set<number>()

  constructor(bounds: LearnedBounds) {
    this.#bounds = bounds
  }

  /** How much is remembered now. */
  get size(): { readonly hosts: number; readonly sightings: number } {
    return { hosts: this.#domainsOf.size, sightings: this.#observations.size }
  }

  /** Takes note that the host (`mailHostKey`) takes the mail of a registrable domain on this day. */
  observe(host: string, domain: string, isListed: boolean, day: number): void {
    const hash = hashDomain(domain)
    const before = this.#observations.get(hash)
    if (before?.host === host && before.isListed === isListed && before.seenOn === day) this.#markRecent(host)
    else if (this.#store({ domainHash: hash, host, isListed, seenOn: day }, day)) this.#unwritten.add(hash)
  }

  /** Whether the host serves disposable domains, by what was seen in the last `SIGHTING_DAYS_MAX` days. */
  servesDisposable(host: string, day: number): boolean {
    let [seenCount, listedCount] = [0, 0]
    for (const hash of this.#domainsOf.get(host) ?? []) {
      const sighting = this.#observations.get(hash)
      if (sighting === undefined || isExpired(sighting, day)) continue
      seenCount++
      if (sighting.isListed) listedCount++
    }
    return listedCount >= LISTED_DOMAINS_MIN && listedCount / seenCount >= LISTED_SHARE_MIN
  }

  /** Takes in what a store holds, the least recent first. What was seen here and is not written yet stands. */
  load(sightings: readonly HostObservation[], day: number): void {
    for (const sighting of sightings)
      if (!this.#unwritten.has(sighting.domainHash) && !isExpired(sighting, day)) this.#store(sighting, day)
  }

  /** At most `countMax` sightings that are not written yet. */
  unwritten(countMax: number): readonly HostObservation[] {
    return [...this.#unwritten.values().take(countMax)].flatMap(hash => this.#observations.get(hash) ?? [])
  }

  /** Takes note that these were written; what was seen anew meanwhile is still unwritten. */
  markWritten(sightings: readonly HostObservation[]): void {
    for (const sighting of sightings)
      if (this.#observations.get(sighting.domainHash) === sighting) this.#unwritten.delete(sighting.domainHash)
  }

  /** Keeps the sighting in the place of an earlier one of the domain; false: its host has enough others. */
  #store(sighting: HostObservation, day: number): boolean {
    const { domainHash: hash, host } = sighting
    if (!this.#hasRoom(host, hash, day)) return false
    const before = this.#observations.get(hash)
    if (before !== undefined && before.host !== host) this.#removeObservation(before)
    this.#markRecent(host).add(hash)
    this.#observations.set(hash, sighting)
    this.#evictHosts()
    return true
  }

  /** Whether the host may have the domain. Where it has as many as are kept, one that is too old makes room, or the largest hash. */
  #hasRoom(host: string, hash: number, day: number): boolean {
    const domains = this.#domainsOf.get(host)
    if (domains === undefined || domains.has(hash) || domains.size < this.#bounds.domainsPerHostMax) return true
    let largest: HostObservation | null = null
    for (const each of domains) {
      const sighting = this.#observations.get(each)
      if (sighting === undefined) continue
      if (isExpired(sighting, day)) {
        this.#removeObservation(sighting)
        return true
      }
      if (largest === null || each > largest.domainHash) largest = sighting
    }
    if (largest === null || hash > largest.domainHash) return false
    this.#removeObservation(largest)
    return true
  }

  /** The domains of a host, which is now the one that was met last. */
  #markRecent(host: string): Set<number> {
    const domains = this.#domainsOf.get(host) ?? new Set()
    this.#domainsOf.delete(host)
    this.#domainsOf.set(host, domains)
    return domains
  }

  #evictHosts(): void {
    const { hostsMax, sightingsMax } = this.#bounds
    for (const [host, domains] of this.#domainsOf) {
      if (this.#domainsOf.size <= hostsMax && this.#observations.size <= sightingsMax) return
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

/** Where a domain's mail went when it was last looked at. */
export type HostObservation = {
  /** 52 bits of a hash of the registrable domain (`hashDomain`). */
  readonly domainHash: number
  /** The mail host, as `mailHostKey` names it. */
  readonly host: string
  /** Whether our lists called the domain disposable then. */
  readonly isListed: boolean
  /** The day, UTC, counted from 1 January 1970. */
  readonly seenOn: number
}

/** The hash by which a domain is remembered: the same in every version, since it is stored. */
export const hashDomain = (domain: string): number => Number(Bun.hash.xxHash64(domain) >> DROPPED_BITS)

/** 52 of 64 bits stay: as many as a number and a column hold whole. */
const DROPPED_BITS = 12n
