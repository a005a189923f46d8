import { LRUCache } from "lru-cache"
import { type Change, isChangeKind } from "../store/changes.ts"
import type { Store } from "../store/store.ts"
import { EntryTable, isOn, mayHaveAddress } from "./entry-table.ts"
import { keptAddress } from "./own-list-entry.ts"
import { OPERATOR, type OwnList } from "./own-lists.ts"

/** What the lists of an account and of the operator say of one name or address. */
export type Standing = {
  /** Whose block list has the address, the domain or a parent; the operator's comes first. Null: neither's. */
  readonly blockedBy: "operator" | "account" | null
  /** The account's allow list has one of them. */
  readonly isAllowed: boolean
  /** The operator's allow list has one of them. */
  readonly isOperatorAllowed: boolean
}

/** The standing of all that is on no list: this very object, so that a caller can tell it by identity. */
export const NO_STANDING: Standing = Object.freeze({ blockedBy: null, isAllowed: false, isOperatorAllowed: false })

/** The bounds of what is held. */
export type OwnListsBounds = {
  /** How many accounts with entries are held, and how many entries of theirs together. */
  readonly accountsMax: number
  readonly entriesMax: number
  /** How many accounts without entries, which most are, are known as such. */
  readonly emptyMax: number
}

/** Bounds for 50 MB when full of domains, 100 MB when full of addresses. */
export const OWN_LISTS_BOUNDS: OwnListsBounds = { accountsMax: 2000, entriesMax: 250_000, emptyMax: 100_000 }

const NO_ENTRIES = new EntryTable([])

/** The block and allow lists, as requests ask for them. What is held is answered at once, without a promise and without the disk. */
export class OwnLists {
  readonly #store: Store
  readonly #bounds: OwnListsBounds
  /** Null: not read since it last changed. */
  #operator: EntryTable | null = null
  readonly #accounts: LRUCache<string, EntryTable>
  /** Ids of accounts without entries, the one that was read first in front. */
  readonly #empty = new Set<string>()
  /** Reads under way by owner, at most one each; a change takes the owner's out, so that nobody joins one that began before it. */
  readonly #reading = new Map<string, Promise<EntryTable>>()

  constructor(store: Store, bounds: OwnListsBounds) {
    this.#store = store
    this.#bounds = bounds
    this.#accounts = new LRUCache({
      max: bounds.accountsMax,
      maxSize: bounds.entriesMax,
      sizeCalculation: table => table.entryCount,
    })
  }

  /** Reads the operator's lists, so that the first request need not wait for them. Rejects when the store fails. */
  async load(): Promise<void> {
    await this.#read(OPERATOR)
  }

  /**
   * What the lists say of `domain` (A-labels, lower case), and of the address `normalized` at it; null: it is not about an
   * address. An account of null has no lists of its own. Gives a promise only when the store has to be asked, which rejects
   * when that fails.
   */
  standing(accountId: string | null, normalized: string | null, domain: string): Standing | Promise<Standing> {
    const operator = this.#held(OPERATOR)
    const own = accountId === null ? NO_ENTRIES : this.#held(accountId)
    if (operator !== null && own !== null) return standingIn(operator, own, normalized, domain)
    return this.#ask(accountId, normalized, domain)
  }

  /** Drops what the changes make stale. When it returns, no question that begins is answered from before them. */
  apply(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) {
      // A later version's change may concern lists: to ask again is cheap, to be wrong is not.
      if (!isChangeKind(kind)) this.forget()
      else if (kind === "own_lists_changed" || kind === "account_removed") this.#drop(subject)
    }
  }

  /** Drops everything held: what a reader of the change log does when it has lost some of it. */
  forget(): void {
    this.#reading.clear()
    this.#operator = null
    this.#accounts.clear()
    this.#empty.clear()
  }

  #drop(owner: string): void {
    this.#reading.delete(owner)
    if (owner === OPERATOR) this.#operator = null
    this.#accounts.delete(owner)
    this.#empty.delete(owner)
  }

  #held(owner: string): EntryTable | null {
    if (owner === OPERATOR) return this.#operator
    return this.#empty.has(owner) ? NO_ENTRIES : (this.#accounts.get(owner) ?? null)
  }

  async #ask(accountId: string | null, normalized: string | null, domain: string): Promise<Standing> {
    const [operator, own] = await Promise.all([
      this.#tableOf(OPERATOR),
      accountId === null ? NO_ENTRIES : this.#tableOf(accountId),
    ])
    return standingIn(operator, own, normalized, domain)
  }

  #tableOf(owner: string): EntryTable | Promise<EntryTable> {
    return this.#held(owner) ?? this.#read(owner)
  }

  #read(owner: string): Promise<EntryTable> {
    const underWay = this.#reading.get(owner)
    if (underWay !== undefined) return underWay
    // A change meanwhile took this reading out: its answer was right when it was asked for, but is not kept.
    const isLatest = () => this.#reading.get(owner) === read
    const read: Promise<EntryTable> = readTable(this.#store, owner)
      .then(table => {
        if (isLatest()) this.#hold(owner, table)
        return table
      })
      .finally(() => {
        if (isLatest()) this.#reading.delete(owner)
      })
    this.#reading.set(owner, read)
    return read
  }

  #hold(owner: string, table: EntryTable): void {
    if (owner === OPERATOR) this.#operator = table
    else if (table.entryCount > 0) this.#accounts.set(owner, table)
    else {
      const [first] = this.#empty
      if (first !== undefined && this.#empty.size >= this.#bounds.emptyMax) this.#empty.delete(first)
      this.#empty.add(owner)
    }
  }
}

async function readTable(store: Store, owner: string): Promise<EntryTable> {
  const rows = await store.all<{ list: OwnList; entry: string }>(
    "SELECT list, entry FROM own_list_entries WHERE owner = $1",
    [owner],
  )
  return rows.length === 0 ? NO_ENTRIES : new EntryTable(rows)
}

function standingIn(operator: EntryTable, own: EntryTable, normalized: string | null, domain: string): Standing {
  if (operator.entryCount === 0 && own.entryCount === 0) return NO_STANDING
  let byOperator = operator.ofDomain(domain)
  let byAccount = own.ofDomain(domain)
  // A hash costs more than all the rest (0.4 µs of 0.5): it is taken only where there is one to compare it with.
  if (normalized !== null && mayHaveAddress(byOperator | byAccount)) {
    const kept = keptAddress(normalized, domain)
    byOperator |= operator.ofAddress(kept)
    byAccount |= own.ofAddress(kept)
  }
  const isAllowed = isOn(byAccount, "allow")
  const isOperatorAllowed = isOn(byOperator, "allow")
  const blockedBy = isOn(byOperator, "block") ? OPERATOR : isOn(byAccount, "block") ? "account" : null
  if (blockedBy === null && !isAllowed && !isOperatorAllowed) return NO_STANDING
  return { blockedBy, isAllowed, isOperatorAllowed }
}
