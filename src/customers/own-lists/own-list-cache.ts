import { LRUCache } from "lru-cache"
import { type Change, isChangeKind } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import { hashedAddress, parseStoredEntry } from "./entries.ts"
import { OPERATOR, type OwnList } from "./own-lists.ts"

// What is kept of a name, in bits:
//   1 2   on the block list, on the allow list
//   4 8   the same for all names below it
//   16    an address at this very name is on one of the lists
const LIST_BITS: { readonly [L in OwnList]: number } = { block: 1, allow: 2 }
const LIST_BITS_MASK = 3
const SUBDOMAINS_SHIFT = 2
const HAS_ADDRESS = 16

/** What the lists of one owner say, in bits; zero: nothing. To be read with `isOnList` and `mayListAddress`. */
type ListBits = number

/** Whether the coverage says that the name or the address is on the list. */
export const isOnList = (coverage: ListBits, list: OwnList): boolean => (coverage & LIST_BITS[list]) !== 0

/** Whether the coverage of a domain leaves open what an address at it has: `ofAddress` knows. */
export const mayListAddress = (coverage: ListBits): boolean => (coverage & HAS_ADDRESS) !== 0

/** The block and the allow list of one owner, to look names up in: one search a label answers both lists. */
export class EntryIndex {
  readonly #names = new Map<string, number>()
  /** By kept form. */
  readonly #addresses = new Map<string, number>()
  /** How many entries it was made from. */
  readonly entryCount: number

  constructor(rows: readonly { readonly list: OwnList; readonly entry: string }[]) {
    this.entryCount = rows.length
    for (const { list, entry } of rows) this.#add(LIST_BITS[list], entry)
  }

  /** What the lists say of a domain by itself and by its parents. */
  domainBits(domain: string): ListBits {
    if (this.#names.size === 0) return 0
    let coverage = (this.#names.get(domain) ?? 0) & (LIST_BITS_MASK | HAS_ADDRESS)
    for (let dot = domain.indexOf("."); dot >= 0; dot = domain.indexOf(".", dot + 1))
      coverage |= ((this.#names.get(domain.slice(dot + 1)) ?? 0) >> SUBDOMAINS_SHIFT) & LIST_BITS_MASK
    return coverage
  }

  /** What the lists say of an address by itself, given in its kept form. */
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

/** What the lists of an account and of the operator say of one name or address. */
export type OwnListLookup = {
  /** Whose block list has the address, the domain or a parent; the operator's comes first. Null: neither's. */
  readonly blockedBy: "operator" | "account" | null
  /** The account's allow list has one of them. */
  readonly isAllowed: boolean
  /** The operator's allow list has one of them. */
  readonly isOperatorAllowed: boolean
}

/** The standing of all that is on no list: this very object, so that a caller can tell it by identity. */
export const NOT_ON_OWN_LISTS: OwnListLookup = Object.freeze({
  blockedBy: null,
  isAllowed: false,
  isOperatorAllowed: false,
})

/** The bounds of what is held. */
export type OwnListCacheBounds = {
  /** How many accounts with entries are held, and how many entries of theirs together. */
  readonly accountsMax: number
  readonly entriesMax: number
  /** How many accounts without entries, which most are, are known as such. */
  readonly emptyMax: number
}

/** Bounds for 50 MB when full of domains, 100 MB when full of addresses. */
export const OWN_LIST_CACHE_BOUNDS: OwnListCacheBounds = { accountsMax: 2000, entriesMax: 250_000, emptyMax: 100_000 }

const NO_ENTRIES = new EntryIndex([])

/** The block and allow lists, as requests ask for them. What is held is answered at once, without a promise and without the disk. */
export class OwnListCache {
  readonly #store: Store
  readonly #bounds: OwnListCacheBounds
  /** Null: not read since it last changed. */
  #operatorIndex: EntryIndex | null = null
  readonly #accountIndexes: LRUCache<string, EntryIndex>
  /** Ids of accounts without entries, the one that was read first in front. */
  readonly #emptyAccounts = new Set<string>()
  /** Reads under way by owner, at most one each; a change takes the owner's out, so that nobody joins one that began before it. */
  readonly #pendingReads = new Map<string, Promise<EntryIndex>>()

  constructor(store: Store, bounds: OwnListCacheBounds) {
    this.#store = store
    this.#bounds = bounds
    this.#accountIndexes = new LRUCache({
      max: bounds.accountsMax,
      maxSize: bounds.entriesMax,
      sizeCalculation: table => table.entryCount,
    })
  }

  /** Reads the operator's lists, so that the first request need not wait for them. Rejects when the store fails. */
  async load(): Promise<void> {
    await this.#readShared(OPERATOR)
  }

  /**
   * What the lists say of `domain` (A-labels, lower case), and of the address `normalized` at it; null: it is not about an
   * address. An account of null has no lists of its own. Gives a promise only when the store has to be asked, which rejects
   * when that fails.
   */
  lookup(accountId: string | null, normalized: string | null, domain: string): OwnListLookup | Promise<OwnListLookup> {
    const operator = this.#cached(OPERATOR)
    const own = accountId === null ? NO_ENTRIES : this.#cached(accountId)
    if (operator !== null && own !== null) return lookupIn(operator, own, normalized, domain)
    return this.#lookupInStore(accountId, normalized, domain)
  }

  /** Drops what the changes make stale. When it returns, no question that begins is answered from before them. */
  applyChanges(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) {
      // A later version's change may concern lists: to ask again is cheap, to be wrong is not.
      if (!isChangeKind(kind)) this.invalidateAll()
      else if (kind === "own_lists_changed" || kind === "account_removed") this.#drop(subject)
    }
  }

  /** Drops everything held: what a reader of the change log does when it has lost some of it. */
  invalidateAll(): void {
    this.#pendingReads.clear()
    this.#operatorIndex = null
    this.#accountIndexes.clear()
    this.#emptyAccounts.clear()
  }

  #drop(owner: string): void {
    this.#pendingReads.delete(owner)
    if (owner === OPERATOR) this.#operatorIndex = null
    this.#accountIndexes.delete(owner)
    this.#emptyAccounts.delete(owner)
  }

  #cached(owner: string): EntryIndex | null {
    if (owner === OPERATOR) return this.#operatorIndex
    return this.#emptyAccounts.has(owner) ? NO_ENTRIES : (this.#accountIndexes.get(owner) ?? null)
  }

  async #lookupInStore(accountId: string | null, normalized: string | null, domain: string): Promise<OwnListLookup> {
    const [operator, own] = await Promise.all([
      this.#indexOf(OPERATOR),
      accountId === null ? NO_ENTRIES : this.#indexOf(accountId),
    ])
    return lookupIn(operator, own, normalized, domain)
  }

  #indexOf(owner: string): EntryIndex | Promise<EntryIndex> {
    return this.#cached(owner) ?? this.#readShared(owner)
  }

  #readShared(owner: string): Promise<EntryIndex> {
    const underWay = this.#pendingReads.get(owner)
    if (underWay !== undefined) return underWay
    // A change meanwhile took this reading out: its answer was right when it was asked for, but is not kept.
    const isLatest = () => this.#pendingReads.get(owner) === read
    const read: Promise<EntryIndex> = readIndex(this.#store, owner)
      .then(table => {
        if (isLatest()) this.#put(owner, table)
        return table
      })
      .finally(() => {
        if (isLatest()) this.#pendingReads.delete(owner)
      })
    this.#pendingReads.set(owner, read)
    return read
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

async function readIndex(store: Store, owner: string): Promise<EntryIndex> {
  const rows = await store.all<{ list: OwnList; entry: string }>(
    "SELECT list, entry FROM own_list_entries WHERE owner = $1",
    [owner],
  )
  return rows.length === 0 ? NO_ENTRIES : new EntryIndex(rows)
}

function lookupIn(operator: EntryIndex, own: EntryIndex, normalized: string | null, domain: string): OwnListLookup {
  if (operator.entryCount === 0 && own.entryCount === 0) return NOT_ON_OWN_LISTS
  let byOperator = operator.domainBits(domain)
  let byAccount = own.domainBits(domain)
  // A hash costs more than all the rest (0.4 µs of 0.5): it is taken only where there is one to compare it with.
  if (normalized !== null && mayListAddress(byOperator | byAccount)) {
    const kept = hashedAddress(normalized, domain)
    byOperator |= operator.addressBits(kept)
    byAccount |= own.addressBits(kept)
  }
  const isAllowed = isOnList(byAccount, "allow")
  const isOperatorAllowed = isOnList(byOperator, "allow")
  const blockedBy = isOnList(byOperator, "block") ? OPERATOR : isOnList(byAccount, "block") ? "account" : null
  if (blockedBy === null && !isAllowed && !isOperatorAllowed) return NOT_ON_OWN_LISTS
  return { blockedBy, isAllowed, isOperatorAllowed }
}
