import { createHash, createPublicKey, type KeyObject } from "node:crypto"
import type { CacheValidators } from "../../base/fetch.ts"
import type { Clock, Stopwatch } from "../../base/outside-world.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import { TwoGenerationCache } from "../../base/two-generation-cache.ts"
import { ownMember } from "../../base/untrusted-text.ts"
import type { DownloadResult } from "../../check/fetch/download.ts"
import { LocalRateLimiter } from "../../customers/quota/rate/local-rate-limiter.ts"
import { rateSubject } from "../../customers/quota/rate/rate-subject.ts"

/** The result of looking up a public key by its identifier. */
type ReporterKeyLookup =
  | { readonly kind: "found"; readonly key: KeyObject }
  /** The reporter publishes no such key. */
  | { readonly kind: "unknown" }
  /** The copy in memory does not have it, and a newer one was not fetched: nobody can tell now. */
  | { readonly kind: "unavailable" }

/**
 * Finds the key of an identifier that came from a client, without a fetch when a fresh copy has it. An identifier is `unknown`
 * only when a document that was fetched for it does not have it; otherwise it is `unavailable`. It never rejects.
 */
export type FindReporterKey = (identifier: string, client: string) => Promise<ReporterKeyLookup>

type ReporterKeysDeps = {
  /** Downloads the document if it differs from the one with these validators; null: downloads it in any case. It never rejects. */
  readonly download: (validators: CacheValidators | null) => Promise<DownloadResult>
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly onWarning: (message: string) => void
}

/** How long a copy of the keys counts as fresh. */
export const KEYS_TTL_MS = 3_600_000

/**
 * How often the keys are fetched at most. A burst lets new keys be found at once. After that, one fetch in two minutes keeps
 * invented identifiers from using up the 60 requests an hour that the reporter grants without authentication. A key that is
 * new then is found within two minutes, because any fetch brings all keys.
 */
export const KEY_FETCH_RATE = { perSecond: 1 / 120, burst: 5 } as const

/**
 * How often the identifiers of one client have the keys fetched at most. The burst is smaller than that of all clients, and
 * both refill equally fast, so one client never uses up the fetches of the others.
 */
export const CLIENT_KEY_FETCH_RATE = { perSecond: 1 / 120, burst: 3 } as const

/** How many clients are remembered at least. */
const CLIENTS_MAX = 1000

/** How long an identifier that a document did not have stays unknown without another fetch. */
export const UNKNOWN_IDENTIFIER_MS = 120_000

/** How many such identifiers are remembered at least. */
const UNKNOWN_IDENTIFIERS_MIN = 1000

type KeySetCopy = { readonly keys: ReporterKeySet; readonly validators: CacheValidators; readonly checkedAtMs: number }

/**
 * Looks up the public keys of the leak reporter. They are fetched when a report arrives and the copy is stale or lacks the
 * report's key; reports that arrive meanwhile share the fetch. When a fetch fails, the last good copy stays in use.
 */
export function createReporterKeyLookup(deps: ReporterKeysDeps): FindReporterKey {
  const { clock, stopwatch } = deps
  const fetchRate = new LocalRateLimiter(clock, 1)
  const clientRates = new LocalRateLimiter(clock, CLIENTS_MAX)
  const fetches = new SingleFlight<"keys", boolean>()
  const unknownIdentifiers = createUnknownIdentifiers(stopwatch)
  let copy: KeySetCopy | null = null

  /** Fetches a copy; false: none came. */
  const fetchCopy = async (): Promise<boolean> => {
    const next = nextCopy(copy, await deps.download(copy?.validators ?? null), stopwatch())
    if (typeof next === "string") deps.onWarning(next)
    else copy = next
    return typeof next !== "string"
  }
  /** Whether a copy came that was fetched for this request, or is on its way at this moment. */
  const refresh = async (client: string | null): Promise<boolean> => {
    const isUnderWay = fetches.get("keys") !== undefined
    if (
      !isUnderWay &&
      client !== null &&
      clientRates.admit(rateSubject("leakReport", client), CLIENT_KEY_FETCH_RATE).waitS > 0
    )
      return false
    if (!isUnderWay && fetchRate.admit(rateSubject("leakReports"), KEY_FETCH_RATE).waitS > 0) return false
    return await fetches.run("keys", fetchCopy)
  }
  const cachedKey = (identifier: string): KeyObject | undefined => copy?.keys.get(identifier)

  return async (identifier, client) => {
    const isFresh = copy !== null && stopwatch() < copy.checkedAtMs + KEYS_TTL_MS
    let isRefreshed = false
    // A copy that is due is fetched on nobody's account.
    if (!isFresh) isRefreshed = await refresh(null)
    else if (cachedKey(identifier) === undefined) {
      if (unknownIdentifiers.has(identifier)) return { kind: "unknown" }
      isRefreshed = await refresh(client)
    }
    const key = cachedKey(identifier)
    if (key !== undefined) return { kind: "found", key }
    if (!isRefreshed) return { kind: "unavailable" }
    unknownIdentifiers.add(identifier)
    return { kind: "unknown" }
  }
}

/** The copy after a download, or why there is none. */
function nextCopy(copy: KeySetCopy | null, result: DownloadResult, nowMs: number): KeySetCopy | string {
  if (result.kind === "failed") return result.message
  if (result.kind === "unchanged") return copy === null ? "It did not arrive." : { ...copy, checkedAtMs: nowMs }
  const keys = parseKeySet(result.text)
  return keys === null ? "It has no key." : { keys, validators: result.validators, checkedAtMs: nowMs }
}

/** Remembers identifiers that a document did not have, by their hashes, since an identifier can be as long as a header. */
function createUnknownIdentifiers(stopwatch: Stopwatch) {
  const learnedAtMs = new TwoGenerationCache<string, number>(UNKNOWN_IDENTIFIERS_MIN)
  const hashOf = (identifier: string): string => createHash("sha256").update(identifier).digest("base64")
  return {
    has: (identifier: string): boolean => {
      const atMs = learnedAtMs.get(hashOf(identifier))
      return atMs !== undefined && stopwatch() < atMs + UNKNOWN_IDENTIFIER_MS
    },
    add: (identifier: string): void => learnedAtMs.set(hashOf(identifier), stopwatch()),
  }
}

/** The public keys of one document, by their identifiers. */
type ReporterKeySet = ReadonlyMap<string, KeyObject>

/** How many keys of a document are read. The real one has a few: the current keys and recent ones. */
const KEYS_MAX = 100

/**
 * The ECDSA keys on P-256 of a document `{"public_keys":[{"key_identifier","key","is_current"}]}`; null when it has none. Keys
 * that are no longer current are used too, since they verify earlier signatures. Keys of another kind or curve, and those that
 * cannot be parsed, are left out.
 */
export function parseKeySet(text: string): ReporterKeySet | null {
  const keys = new Map<string, KeyObject>()
  for (const entry of keyEntries(text).slice(0, KEYS_MAX)) {
    const [identifier, key] = [ownMember(entry, "key_identifier"), ownMember(entry, "key")]
    const publicKey = typeof key === "string" ? parsePublicKey(key) : null
    if (typeof identifier === "string" && identifier !== "" && publicKey !== null) keys.set(identifier, publicKey)
  }
  return keys.size === 0 ? null : keys
}

function keyEntries(text: string): readonly unknown[] {
  try {
    const entries = ownMember(JSON.parse(text), "public_keys")
    return Array.isArray(entries) ? entries : []
  } catch (notJson) {
    // A SyntaxError, or a RangeError when the nesting exceeds the parser's stack.
    if (notJson instanceof Error) return []
    throw notJson
  }
}

function parsePublicKey(pem: string): KeyObject | null {
  try {
    const key = createPublicKey(pem)
    return key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === P_256 ? key : null
  } catch (unreadable) {
    if (unreadable instanceof Error) return null
    throw unreadable
  }
}

/** The name of P-256 in ANSI X9.62. */
const P_256 = "prime256v1"
