import type { Clock } from "../../base/outside-world.ts"
import { type Change, isChangeKind } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import { listTerms, type Terms } from "./terms.ts"
import { noticeEndsAtMs } from "./terms-notices.ts"

/** The terms that an account accepted last. */
export type TermsAcceptance = {
  /** Null: none were published then, or none were accepted. */
  readonly acceptedTermsVersion: string | null
  /** Null: none were accepted. */
  readonly acceptedTermsAtMs: number | null
}

/** The state of an account's acceptance. `version` and `url` are those of the current terms. */
export type TermsState =
  | { readonly kind: "accepted" }
  | { readonly kind: "grace"; readonly version: string; readonly url: string; readonly endsAtMs: number }
  /** Requests have been refused since `sinceMs`. */
  | { readonly kind: "not_accepted"; readonly version: string; readonly url: string; readonly sinceMs: number }

const ACCEPTED = { kind: "accepted" } as const

/** Caches all terms in memory, for the state of each request's account. Empty until the first `load`. */
export class TermsCache {
  readonly #store: Store
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  #current: Terms | undefined
  /** Newest first. */
  #material: readonly Terms[] = []
  #publishedAtMs: ReadonlyMap<string, number> = new Map()
  #isStale = false
  #startedCount = 0
  #loadedNumber = 0

  /** `failed` is called when a change could not be read; the next `applyChanges` or `invalidateAll` tries again. */
  constructor(store: Store, clock: Clock, failed: (error: unknown) => void) {
    this.#store = store
    this.#clock = clock
    this.#onError = failed
  }

  /** Reads the terms. Rejects when that fails; the cached terms stay. */
  async load(): Promise<void> {
    const number = ++this.#startedCount
    const terms = await listTerms(this.#store)
    // A load that started later may have ended earlier, and has read newer terms.
    if (number < this.#loadedNumber) return
    this.#loadedNumber = number
    const valid = terms.filter(({ withdrawnAtMs }) => withdrawnAtMs === undefined)
    this.#current = valid[0]
    this.#material = valid.filter(({ isMaterial }) => isMaterial)
    this.#publishedAtMs = new Map(terms.map(({ version, publishedAtMs }) => [version, publishedAtMs]))
  }

  /** Reads the terms again when a change concerns them, or when a read failed before. */
  applyChanges(changes: readonly Change[]): void {
    // An unknown kind of change, from a newer version, may concern terms: reading again is cheap.
    if (changes.some(({ kind }) => kind === "terms_published" || !isChangeKind(kind))) this.#isStale = true
    if (this.#isStale) this.#reload()
  }

  /** Reads the terms again; called when part of the change log was lost. */
  invalidateAll(): void {
    this.#reload()
  }

  /**
   * The state of an account now. It must accept the material terms published after those it accepted, within
   * `LIMITS.termsNoticeDays` from the first of them, whatever follows. Synchronous, without the store.
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

  /** The instant up to which everything published is accepted: that of the accepted version, or the time of acceptance when there is no version. */
  #acceptedUpToMs({ acceptedTermsVersion, acceptedTermsAtMs }: TermsAcceptance): number {
    // Not cached: published so recently, and accepted in another process, that this one has not read it yet.
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
 * The headers for a state: a link to the terms (RFC 6903 §5) when they have to be accepted and, during the notice, a
 * warning with the version and the deadline (RFC 7234 §5.5). None when they are accepted.
 */
export function termsHeaders(state: TermsState): Readonly<Record<string, string>> {
  if (state.kind === "accepted") return NO_HEADERS
  const Link = `<${encodeUri(state.url)}>; rel="terms-of-service"`
  if (state.kind === "not_accepted") return { Link }
  const text = `The terms have changed. Version ${state.version} must be accepted before ${isoSecond(state.endsAtMs)}.`
  // 299 is a persistent warning; the warning agent is named by its pseudonym.
  return { Warning: `299 mailkind "${text}"`, Link }
}

/** Percent-encodes characters that `URL` keeps although RFC 3986 §2 does not allow them: `|`, `^`, `{`. */
function encodeUri(url: string): string {
  return url.replace(/[^\w.~:/?#[\]@!$&'()*+,;=%-]/gu, character => encodeURIComponent(character.toWellFormed()))
}

/** To the second, rounded down, so that the displayed deadline is never later than the real one. */
function isoSecond(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`
}
