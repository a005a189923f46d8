import { createPublicKey, type KeyObject } from "node:crypto"
import type { CacheValidators } from "../../base/fetch.ts"
import type { Clock, Stopwatch } from "../../base/outside-world.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import { ownMember } from "../../base/untrusted-text.ts"
import type { DownloadResult } from "../../check/fetch/download.ts"
import { LocalRateLimiter } from "../../customers/quota/rate/local-rate-limiter.ts"

/** The result of looking up a public key by its identifier. */
type ReporterKeyLookup =
  | { readonly kind: "found"; readonly key: KeyObject }
  /** The reporter publishes no such key. */
  | { readonly kind: "unknown" }
  /** The copy in memory does not have it, and a newer one could not be fetched. */
  | { readonly kind: "unavailable" }

/** Finds the key of an identifier, without a fetch when a fresh copy has it. It never rejects. */
export type FindReporterKey = (identifier: string) => Promise<ReporterKeyLookup>

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
 * invented identifiers from using up the 60 requests an hour that the reporter grants without authentication.
 */
export const KEY_FETCH_RATE = { perSecond: 1 / 120, burst: 5 } as const

type KeySetCopy = { readonly keys: ReporterKeySet; readonly validators: CacheValidators; readonly checkedAtMs: number }

/**
 * Looks up the public keys of the leak reporter. They are fetched when a report arrives and the copy is stale or lacks the
 * report's key; reports that arrive meanwhile share the fetch. When a fetch fails, the last good copy stays in use.
 */
export function createReporterKeyLookup(deps: ReporterKeysDeps): FindReporterKey {
  const { clock, stopwatch, onWarning } = deps
  const fetchRate = new LocalRateLimiter(clock, 1)
  const fetches = new SingleFlight<"keys", void>()
  let copy: KeySetCopy | null = null
  let hasFailed = false

  /** The new copy, or why there is none. */
  const nextCopy = (download: DownloadResult): KeySetCopy | string => {
    if (download.kind === "failed") return download.message
    if (download.kind === "unchanged") return copy === null ? "It did not come." : { ...copy, checkedAtMs: stopwatch() }
    const keys = parseKeySet(download.text)
    return keys === null ? "It holds no key." : { keys, validators: download.validators, checkedAtMs: stopwatch() }
  }
  const fetchKeys = async (): Promise<void> => {
    const next = nextCopy(await deps.download(copy?.validators ?? null))
    hasFailed = typeof next === "string"
    if (typeof next === "string") onWarning(next)
    else copy = next
  }
  const refresh = async (): Promise<void> => {
    if (fetches.get("keys") === undefined && fetchRate.admit("", KEY_FETCH_RATE).waitS > 0) return
    await fetches.run("keys", fetchKeys)
  }
  const cachedKey = (identifier: string): KeyObject | undefined => copy?.keys.get(identifier)

  return async identifier => {
    const isFresh = copy !== null && stopwatch() < copy.checkedAtMs + KEYS_TTL_MS
    if (!isFresh || cachedKey(identifier) === undefined) await refresh()
    const key = cachedKey(identifier)
    if (key !== undefined) return { kind: "found", key }
    return { kind: copy === null || hasFailed ? "unavailable" : "unknown" }
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
