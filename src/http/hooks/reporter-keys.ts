import { createPublicKey, type KeyObject } from "node:crypto"
import type { CacheValidators } from "../../base/fetch.ts"
import type { Clock, Stopwatch } from "../../base/outside-world.ts"
import type { DownloadResult } from "../../check/fetch/download.ts"
import { LocalRateLimiter } from "../../customers/quota/rate/local-rate-limiter.ts"

/** The public key of an identifier. */
type ReporterKeyLookup =
  | { readonly kind: "found"; readonly key: KeyObject }
  /** The reporter publishes no such key. */
  | { readonly kind: "unknown" }
  /** No copy that is in memory has it, and there is no telling whether the reporter's newest would. */
  | { readonly kind: "unavailable" }

/** Gives the key of an identifier, at once when it is held. It never rejects. */
export type FindReporterKey = (identifier: string) => Promise<ReporterKeyLookup>

/** What the keys are fetched by. */
type ReporterKeysDeps = {
  /** Asks for a newer document than the one that the validators are of; null: there is none. It never rejects. */
  readonly download: (known: CacheValidators | null) => Promise<DownloadResult>
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly onWarning: (says: string) => void
}

/** For how long a copy of the keys is taken for the newest. */
export const KEYS_TTL_MS = 3_600_000

/**
 * How often the keys are fetched at most: a few times in a row, so that a change of keys is noticed at once, and then every
 * two minutes, so that who makes up identifiers does not use up the 60 requests an hour that the reporter grants a stranger.
 */
export const KEY_FETCH_RATE = { perSecond: 1 / 120, burst: 5 } as const

/** A copy of the keys, and of what the server said of it. */
type KeySetCopy = { readonly keys: ReporterKeySet; readonly validators: CacheValidators; readonly checkedAtMs: number }

/**
 * Builds the look-up of the leak reporter's keys. They are fetched when a report comes and the copy is too old or does not
 * have the report's key; all reports of that moment wait for one fetch. Whatever a fetch fails by, the last good copy serves.
 */
export function createReporterKeyLookup(needs: ReporterKeysDeps): FindReporterKey {
  const { clock, stopwatch, onWarning } = needs
  const fetches = new LocalRateLimiter(clock, 1)
  let copy: KeySetCopy | null = null
  let hasFailed = false
  let underWay: Promise<void> | null = null

  const taken = (came: DownloadResult): KeySetCopy | string => {
    if (came.kind === "failed") return came.message
    if (came.kind === "unchanged") return copy === null ? "It did not come." : { ...copy, checkedAtMs: stopwatch() }
    const keys = parseKeySet(came.text)
    return keys === null ? "It holds no key." : { keys, validators: came.validators, checkedAtMs: stopwatch() }
  }
  const fetchNow = async (): Promise<void> => {
    const next = taken(await needs.download(copy?.validators ?? null))
    hasFailed = typeof next === "string"
    if (typeof next === "string") onWarning(next)
    else copy = next
  }
  const refresh = async (): Promise<void> => {
    if (underWay === null && fetches.admit("", KEY_FETCH_RATE).waitS > 0) return
    underWay ??= fetchNow().finally(() => {
      underWay = null
    })
    await underWay
  }
  const held = (identifier: string): KeyObject | undefined => copy?.keys.get(identifier)

  return async identifier => {
    const isFresh = copy !== null && stopwatch() < copy.checkedAtMs + KEYS_TTL_MS
    if (!isFresh || held(identifier) === undefined) await refresh()
    const key = held(identifier)
    if (key !== undefined) return { kind: "found", key }
    return { kind: copy === null || hasFailed ? "unavailable" : "unknown" }
  }
}

/** The public keys of one document, by their identifiers. */
type ReporterKeySet = ReadonlyMap<string, KeyObject>

/** How many keys of a document are read. The real one has a few: those in use, and those that were until lately. */
const KEYS_MAX = 100

/**
 * The ECDSA keys on P-256 that a document `{"public_keys":[{"key_identifier","key","is_current"}]}` publishes; null when
 * there is none in it. A key that is published and no longer current verifies what was signed before the change of keys. One
 * of another kind or curve, or that cannot be read, is left out.
 */
export function parseKeySet(text: string): ReporterKeySet | null {
  const keys = new Map<string, KeyObject>()
  for (const entry of keyEntries(text).slice(0, KEYS_MAX)) {
    const { key_identifier: identifier, key } = objectMembers(entry)
    const read = typeof key === "string" ? parsePublicKey(key) : null
    if (typeof identifier === "string" && identifier !== "" && read !== null) keys.set(identifier, read)
  }
  return keys.size === 0 ? null : keys
}

function keyEntries(text: string): readonly unknown[] {
  try {
    const { public_keys: entries } = objectMembers(JSON.parse(text))
    return Array.isArray(entries) ? entries : []
  } catch (notJson) {
    // A SyntaxError, or a RangeError where it is nested past the parser's stack.
    if (notJson instanceof Error) return []
    throw notJson
  }
}

const objectMembers = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {}

function parsePublicKey(pem: string): KeyObject | null {
  try {
    const key = createPublicKey(pem)
    return key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === P_256 ? key : null
  } catch (unreadable) {
    if (unreadable instanceof Error) return null
    throw unreadable
  }
}

/** P-256 by its name in ANSI X9.62. */
const P_256 = "prime256v1"
