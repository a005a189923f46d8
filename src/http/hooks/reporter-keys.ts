import type { KeyObject } from "node:crypto"
import type { Clock, Stopwatch } from "../../base/clock.ts"
import type { Validators } from "../../base/web.ts"
import type { Download } from "../../check/refresh/download.ts"
import { LocalRates } from "../../customers/quota/local-rates.ts"
import { type ReporterKeySet, readKeySet } from "./reporter-key-set.ts"

/** The public key of an identifier. */
export type ReporterKey =
  | { readonly kind: "found"; readonly key: KeyObject }
  /** The reporter publishes no such key. */
  | { readonly kind: "unknown" }
  /** No copy that is in memory has it, and there is no telling whether the reporter's newest would. */
  | { readonly kind: "unavailable" }

/** Gives the key of an identifier, at once when it is held. It never rejects. */
export type FindReporterKey = (identifier: string) => Promise<ReporterKey>

/** What the keys are fetched by. */
export type ReporterKeysNeeds = {
  /** Asks for a newer document than the one that the validators are of; null: there is none. It never rejects. */
  readonly download: (known: Validators | null) => Promise<Download>
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly complain: (says: string) => void
}

/** For how long a copy of the keys is taken for the newest. */
export const KEYS_TTL_MS = 3_600_000

/**
 * How often the keys are fetched at most: a few times in a row, so that a change of keys is noticed at once, and then every
 * two minutes, so that who makes up identifiers does not use up the 60 requests an hour that the reporter grants a stranger.
 */
export const KEY_FETCHES = { perSecond: 1 / 120, burst: 5 } as const

/** A copy of the keys, and of what the server said of it. */
type Copy = { readonly keys: ReporterKeySet; readonly validators: Validators; readonly checkedAtMs: number }

/**
 * Builds the look-up of the leak reporter's keys. They are fetched when a report comes and the copy is too old or does not
 * have the report's key; all reports of that moment wait for one fetch. Whatever a fetch fails by, the last good copy serves.
 */
export function reporterKeys(needs: ReporterKeysNeeds): FindReporterKey {
  const { clock, stopwatch, complain } = needs
  const fetches = new LocalRates(clock, 1)
  let copy: Copy | null = null
  let hasFailed = false
  let underWay: Promise<void> | null = null

  const taken = (came: Download): Copy | string => {
    if (came.kind === "failed") return came.says
    if (came.kind === "unchanged") return copy === null ? "It did not come." : { ...copy, checkedAtMs: stopwatch() }
    const keys = readKeySet(came.text)
    return keys === null ? "It holds no key." : { keys, validators: came.validators, checkedAtMs: stopwatch() }
  }
  const fetchNow = async (): Promise<void> => {
    const next = taken(await needs.download(copy?.validators ?? null))
    hasFailed = typeof next === "string"
    if (typeof next === "string") complain(next)
    else copy = next
  }
  const refresh = async (): Promise<void> => {
    if (underWay === null && fetches.admit("", KEY_FETCHES).waitS > 0) return
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
