import type { SetTimer } from "../../base/outside-world.ts"
import { CATEGORIES, type Category } from "../../contract/categories.ts"
import { type Change, isChangeKind } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"

/** How many domains can have a correction. All are kept in memory: so many take 13 MB, and 0.1 s to read. */
export const CORRECTIONS_MAX = 100_000

/** How long after a reading that failed the next one is tried: often enough for corrections to be live within a minute. */
const RETRY_MS = 5000

/** How many changed domains are read one by one; when more have changed, all are read. */
const CHANGED_DOMAINS_MAX = 1000

/** What each domain was corrected to, by operators who accepted a report. All of it is in memory: no look-up waits. */
export class CorrectionCache {
  readonly #store: Store
  readonly #setTimer: SetTimer
  readonly #onError: (fault: unknown) => void
  #corrections = new Map<string, Category>()
  #version = 0
  /** What has to be read again: some domains, or all. */
  readonly #stale = new Set<string>()
  #isAllStale = false
  #isReading = false
  #isStopped = false
  #cancelRetry: () => void = () => undefined

  /** `failed` hears of each reading that failed; until one succeeds, look-ups answer as before. */
  constructor(store: Store, later: SetTimer, failed: (fault: unknown) => void) {
    this.#store = store
    this.#setTimer = later
    this.#onError = failed
  }

  /** Rises whenever any correction changed: what was settled under another version may be wrong. */
  get version(): number {
    return this.#version
  }

  /** Reads all corrections; until then there are none. Rejects when the store fails. */
  async load(): Promise<void> {
    this.#isAllStale = true
    await this.#readStale()
  }

  /**
   * The correction of the domain, or else of the nearest parent that has one, down to `registrable`; null when none has.
   * When `registrable` is null, parents do not count.
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

  /** Reads again, soon and by itself, what the changes are about. A change of a later version may be about anything. */
  applyChanges(changes: readonly Change[]): void {
    for (const { kind, subject } of changes)
      if (kind === "correction_changed") this.#markStale(subject)
      else if (!isChangeKind(kind)) this.#isAllStale = true
    this.#refresh()
  }

  /** Reads everything again, soon and by itself; until that is done, look-ups answer as before. */
  invalidateAll(): void {
    this.#isAllStale = true
    this.#refresh()
  }

  /** Ends all readings to come: the store may be closed. */
  stop(): void {
    this.#isStopped = true
    this.#cancelRetry()
  }

  #markStale(domain: string): void {
    if (this.#stale.size < CHANGED_DOMAINS_MAX || this.#stale.has(domain)) this.#stale.add(domain)
    else this.#isAllStale = true
  }

  #refresh(): void {
    // A reading that is under way goes on until nothing is stale.
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

  // Marks are taken away before the reading: what changes meanwhile is stale again, and a reading that fails puts them back.

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

/** A later version may have made corrections to categories that this one does not know; they are none here. */
function isCategory(text: string): text is Category {
  return Object.hasOwn(CATEGORIES, text)
}
