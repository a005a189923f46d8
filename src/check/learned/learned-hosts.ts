import { networkOf } from "./address-network.ts"

/** The number of listed domains that must be seen at a host or an address before it is learned. */
export const LISTED_DOMAINS_MIN = 5

/** The share of all domains seen there that must be listed. */
export const LISTED_SHARE_MIN = 0.95

/** The number of addresses of a network that must be learned before the network is. */
export const NETWORK_ADDRESSES_MIN = 3

/**
 * The number for a candidate host, on which others counted more than sixty listed domains, and how many listed domains are
 * added to those that were seen there when its share is computed.
 */
export const CANDIDATE_LISTED_MIN = 2
export const CANDIDATE_LISTED_PRIOR = 60

/** The number of days for which an observation counts. */
export const OBSERVATION_DAYS_MAX = 90

/** How many addresses of a network are looked at: all of an IPv4 network. */
const NETWORK_ADDRESSES_MAX = 256

/** The bounds of the memory. */
export type LearnedBounds = {
  /** Hosts and addresses together. */
  readonly placesMax: number
  readonly observationsMax: number
  /** The number of domains that are kept of one host or address. */
  readonly domainsPerPlaceMax: number
}

/** These bounds keep the memory within about 36 MB. */
export const LEARNED_BOUNDS: LearnedBounds = { placesMax: 40_000, observationsMax: 50_000, domainsPerPlaceMax: 64 }

/** Where a domain's mail is received. */
export type MailPlaces = {
  /** The key of the mail host (`mailHostKey`); null: it stands under the domain's own name, or must not be learned. */
  readonly host: string | null
  /** Addresses of the mail hosts in their canonical form. */
  readonly addresses: readonly string[]
}

/** Where a domain's mail was received when it was last checked. */
export type HostObservation = MailPlaces & {
  /** 52 bits of a hash of the registrable domain (`hashDomain`). */
  readonly domainHash: number
  /** Whether the domain was on the disposable list at that time. */
  readonly isListed: boolean
  /** The day (UTC) of the observation, counted from 1 January 1970. */
  readonly seenOn: number
}

/** A host or an address with the domains that were seen there. */
type Place = {
  readonly key: string
  /** The network of an address; null: the place is a host. */
  readonly network: string | null
  readonly domains: Set<number>
  /** How many domains there were on a day; null: that has to be counted. */
  counts: { readonly day: number; readonly seen: number; readonly listed: number } | null
  /** The last domain of no list that was left out because the place had enough others. */
  leftOut: { readonly domainHash: number; readonly day: number } | null
}

type HeldObservation = HostObservation & {
  /** The places that hold the domain. */
  places: readonly Place[]
  /** Keys of places that served disposable domains before the domain was seen there: there it says nothing for itself. */
  readonly foundIn: readonly string[]
}

type Candidates = Pick<ReadonlySet<string>, "has">

/**
 * Learns which mail hosts and which addresses serve disposable domains from the domains that were seen there. Only the lists decide
 * whether a domain is disposable. A registrable domain counts once, for where it was seen last, and a listed one at one address alone:
 * listed domains that are pointed at several hosts count for the last one only (`DECISIONS 65`). A domain of no list counts against a
 * place, and for itself too if it was there before the place served disposable domains.
 *
 * Of a place with many domains those with the smallest hashes are kept, which is a fair sample that does not depend on the order or
 * the process. If memory is full, the least recently observed place is forgotten with all its domains.
 */
export class LearnedHosts {
  readonly #bounds: LearnedBounds
  readonly #candidates: Candidates
  /** By the hash of the domain. */
  readonly #observations = new Map<number, HeldObservation>()
  /** Least recently observed first. */
  readonly #places = new Map<string, Place>()
  readonly #networks = new Map<string, Set<Place>>()
  /** The hashes of the domains whose observations are not yet stored. */
  readonly #unwritten = new Set<number>()

  /** `candidates` are keys of hosts that others measured to serve many listed domains. */
  constructor(bounds: LearnedBounds, candidates: Candidates = new Set()) {
    this.#bounds = bounds
    this.#candidates = candidates
  }

  /** The numbers of hosts and addresses, and of observations in memory. */
  get size(): { readonly places: number; readonly observations: number } {
    return { places: this.#places.size, observations: this.#observations.size }
  }

  /** Records where the mail of a registrable domain is received on this day. */
  observe(domain: string, { host, addresses }: MailPlaces, isListed: boolean, day: number): void {
    const domainHash = hashDomain(domain)
    const seen = { domainHash, host, addresses: isListed ? addresses.slice(0, 1) : addresses, isListed, seenOn: day }
    const before = this.#observations.get(domainHash)
    if (before !== undefined && before.seenOn === day && isSame(before, seen)) this.#markRecent(before.places)
    else if (this.#store(seen, day)) this.#unwritten.add(domainHash)
  }

  /** Whether the domain was seen, and on no list when it was seen last. */
  isUnlisted(domainHash: number): boolean {
    return this.#observations.get(domainHash)?.isListed === false
  }

  /**
   * Records that a domain that was on no list when it was seen is listed now. It counts at its first address alone, and as long as if it
   * had been listed then.
   */
  markListed(domainHash: number, day: number): void {
    const before = this.#observations.get(domainHash)
    if (before === undefined || before.isListed) return
    const { host, addresses, seenOn } = before
    const listed = { domainHash, host, addresses: addresses.slice(0, 1), isListed: true, seenOn }
    if (this.#store(listed, day)) this.#unwritten.add(domainHash)
  }

  /** Whether a domain's mail is received where disposable domains are served, by the observations of the last `OBSERVATION_DAYS_MAX` days. */
  servesDisposable(domain: string, { host, addresses }: MailPlaces, day: number): boolean {
    const domainHash = hashDomain(domain)
    const keys = host === null ? addresses : [...addresses, host]
    return (
      keys.some(key => this.#isLearned(this.#places.get(key), domainHash, day)) ||
      addresses.some(address => this.#isNetworkLearned(networkOf(address), domainHash, day))
    )
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

  #isLearned(place: Place | undefined, domainHash: number, day: number): boolean {
    if (place === undefined) return false
    const { seen, listed } = this.#countsOf(place, day)
    const others = this.#isOwnWitness(place, domainHash, day) ? seen - 1 : seen
    const isCandidate = this.#candidates.has(place.key)
    const prior = isCandidate ? CANDIDATE_LISTED_PRIOR : 0
    if (listed < (isCandidate ? CANDIDATE_LISTED_MIN : LISTED_DOMAINS_MIN)) return false
    return (listed + prior) / (others + prior) >= LISTED_SHARE_MIN
  }

  /** Whether the domain was counted at the place, and found there when the place served disposable domains already. */
  #isOwnWitness(place: Place, domainHash: number, day: number): boolean {
    return this.#honestAt(place, domainHash, day)?.foundIn.includes(place.key) === true
  }

  /** The observation of a domain of no list that counts at the place; null: there is none, or it has expired. */
  #honestAt(place: Place, domainHash: number, day: number): HeldObservation | null {
    const own = place.domains.has(domainHash) ? this.#observations.get(domainHash) : undefined
    return own === undefined || isExpired(own, day) || own.isListed ? null : own
  }

  #isNetworkLearned(network: string, domainHash: number, day: number): boolean {
    let learnedCount = 0
    for (const place of this.#networks.get(network)?.values().take(NETWORK_ADDRESSES_MAX) ?? []) {
      const { seen, listed } = this.#countsOf(place, day)
      const isOwn = seen - listed === 1 && this.#honestAt(place, domainHash, day) !== null
      const leftOut = place.leftOut
      const hasLeftOut =
        leftOut !== null && leftOut.domainHash !== domainHash && day - leftOut.day <= OBSERVATION_DAYS_MAX
      if ((seen > listed && !isOwn) || hasLeftOut) return false
      if (this.#isLearned(place, domainHash, day)) learnedCount++
    }
    return learnedCount >= NETWORK_ADDRESSES_MIN
  }

  #countsOf(place: Place, day: number): NonNullable<Place["counts"]> {
    if (place.counts?.day === day) return place.counts
    let [seen, listed] = [0, 0]
    for (const hash of place.domains) {
      const observation = this.#observations.get(hash)
      if (observation === undefined || isExpired(observation, day)) continue
      seen++
      if (observation.isListed) listed++
    }
    place.counts = { day, seen, listed }
    return place.counts
  }

  /** Stores an observation in place of an earlier one of the domain; false: its places have enough other domains. */
  #store(observation: HostObservation, day: number): boolean {
    const { domainHash: hash, host, addresses, isListed, seenOn } = observation
    const before = this.#observations.get(hash)
    const keys = host === null ? addresses : [...addresses, host]
    // Before the domain is counted.
    const foundIn = isListed ? [] : keys.filter(key => this.#isFoundIn(key, before, day))
    if (before !== undefined) this.#removeObservation(before)
    const places = keys.map((key, index) => this.#placeOf(key, index < addresses.length))
    const holding = places.filter(place => this.#hasRoom(place, observation, day))
    for (const place of holding) {
      place.domains.add(hash)
      place.counts = null
    }
    this.#markRecent(places)
    for (const place of places) if (place.domains.size === 0) this.#removePlace(place)
    if (holding.length === 0) return false
    this.#observations.set(hash, { domainHash: hash, host, addresses, isListed, seenOn, places: holding, foundIn })
    this.#evictPlaces()
    return true
  }

  /** A domain that is seen at a place again keeps what it was found to be there. */
  #isFoundIn(key: string, before: HeldObservation | undefined, day: number): boolean {
    const place = this.#places.get(key)
    if (place === undefined) return false
    const isThere = before !== undefined && !before.isListed && before.places.includes(place)
    return isThere ? before.foundIn.includes(key) : this.#isLearned(place, NO_DOMAIN, day)
  }

  /** What a key is, only its origin tells: strangers choose the names of hosts. */
  #placeOf(key: string, isAddress: boolean): Place {
    const held = this.#places.get(key)
    if (held !== undefined) return held
    const network = isAddress ? networkOf(key) : null
    const place: Place = { key, network, domains: new Set(), counts: null, leftOut: null }
    this.#places.set(key, place)
    if (network !== null) this.#networks.getOrInsertComputed(network, () => new Set()).add(place)
    return place
  }

  /** Whether the place has room for the domain. If it is full, an expired domain or the one with the largest hash is removed. */
  #hasRoom(place: Place, { domainHash, isListed }: HostObservation, day: number): boolean {
    if (place.domains.size < this.#bounds.domainsPerPlaceMax) return true
    let largest: HeldObservation | null = null
    for (const hash of place.domains) {
      const observation = this.#observations.get(hash)
      if (observation === undefined) continue
      if (isExpired(observation, day)) {
        this.#removeFrom(place, observation)
        return true
      }
      if (largest === null || hash > largest.domainHash) largest = observation
    }
    if (largest === null || domainHash > largest.domainHash) {
      if (!isListed) place.leftOut = { domainHash, day }
      return false
    }
    if (!largest.isListed) place.leftOut = { domainHash: largest.domainHash, day: largest.seenOn }
    this.#removeFrom(place, largest)
    return true
  }

  /** Moves places to the end of the eviction order. */
  #markRecent(places: readonly Place[]): void {
    for (const place of places) {
      this.#places.delete(place.key)
      this.#places.set(place.key, place)
    }
  }

  #evictPlaces(): void {
    const { placesMax, observationsMax } = this.#bounds
    for (const place of this.#places.values()) {
      if (this.#places.size <= placesMax && this.#observations.size <= observationsMax) return
      for (const hash of place.domains) {
        const observation = this.#observations.get(hash)
        if (observation !== undefined) this.#removeFrom(place, observation)
      }
      this.#removePlace(place)
    }
  }

  #removeObservation(observation: HeldObservation): void {
    for (const place of observation.places) {
      this.#removeFrom(place, observation)
      if (place.domains.size === 0) this.#removePlace(place)
    }
  }

  /** Removes a domain from one place, and forgets it if no other holds it. */
  #removeFrom(place: Place, observation: HeldObservation): void {
    place.domains.delete(observation.domainHash)
    place.counts = null
    observation.places = observation.places.filter(each => each !== place)
    if (observation.places.length > 0) return
    this.#observations.delete(observation.domainHash)
    this.#unwritten.delete(observation.domainHash)
  }

  #removePlace(place: Place): void {
    if (this.#places.get(place.key) === place) this.#places.delete(place.key)
    if (place.network === null) return
    const ofNetwork = this.#networks.get(place.network)
    ofNetwork?.delete(place)
    if (ofNetwork?.size === 0) this.#networks.delete(place.network)
  }
}

/** No hash is negative. */
const NO_DOMAIN = -1

const isExpired = ({ seenOn }: HostObservation, day: number): boolean => day - seenOn > OBSERVATION_DAYS_MAX

const isSame = (one: HostObservation, other: HostObservation): boolean =>
  one.host === other.host &&
  one.isListed === other.isListed &&
  one.addresses.length === other.addresses.length &&
  one.addresses.every((address, index) => address === other.addresses[index])

/** The hash that stands for a domain. It is stored, so it must be the same in every version. */
export const hashDomain = (domain: string): number => Number(Bun.hash.xxHash64(domain) >> DROPPED_BITS)

/** Of 64 bits 52 are kept: a JavaScript number and a database column hold them exactly. */
const DROPPED_BITS = 12n
