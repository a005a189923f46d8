import { Recent } from "../base/recent.ts"
import { type AddressWords, addressWords } from "./address/hints.ts"
import { Imitations } from "./address/imitation.ts"
import { openPack, type Pack } from "./lists/domain-set.ts"
import type { Listed } from "./lists/listed.ts"
import type { Manifest } from "./lists/manifest.ts"
import { SET_BITS, type SetName } from "./lists/sets.ts"
import type { Settled } from "./present.ts"
import type { RefreshState } from "./refresh/refresh-state.ts"

/** What lists alone say of a domain. */
export type Repute = {
  readonly listed: Listed
  /** The provider's domain that was probably meant. */
  readonly suggestion: string | null
  /** The known name that the domain imitates. */
  readonly imitated: string | null
  /** The domain was asked about before: it is one of the few that come again and again. */
  cameAgain: boolean
  /** What was settled of it; null: nothing is kept. */
  kept: KeptOfDomain | null
}

/** What was settled of one kind of question, and until when it holds, in milliseconds since the Unix epoch. */
export type Kept = { readonly settled: Settled; readonly freshUntilMs: number }

/** By kind of question, and whose it is: it stands beside the repute that it rests on, since to find it elsewhere takes longer. */
type KeptOfDomain = { readonly by: object; readonly byKind: Map<number, Kept> }

/** One pack and what is derived from it: all that a check asks of lists. */
export type Lists = {
  readonly pack: Pack
  readonly words: AddressWords
  /** What the lists say of a domain and its registrable domain. Recent answers are kept: the same name comes again. */
  readonly reputeOf: (domain: string, registrable: string | null) => Repute
}

/** Lists, with what is known of where they come from. */
export type KnownLists = {
  readonly lists: Lists
  /** What they were built from. */
  readonly manifest: Manifest
  /** What the last refresh left. */
  readonly state: RefreshState
}

/** How many domains' reputes are kept at least: about 200 bytes each, and 3 kB for each kind of question that is kept settled. */
const REPUTES_MIN = 5_000

/** Bytes that are no whole pack: why, and what to do about it. */
type Refused = { readonly kind: "refused"; readonly says: string; readonly remedy: string }

/**
 * Opens a pack, reads all of it once, and derives what a check asks. The bytes must not change while the lists are in use.
 * Bytes that are ours, built or carried, are compared with their checksum only, for the sake of a quick start.
 */
export function openLists(
  bytes: Uint8Array,
  isOurs: boolean,
): { readonly kind: "open"; readonly lists: Lists } | Refused {
  const opened = openPack(bytes)
  if (opened.kind === "refused") return opened
  const { pack } = opened
  const verified = isOurs ? pack.compareChecksum() : pack.verify()
  if (!verified.ok) return { kind: "refused", says: verified.says, remedy: DAMAGED_REMEDY }
  const { role, shared_inbox: sharedInbox, group } = pack.words
  const words = addressWords({ role, sharedInbox, group, groupDomains: pack.groupDomains })
  return { kind: "open", lists: { pack, words, reputeOf: keepingRecent(reputes(pack)) } }
}

/** Sets whose names are nobody's typo and no imitation. The disposable set lists many typos and does not count (decisions §3). */
const GENUINE = [
  "personal",
  "relay",
  "education",
  "education_suffix",
  "government",
  "government_suffix",
  "organisation",
] as const satisfies readonly SetName[]
const GENUINE_MASK = GENUINE.reduce((mask, set) => mask | SET_BITS[set], 0)

function reputes(pack: Pack): Lists["reputeOf"] {
  const imitations = new Imitations(pack.targets)
  return (domain, registrable) => {
    const listed = pack.listed(domain, registrable)
    if ((listed.mask & GENUINE_MASK) !== 0)
      return { listed, suggestion: null, imitated: null, cameAgain: false, kept: null }
    const end = registrable ?? domain
    const suggestion = imitations.suggestion(domain, end)
    return { listed, suggestion, imitated: imitations.imitated(domain, end), cameAgain: false, kept: null }
  }
}

/** A domain has one registrable domain, so its name alone is the key. */
function keepingRecent(reputeOf: Lists["reputeOf"]): Lists["reputeOf"] {
  const recent = new Recent<string, Repute>(REPUTES_MIN)
  return (domain, registrable) => {
    const held = recent.get(domain)
    if (held !== undefined) {
      held.cameAgain = true
      return held
    }
    const repute = reputeOf(domain, registrable)
    recent.set(domain, repute)
    return repute
  }
}

const DAMAGED_REMEDY =
  "Build the lists again with `mailkind lists build`, or copy the file again from where it is whole."
