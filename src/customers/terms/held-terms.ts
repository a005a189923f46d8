import type { Clock } from "../../base/clock.ts"
import { type Change, isChangeKind } from "../store/changes.ts"
import type { Store } from "../store/store.ts"
import { noticeEndsAtMs } from "./notice-period.ts"
import { listTerms, type Terms } from "./terms.ts"

/** What an account has accepted last. */
export type Acceptance = {
  /** Null: there were no terms to accept yet, or nobody has accepted any. */
  readonly acceptedTermsVersion: string | null
  /** Null: nobody has accepted any. */
  readonly acceptedTermsAtMs: number | null
}

/** How an account stands to the terms. `version` and `url` are those of the current ones, which it would accept. */
export type TermsState =
  | { readonly kind: "accepted" }
  | { readonly kind: "grace"; readonly version: string; readonly url: string; readonly endsAtMs: number }
  /** Its requests are refused, since `sinceMs`. */
  | { readonly kind: "not_accepted"; readonly version: string; readonly url: string; readonly sinceMs: number }

const ACCEPTED = { kind: "accepted" } as const

/** All terms, in memory, to tell of every request how its account stands to them. Until the first `load` there are none. */
export class HeldTerms {
  readonly #store: Store
  readonly #clock: Clock
  readonly #failed: (error: unknown) => void
  #current: Terms | undefined
  /** The newest first. */
  #material: readonly Terms[] = []
  #publishedAtMs: ReadonlyMap<string, number> = new Map()
  #isStale = false
  #begunCount = 0
  #heldNumber = 0

  /** `failed` hears of it when a change could not be read; the next `apply` or `forget` tries again. */
  constructor(store: Store, clock: Clock, failed: (error: unknown) => void) {
    this.#store = store
    this.#clock = clock
    this.#failed = failed
  }

  /** Reads the terms. When that fails it rejects, and those that were held are held still. */
  async load(): Promise<void> {
    const number = ++this.#begunCount
    const terms = await listTerms(this.#store)
    // One that began later may have ended earlier, and has seen more.
    if (number < this.#heldNumber) return
    this.#heldNumber = number
    this.#current = terms[0]
    this.#material = terms.filter(({ isMaterial }) => isMaterial)
    this.#publishedAtMs = new Map(terms.map(({ version, publishedAtMs }) => [version, publishedAtMs]))
  }

  /** Reads the terms again when one of the changes concerns them, or a reading failed before. */
  apply(changes: readonly Change[]): void {
    // A later version's change may concern terms: to read again is cheap, to be wrong is not.
    if (changes.some(({ kind }) => kind === "terms_published" || !isChangeKind(kind))) this.#isStale = true
    if (this.#isStale) this.#reload()
  }

  /** Reads the terms again: what a reader of the change log does when it has lost some of it. */
  forget(): void {
    this.#reload()
  }

  /**
   * How an account stands to the terms now. It is asked to accept the material terms that came after those it accepted;
   * from the first of them on it has `LIMITS.termsNoticeDays`, whatever follows. Without a promise, without the store.
   */
  stateOf(acceptance: Acceptance): TermsState {
    const current = this.#current
    const latest = this.#material[0]
    if (current === undefined || latest === undefined) return ACCEPTED
    const upToMs = this.#acceptedUpToMs(acceptance)
    if (latest.publishedAtMs <= upToMs) return ACCEPTED
    const { version, url } = current
    const first = this.#material.findLast(({ publishedAtMs }) => publishedAtMs > upToMs) ?? latest
    const endsAtMs = noticeEndsAtMs(first)
    return this.#clock() < endsAtMs
      ? { kind: "grace", version, url, endsAtMs }
      : { kind: "not_accepted", version, url, sinceMs: endsAtMs }
  }

  /** All that was published up to then is accepted. Versions tell it whatever became of the clock; a time stands in for one. */
  #acceptedUpToMs({ acceptedTermsVersion, acceptedTermsAtMs }: Acceptance): number {
    // Not held: accepted in another process, and published too recently for this one to have read of it.
    const heldMs = acceptedTermsVersion === null ? undefined : this.#publishedAtMs.get(acceptedTermsVersion)
    return heldMs ?? acceptedTermsAtMs ?? Number.NEGATIVE_INFINITY
  }

  #reload(): void {
    this.#isStale = false
    this.load().catch(error => {
      this.#isStale = true
      this.#failed(error)
    })
  }
}
