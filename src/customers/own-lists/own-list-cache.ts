import { LRUCache } from "lru-cache"
import { SingleFlight } from "../../base/single-flight.ts"
import { type Change, isChangeKind } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import { hashedAddress, parseStoredEntry } from "./entries.ts"
import { OPERATOR, OWN_LISTS, type OwnList } from "./own-lists.ts"

// The coverage of a name, from the lowest bit on: a bit for each list that has it, the same for all names below it, and whether an address
// at this very name is on one of the lists.
const LIST_BITS = Object.fromEntries(OWN_LISTS.map((list, at) => [list, 1 << at])) as Record<OwnList, number> // one each
const SUBDOMAINS_SHIFT = OWN_LISTS.length
const LIST_BITS_MASK = (1 << SUBDOMAINS_SHIFT) - 1
const HAS_ADDRESS = 1 << (2 * SUBDOMAINS_SHIFT)

/** Whether the lists of one owner have a name, in bits; zero: no. Read it with `isOnList` and `mayListAddress`. */
type ListBits = number

/** Whether the name or address is on the list. */
export const isOnList = (coverage: ListBits, list: OwnList): boolean => (coverage & LIST_BITS[list]) !== 0

/** Whether an address at the domain may have an entry of its own; `ofAddress` tells. */
export const mayListAddress = (coverage: ListBits): boolean => (coverage & HAS_ADDRESS) !== 0

/** The block and the allow list of one owner: one look-up per label serves both. */
export class EntryIndex {
  readonly #names = new Map<string, number>()
  /** By stored form. */
  readonly #addresses = new Map<string, number>()
  /** The number of entries. */
  readonly entryCount: number

  constructor(rows: readonly { readonly list: OwnList; readonly entry: string }[]) {
    this.entryCount = rows.length
    for (const { list, entry } of rows) this.#add(LIST_BITS[list], entry)
  }

  /** The coverage of a domain by its own and its parents' entries. */
  domainBits(domain: string): ListBits {
    if (this.#names.size === 0) return 0
    let coverage = (this.#names.get(domain) ?? 0) & (LIST_BITS_MASK | HAS_ADDRESS)
    for (let dot = domain.indexOf("."); dot >= 0; dot = domain.indexOf(".", dot + 1))
      coverage |= ((this.#names.get(domain.slice(dot + 1)) ?? 0) >> SUBDOMAINS_SHIFT) & LIST_BITS_MASK
    return coverage
  }

  /** The coverage of a name by an entry of this very name, not by its parents'. */
  ownBits(name: string): ListBits {
    return (this.#names.get(name) ?? 0) & LIST_BITS_MASK
  }

  /** The coverage of an address by its own entry, given its stored form. */
  addressBits(kept: string): ListBits {
    return this.#addresses.get(kept) ?? 0
  }

  #add(bit: number, entry: string): void {
    const { kind, domain, storedText } = parseStoredEntry(entry)
    if (kind === "address") this.#addresses.set(storedText, (this.#addresses.get(storedText) ?? 0) | bit)
    const below = bit << SUBDOMAINS_SHIFT
    const bits = { address: HAS_ADDRESS, domain: bit | below, subdomains: below }[kind]
    this.#names.set(domain, (this.#names.get(domain) ?? 0) | bits)
  }
}

/** What is looked up on the lists: a domain (A-labels, lower case), or an address at it. */
export type ListedSubject = {
  /** Null: no name was found, and nothing is on a list. */
  readonly domain: string | null
  /** The whole host of a URL that lost a leading `www.`: entries of it match too. Null: `domain` is the whole host. */
  readonly wwwHost: string | null
  /** The address in normal form without its tag; null: no address. */
  readonly mailbox: string | null
  /** The same with the tag; null: it has none. An entry with a tag matches this alone. */
  readonly tagged: string | null
}

/** The match of one name or address on the lists of an account and of the operator. */
export type OwnListLookup = {
  /** Whose block list has the address, the domain or a parent; the operator's comes first. Null: neither's. */
  readonly blockedBy: "operator" | "account" | null
  /** The account's allow list has one of them. */
  readonly isAllowed: boolean
  /** The operator's allow list has one of them. */
  readonly isOperatorAllowed: boolean
}

/** The match of everything that is on no list: always this object, so that callers can compare by identity. */
export const NOT_ON_OWN_LISTS: OwnListLookup = Object.freeze({
  blockedBy: null,
  isAllowed: false,
  isOperatorAllowed: false,
})

/** The bounds of the cache. */
export type OwnListCacheBounds = {
  /** Cached accounts with entries, and their entries in all. */
  readonly accountsMax: number
  readonly entriesMax: number
  /** Cached accounts without entries, which most are. */
  readonly emptyMax: number
}

/** Bounds for 50 MB when full of domains, 100 MB when full of addresses. */
export const OWN_LIST_CACHE_BOUNDS: OwnListCacheBounds = { accountsMax: 2000, entriesMax: 250_000, emptyMax: 100_000 }

/** Lists without entries. */
export const NO_ENTRIES = new EntryIndex([])

/** Caches block and allow lists for requests. A cached account is answered synchronously, without the store. */
export class OwnListCache {
  readonly #store: Store
  readonly #bounds: OwnListCacheBounds
  /** Null: not read since its last change. */
  #operatorIndex: EntryIndex | null = null
  readonly #accountIndexes: LRUCache<string, EntryIndex>
  /** Ids of accounts without entries, oldest first. */
  readonly #emptyAccounts = new Set<string>()
  /** Running reads by owner. A change invalidates the owner's read, so that no look-up joins one that started before it. */
  readonly #reads = new SingleFlight<string, EntryIndex>()

  constructor(store: Store, bounds: OwnListCacheBounds) {
    this.#store = store
    this.#bounds = bounds
    this.#accountIndexes = new LRUCache({
      max: bounds.accountsMax,
      maxSize: bounds.entriesMax,
      sizeCalculation: table => table.entryCount,
    })
  }

  /** Loads the operator's lists before the first request. Rejects when the store fails. */
  async load(): Promise<void> {
    await this.#readShared(OPERATOR)
  }

  /**
   * Matches a subject against the lists of the operator and of the account (null: none). Returns a promise only when the store has to
   * be read; it rejects when that fails.
   */
  lookup(accountId: string | null, subject: ListedSubject): OwnListLookup | Promise<OwnListLookup> {
    const operator = this.#cached(OPERATOR)
    const own = accountId === null ? NO_ENTRIES : this.#cached(accountId)
    if (operator !== null && own !== null) return lookupIn(operator, own, subject)
    return this.#lookupInStore(accountId, subject)
  }

  /** Drops what the changes make stale. Look-ups that start after it returns see the changes. */
  applyChanges(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) {
      // An unknown kind of change, from a newer version, may concern lists: reading again is cheap.
      if (!isChangeKind(kind)) this.invalidateAll()
      else if (kind === "own_lists_changed" || kind === "account_removed") this.#drop(subject)
    }
  }

  /** Drops everything; called when part of the change log was lost. */
  invalidateAll(): void {
    this.#reads.invalidateAll()
    this.#operatorIndex = null
    this.#accountIndexes.clear()
    this.#emptyAccounts.clear()
  }

  #drop(owner: string): void {
    this.#reads.invalidate(owner)
    if (owner === OPERATOR) this.#operatorIndex = null
    this.#accountIndexes.delete(owner)
    this.#emptyAccounts.delete(owner)
  }

  #cached(owner: string): EntryIndex | null {
    if (owner === OPERATOR) return this.#operatorIndex
    return this.#emptyAccounts.has(owner) ? NO_ENTRIES : (this.#accountIndexes.get(owner) ?? null)
  }

  async #lookupInStore(accountId: string | null, subject: ListedSubject): Promise<OwnListLookup> {
    const [operator, own] = await Promise.all([
      this.#indexOf(OPERATOR),
      accountId === null ? NO_ENTRIES : this.#indexOf(accountId),
    ])
    return lookupIn(operator, own, subject)
  }

  #indexOf(owner: string): EntryIndex | Promise<EntryIndex> {
    return this.#cached(owner) ?? this.#readShared(owner)
  }

  #readShared(owner: string): Promise<EntryIndex> {
    return this.#reads.run(owner, async isCurrent => {
      const index = await readEntryIndex(this.#store, owner)
      // A read that a change has invalidated answers its callers, but is not cached.
      if (isCurrent()) this.#put(owner, index)
      return index
    })
  }

  #put(owner: string, table: EntryIndex): void {
    if (owner === OPERATOR) this.#operatorIndex = table
    else if (table.entryCount > 0) this.#accountIndexes.set(owner, table)
    else {
      const [first] = this.#emptyAccounts
      if (first !== undefined && this.#emptyAccounts.size >= this.#bounds.emptyMax) this.#emptyAccounts.delete(first)
      this.#emptyAccounts.add(owner)
    }
  }
}

/** Reads the block and the allow list of an owner. */
export async function readEntryIndex(store: Store, owner: string): Promise<EntryIndex> {
  const rows = await store.all<{ list: OwnList; entry: string }>(
    "SELECT list, entry FROM own_list_entries WHERE owner = $1",
    [owner],
  )
  return rows.length === 0 ? NO_ENTRIES : new EntryIndex(rows)
}

/** Matches a subject against the lists of the operator and of an account, as `OwnListCache.lookup` does. */
export function lookupIn(
  operator: EntryIndex,
  own: EntryIndex,
  { domain, wwwHost, mailbox, tagged }: ListedSubject,
): OwnListLookup {
  if (domain === null || (operator.entryCount === 0 && own.entryCount === 0)) return NOT_ON_OWN_LISTS
  let byOperator = operator.domainBits(domain)
  let byAccount = own.domainBits(domain)
  if (wwwHost !== null) {
    byOperator |= operator.ownBits(wwwHost)
    byAccount |= own.ownBits(wwwHost)
  }
  // The hash costs more than everything else (0.4 µs of 0.5), so it is computed only if the domain has address entries.
  const addresses = mayListAddress(byOperator | byAccount) ? [mailbox, tagged].filter(address => address !== null) : []
  for (const address of addresses) {
    const kept = hashedAddress(address, domain)
    byOperator |= operator.addressBits(kept)
    byAccount |= own.addressBits(kept)
  }
  const isAllowed = isOnList(byAccount, "allow")
  const isOperatorAllowed = isOnList(byOperator, "allow")
  const blockedBy = isOnList(byOperator, "block") ? OPERATOR : isOnList(byAccount, "block") ? "account" : null
  if (blockedBy === null && !isAllowed && !isOperatorAllowed) return NOT_ON_OWN_LISTS
  return { blockedBy, isAllowed, isOperatorAllowed }
}
