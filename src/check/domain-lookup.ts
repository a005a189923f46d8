import { lazy } from "../base/lazy.ts"
import { RecurringTextCache } from "../base/recurring-text-cache.ts"
import type { CacheLifetime } from "../base/time.ts"
import { type AddressWords, createAddressWords } from "./address/address-hints.ts"
import type { ListMatch } from "./lists/list-match.ts"
import type { PackManifest } from "./lists/manifest.ts"
import { openPack, type Pack } from "./lists/pack/pack.ts"
import type { PackVerification } from "./lists/pack/pack-verification.ts"
import { SET_BITS, type SetName } from "./lists/sets.ts"
import { bundledBrands } from "./lookalike/brands/brand-matcher.ts"
import { KnownNameMatcher, type NameMatch, NO_NAME_MATCH } from "./lookalike/known-name-matcher.ts"
import { namePatternOf } from "./name-patterns/name-patterns.ts"
import type { RefreshState } from "./refresh/refresh-state.ts"
import type { JudgedDomain } from "./result/result.ts"

/** What the lists say about a domain, without the network. */
export type DomainLookup = NameMatch & {
  readonly listMatch: ListMatch
  /** What the name says that the body is; null: nothing. */
  readonly namePattern: "education" | "government" | null
  /** Whether the domain was looked up before. Only few domains recur, and only their verdicts are worth caching. */
  seenBefore: boolean
  /** The cached verdicts of the domain; null: none. They are stored here because a separate cache would cost another lookup. */
  cachedVerdicts: CachedVerdicts | null
}

/** A verdict for one kind of request. */
export type CachedVerdict = CacheLifetime & {
  readonly judged: JudgedDomain
  /** The version of all ages at which the domain's age was compared last. */
  ageVersion: number
}

/** The verdicts of one domain by kind of request. They are stale if `generation` is no longer the current one. */
type CachedVerdicts = { readonly generation: object; readonly byRequestKind: Map<number, CachedVerdict> }

/** One pack and what is derived from it: everything that a check needs of the lists. */
export type DomainLists = {
  readonly pack: Pack
  /** Prepared on first use, so that a start does not wait for them. */
  readonly addressWords: AddressWords
  /** Looks up a domain, given its registrable domain (null: none). Recent results are cached, since domains recur. */
  readonly lookupDomain: (domain: string, registrable: string | null) => DomainLookup
  /** The provider meant by a domain that was typed with wrong punctuation, given the domain with the right one. */
  readonly matchBroken: (mended: string) => NameMatch
}

/** Lists and their origin. */
export type LoadedLists = {
  readonly lists: DomainLists
  readonly manifest: PackManifest
  /** The state after the last refresh. */
  readonly refreshState: RefreshState
}

/** About how many domains that recur are cached: about 200 bytes each, and 2 kB for each cached verdict. */
const CACHED_DOMAINS = 5_000

/** Why bytes are not an intact pack, and what to do about it. */
type DamagedPack = { readonly kind: "refused"; readonly message: string; readonly remedy: string }

/**
 * Opens and verifies a pack and derives what a check needs. The bytes must not change while the lists are in use. `isOurs`:
 * this program has built or bundled the pack, so only its checksum and its texts are verified, for a fast start. It never throws.
 */
export function openLists(
  bytes: Uint8Array,
  isOurs: boolean,
  cachedDomains = CACHED_DOMAINS,
): { readonly kind: "open"; readonly lists: DomainLists } | DamagedPack {
  const opened = openPack(bytes)
  if (opened.kind === "refused") return opened
  const { pack } = opened
  const verified = isOurs ? verifyOurs(pack) : pack.verify()
  if (!verified.ok) return { kind: "refused", message: verified.message, remedy: DAMAGED_REMEDY }
  const addressWords = lazy(() => addressWordsOf(pack))
  const knownNames = new KnownNameMatcher(pack.targets, bundledBrands)
  const lists = {
    pack,
    get addressWords() {
      return addressWords()
    },
    lookupDomain: withLookupCache(createDomainLookup(pack, knownNames), cachedDomains),
    matchBroken: (mended: string) => knownNames.matchMended(mended),
  }
  return { kind: "open", lists }
}

function addressWordsOf({ words, groupDomains }: Pack): AddressWords {
  const { role, shared_inbox: sharedInbox, group, region, person_name: personName } = words
  return createAddressWords({ role, sharedInbox, group, region, personName, groupDomains })
}

/** What reads the texts would throw if they cannot be decoded, though a writer gave them the right checksum. */
function verifyOurs(pack: Pack): PackVerification {
  const checksum = pack.verifyChecksum()
  return checksum.ok ? pack.verifyTexts() : checksum
}

/** Sets of real names, which are neither typos nor look-alikes. The disposable set lists many typos and is not one of them. */
const GENUINE_SETS = [
  "personal",
  "relay",
  "education",
  "education_suffix",
  "government",
  "government_suffix",
  "organisation",
  "agent_mailbox",
] as const satisfies readonly SetName[]
const GENUINE_MASK = GENUINE_SETS.reduce((mask, set) => mask | SET_BITS[set], 0)

function createDomainLookup(pack: Pack, knownNames: KnownNameMatcher): DomainLists["lookupDomain"] {
  return (domain, registrable) => {
    const listMatch = pack.match(domain, registrable)
    const isGenuine = (listMatch.mask & GENUINE_MASK) !== 0
    const { suggestion, isHouseholdSlip, lookalikeOf } = isGenuine
      ? isOfProvider(listMatch, domain)
        ? knownNames.matchSplitLabel(domain)
        : NO_NAME_MATCH
      : knownNames.match(domain, registrable ?? domain)
    return {
      listMatch,
      suggestion,
      isHouseholdSlip,
      lookalikeOf,
      namePattern: registrable === null ? null : (namePatternOf(registrable)?.category ?? null),
      seenBefore: false,
      cachedVerdicts: null,
    }
  }
}

/** Whether a list names a parent of the domain as a provider, and not the domain itself. */
const isOfProvider = (listMatch: ListMatch, domain: string): boolean =>
  (listMatch.mask & SET_BITS.personal) !== 0 && listMatch.entry !== domain

/** Caches the lookups of domains that recur. A domain has one registrable domain, so its name is the key. */
function withLookupCache(
  lookupDomain: DomainLists["lookupDomain"],
  cachedDomains: number,
): DomainLists["lookupDomain"] {
  const recurring = new RecurringTextCache<DomainLookup>(cachedDomains)
  return (domain, registrable) => {
    const cached = recurring.get(domain)
    if (cached !== undefined) return cached
    const lookup = lookupDomain(domain, registrable)
    lookup.seenBefore = recurring.offer(domain, lookup)
    return lookup
  }
}

const DAMAGED_REMEDY = "Build the lists again with `mailkind lists build`, or copy the file again from an intact one."
