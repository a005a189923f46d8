import type { SetTimer } from "../../base/outside-world.ts"
import { CATEGORIES, type Category } from "../../contract/categories.ts"
import { type Change, isChangeKind } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"

/** Domains with a correction, at most. All are in memory: this many take 13 MB, and 0.1 s to load. */
export const CORRECTIONS_MAX = 100_000

/** The delay after a failed read: short enough for corrections to be live within a minute. */
const RETRY_MS = 5000

/** Changed domains that are read one by one; beyond that everything is read. */
const CHANGED_DOMAINS_MAX = 1000

/** Caches the corrections of domains made by accepted reports. All are in memory, so a look-up is synchronous. */
export class CorrectionCache {
  readonly #store: Store
  readonly #setTimer: SetTimer
  readonly #onError: (fault: unknown) => void
  #corrections = new Map<string, Category>()
  #version = 0
  /** Domains to read again. */
  readonly #stale = new Set<string>()
  #isAllStale = false
  #isReading = false
  #isStopped = false
  #cancelRetry: () => void = () => undefined

  /** `failed` is called for each failed read; until one succeeds, look-ups return the previous corrections. */
  constructor(store: Store, later: SetTimer, failed: (fault: unknown) => void) {
    this.#store = store
    this.#setTimer = later
    this.#onError = failed
  }

  /** Rises whenever a correction changes: verdicts computed under another version may be wrong. */
  get version(): number {
    return this.#version
  }

  /** Loads all corrections; before that there are none. Rejects when the store fails. */
  async load(): Promise<void> {
    this.#isAllStale = true
    await this.#readStale()
  }

  /**
   * The correction of the domain or of its nearest parent down to `registrable`; null: none. When `registrable` is null,
   * parents do not count.
   */
  of(domain: string, registrable: string | null): Category | null {
    if (this.#corrections.size === 0) return null
    const lengthMin = Math.min(registrable?.length ?? domain.length, domain.length)
    for (let name: string | null = domain; name !== null && name.length >= lengthMin; name = parentOf(name)) {
      const correction = this.#corrections.get(name)
      if (correction !== undefined) return correction
    }
    return null
  }

  /** Reads the changed corrections again in the background. An unknown kind of change, from a newer version, reads all. */
  applyChanges(changes: readonly Change[]): void {
    for (const { kind, subject } of changes)
      if (kind === "correction_changed") this.#markStale(subject)
      else if (!isChangeKind(kind)) this.#isAllStale = true
    this.#refresh()
  }

  /** Reads everything again in the background; until then look-ups return the previous corrections. */
  invalidateAll(): void {
    this.#isAllStale = true
    this.#refresh()
  }

  /** Starts no further reads: the store may be closed. */
  stop(): void {
    this.#isStopped = true
    this.#cancelRetry()
  }

  #markStale(domain: string): void {
    if (this.#stale.size < CHANGED_DOMAINS_MAX || this.#stale.has(domain)) this.#stale.add(domain)
    else this.#isAllStale = true
  }

  #refresh(): void {
    // A running read continues until nothing is stale.
    if (this.#isReading || this.#isStopped) return
    this.#cancelRetry()
    this.#readStale().catch(fault => {
      if (this.#isStopped) return
      this.#onError(fault)
      this.#cancelRetry = this.#setTimer(RETRY_MS, () => this.#refresh())
    })
  }

  async #readStale(): Promise<void> {
    this.#isReading = true
    try {
      while (!this.#isStopped && (this.#isAllStale || this.#stale.size > 0))
        await (this.#isAllStale ? this.#readAll() : this.#readChanged([...this.#stale]))
    } finally {
      this.#isReading = false
    }
  }

  // Marks are removed before a read, so that changes meanwhile mark again; a failed read restores them.

  async #readAll(): Promise<void> {
    this.#isAllStale = false
    this.#stale.clear()
    try {
      this.#replace(
        await this.#store.all<StoredCorrection>("SELECT domain, category FROM corrections LIMIT $1", [CORRECTIONS_MAX]),
      )
    } catch (fault) {
      this.#isAllStale = true
      throw fault
    }
  }

  async #readChanged(domains: readonly string[]): Promise<void> {
    this.#stale.clear()
    try {
      for (const domain of domains)
        this.#set(
          domain,
          await this.#store.one<StoredCorrection>("SELECT domain, category FROM corrections WHERE domain = $1", [
            domain,
          ]),
        )
    } catch (fault) {
      for (const domain of domains) this.#markStale(domain)
      throw fault
    }
  }

  #replace(rows: readonly StoredCorrection[]): void {
    const held = new Map<string, Category>()
    for (const { domain, category } of rows) if (isCategory(category)) held.set(domain, category)
    const isSame =
      held.size === this.#corrections.size &&
      held.entries().every(([domain, is]) => this.#corrections.get(domain) === is)
    if (isSame) return
    this.#corrections = held
    this.#version++
  }

  #set(domain: string, row: StoredCorrection | null): void {
    const category = row !== null && isCategory(row.category) ? row.category : undefined
    if (category === this.#corrections.get(domain)) return
    if (category === undefined) this.#corrections.delete(domain)
    else this.#corrections.set(domain, category)
    this.#version++
  }
}

type StoredCorrection = { readonly domain: string; readonly category: string }

/** The name without its first label; null for a single label. */
function parentOf(name: string): string | null {
  const dot = name.indexOf(".")
  return dot < 0 ? null : name.slice(dot + 1)
}

/** A newer version may have stored categories that this one does not know; they are ignored. */
function isCategory(text: string): text is Category {
  return Object.hasOwn(CATEGORIES, text)
}
