import type { Clock } from "../../base/outside-world.ts"
import { type Change, isChangeKind } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import { listTerms, type Terms } from "./terms.ts"
import { noticeEndsAtMs } from "./terms-notices.ts"

/** What an account has accepted last. */
export type TermsAcceptance = {
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
export class TermsCache {
  readonly #store: Store
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  #current: Terms | undefined
  /** The newest first. */
  #material: readonly Terms[] = []
  #publishedAtMs: ReadonlyMap<string, number> = new Map()
  #isStale = false
  #startedCount = 0
  #loadedNumber = 0

  /** `failed` hears of it when a change could not be read; the next `apply` or `forget` tries again. */
  constructor(store: Store, clock: Clock, failed: (error: unknown) => void) {
    this.#store = store
    this.#clock = clock
    this.#onError = failed
  }

  /** Reads the terms. When that fails it rejects, and those that were held are held still. */
  async load(): Promise<void> {
    const number = ++this.#startedCount
    const terms = await listTerms(this.#store)
    // One that began later may have ended earlier, and has seen more.
    if (number < this.#loadedNumber) return
    this.#loadedNumber = number
    this.#current = terms[0]
    this.#material = terms.filter(({ isMaterial }) => isMaterial)
    this.#publishedAtMs = new Map(terms.map(({ version, publishedAtMs }) => [version, publishedAtMs]))
  }

  /** Reads the terms again when one of the changes concerns them, or a reading failed before. */
  applyChanges(changes: readonly Change[]): void {
    // A later version's change may concern terms: to read again is cheap, to be wrong is not.
    if (changes.some(({ kind }) => kind === "terms_published" || !isChangeKind(kind))) this.#isStale = true
    if (this.#isStale) this.#reload()
  }

  /** Reads the terms again: what a reader of the change log does when it has lost some of it. */
  invalidateAll(): void {
    this.#reload()
  }

  /**
   * How an account stands to the terms now. It is asked to accept the material terms that came after those it accepted;
   * from the first of them on it has `LIMITS.termsNoticeDays`, whatever follows. Without a promise, without the store.
   */
  stateOf(acceptance: TermsAcceptance): TermsState {
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
  #acceptedUpToMs({ acceptedTermsVersion, acceptedTermsAtMs }: TermsAcceptance): number {
    // Not held: accepted in another process, and published too recently for this one to have read of it.
    const heldMs = acceptedTermsVersion === null ? undefined : this.#publishedAtMs.get(acceptedTermsVersion)
    return heldMs ?? acceptedTermsAtMs ?? Number.NEGATIVE_INFINITY
  }

  #reload(): void {
    this.#isStale = false
    this.load().catch(error => {
      this.#isStale = true
      this.#onError(error)
    })
  }
}

const NO_HEADERS = {} as const

/**
 * The headers that tell a client how its account stands to the terms: a link to them (RFC 6903 §5) when they have to be
 * accepted and, while there is time for that, a warning that names the version and the end (RFC 7234 §5.5). None when
 * they are accepted.
 */
export function termsHeaders(state: TermsState): Readonly<Record<string, string>> {
  if (state.kind === "accepted") return NO_HEADERS
  const Link = `<${encodeUri(state.url)}>; rel="terms-of-service"`
  if (state.kind === "not_accepted") return { Link }
  const text = `The terms have changed. Version ${state.version} has to be accepted before ${isoSecond(state.endsAtMs)}.`
  // 299 is a warning that lasts; the agent that warns goes by its pseudonym.
  return { Warning: `299 mailkind "${text}"`, Link }
}

/** What `URL` leaves as it is and RFC 3986 §2 does not allow in a URI is percent-encoded: `|`, `^`, `{`. */
function encodeUri(url: string): string {
  return url.replace(/[^\w.~:/?#[\]@!$&'()*+,;=%-]/gu, character => encodeURIComponent(character.toWellFormed()))
}

/** To the second, rounded down: nobody is told a later end than there is. */
function isoSecond(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`
}
