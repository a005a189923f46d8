import { TwoGenerationCache } from "../base/two-generation-cache.ts"
import { type AddressWords, createAddressWords } from "./address/address-hints.ts"
import type { ListMatch } from "./lists/list-match.ts"
import type { PackManifest } from "./lists/manifest.ts"
import { openPack, type Pack } from "./lists/pack/pack.ts"
import { SET_BITS, type SetName } from "./lists/sets.ts"
import { KnownNameMatcher } from "./lookalike/known-name-matcher.ts"
import type { RefreshState } from "./refresh/refresh-state.ts"
import type { JudgedDomain } from "./result/result.ts"

/** What lists alone say of a domain. */
export type DomainLookup = {
  readonly listMatch: ListMatch
  /** The provider's domain that was probably meant. */
  readonly suggestion: string | null
  /** The known name that the domain imitates. */
  readonly lookalikeOf: string | null
  /** The domain was asked about before: it is one of the few that come again and again. */
  seenBefore: boolean
  /** What was settled of it; null: nothing is kept. */
  cachedVerdicts: CachedVerdicts | null
}

/** What was settled of one kind of question, and until when it holds, in milliseconds since the Unix epoch. */
export type CachedVerdict = { readonly judged: JudgedDomain; readonly freshUntilMs: number }

/** By kind of question, and whose it is: it stands beside the repute that it rests on, since to find it elsewhere takes longer. */
type CachedVerdicts = { readonly generation: object; readonly byRequestKind: Map<number, CachedVerdict> }

/** One pack and what is derived from it: all that a check asks of lists. */
export type DomainLists = {
  readonly pack: Pack
  readonly addressWords: AddressWords
  /** What the lists say of a domain and its registrable domain. Recent answers are kept: the same name comes again. */
  readonly lookupDomain: (domain: string, registrable: string | null) => DomainLookup
}

/** Lists, with what is known of where they come from. */
export type LoadedLists = {
  readonly lists: DomainLists
  /** What they were built from. */
  readonly manifest: PackManifest
  /** What the last refresh left. */
  readonly refreshState: RefreshState
}

/** How many domains' reputes are kept at least: about 200 bytes each, and 3 kB for each kind of question that is kept settled. */
const CACHED_DOMAINS_MIN = 5_000

/** Bytes that are no whole pack: why, and what to do about it. */
type DamagedPack = { readonly kind: "refused"; readonly says: string; readonly remedy: string }

/**
 * Opens a pack, reads all of it once, and derives what a check asks. The bytes must not change while the lists are in use.
 * Bytes that are ours, built or carried, are compared with their checksum only, for the sake of a quick start.
 */
export function openLists(
  bytes: Uint8Array,
  isOurs: boolean,
): { readonly kind: "open"; readonly lists: DomainLists } | DamagedPack {
  const opened = openPack(bytes)
  if (opened.kind === "refused") return opened
  const { pack } = opened
  const verified = isOurs ? pack.verifyChecksum() : pack.verify()
  if (!verified.ok) return { kind: "refused", says: verified.message, remedy: DAMAGED_REMEDY }
  const { role, shared_inbox: sharedInbox, group } = pack.words
  const words = createAddressWords({ role, sharedInbox, group, groupDomains: pack.groupDomains })
  return { kind: "open", lists: { pack, addressWords: words, lookupDomain: withLookupCache(createDomainLookup(pack)) } }
}

/** Names in these sets are neither typos nor look-alikes. The disposable set is not among them, since it lists many typos (DECISIONS 4). */
const GENUINE_SETS = [
  "personal",
  "relay",
  "education",
  "education_suffix",
  "government",
  "government_suffix",
  "organisation",
] as const satisfies readonly SetName[]
const GENUINE_MASK = GENUINE_SETS.reduce((mask, set) => mask | SET_BITS[set], 0)

function createDomainLookup(pack: Pack): DomainLists["lookupDomain"] {
  const imitations = new KnownNameMatcher(pack.targets)
  return (domain, registrable) => {
    const listMatch = pack.match(domain, registrable)
    if ((listMatch.mask & GENUINE_MASK) !== 0)
      return { listMatch, suggestion: null, lookalikeOf: null, seenBefore: false, cachedVerdicts: null }
    const end = registrable ?? domain
    const suggestion = imitations.suggestionFor(domain, end)
    return {
      listMatch,
      suggestion,
      lookalikeOf: imitations.lookalikeOf(domain, end),
      seenBefore: false,
      cachedVerdicts: null,
    }
  }
}

/** A domain has one registrable domain, so its name alone is the key. */
function withLookupCache(reputeOf: DomainLists["lookupDomain"]): DomainLists["lookupDomain"] {
  const recent = new TwoGenerationCache<string, DomainLookup>(CACHED_DOMAINS_MIN)
  return (domain, registrable) => {
    const held = recent.get(domain)
    if (held !== undefined) {
      held.seenBefore = true
      return held
    }
    const repute = reputeOf(domain, registrable)
    recent.set(domain, repute)
    return repute
  }
}

const DAMAGED_REMEDY =
  "Build the lists again with `mailkind lists build`, or copy the file again from where it is whole."
