import type { Stopwatch } from "../../base/clock.ts"
import { unknown } from "../../base/finding.ts"
import type { Later } from "../../base/timer.ts"
import type { RecordType, Resolver } from "./question.ts"

/** How long after a canary was seen alive what the resolver denies is believed. */
export const ALIVE_MS = 10_000

/** How long after they were asked in vain the canaries are asked again. */
export const CANARIES_EVERY_MS = 5_000

/**
 * What canaries are asked for, until there is a record: nearly every name has an A; one that has none is asked for its NS,
 * which every zone has, and then its MX. That the name exists without the type is no sign of life: some closed networks
 * say so of every name.
 */
const CANARY_TYPES: readonly RecordType[] = ["A", "NS", "MX"]

/**
 * Whether a resolver is believed. `unknown`: the canaries were not asked yet; `silent`: nobody said a word of them, so no
 * denial is believed; `denied`: it denies them all, so nothing is.
 */
export type Belief = "unknown" | "believed" | "denied" | "silent"

/** A resolver that is believed only as long as it knows the canaries. */
export type Believing = {
  readonly resolver: Resolver
  readonly state: () => Belief
  /** Asks the canaries in the background, so that the state is known before the first question. */
  readonly start: () => void
  /** Asks the canaries no more in the background. */
  readonly end: () => void
}

type Canaries = {
  /** Names that a working resolver knows; one that is alive is enough. None: the resolver is believed in any case. */
  readonly canaries: readonly string[]
  /** Asks the servers themselves, past every queue and breaker: what it says of a canary is their word, not ours. */
  readonly direct: Resolver
  readonly later: Later
  readonly stopwatch: Stopwatch
}

/**
 * Believes no resolver that denies every canary, as those of closed networks do: everything is `unavailable` until one is
 * known. What another resolver denies is believed only while a canary was seen alive lately, and `unavailable` otherwise.
 */
export function believing(resolver: Resolver, { canaries, direct, later, stopwatch }: Canaries): Believing {
  if (canaries.length === 0) return trusting(resolver)
  let state: Belief = "unknown"
  let aliveAtMs = Number.NEGATIVE_INFINITY
  let round: Promise<void> | null = null
  let callOff: (() => void) | null = null
  let hasEnded = false

  const isAlive = (): boolean => stopwatch() - aliveAtMs <= ALIVE_MS
  const askCanaries = async (): Promise<void> => {
    callOff?.()
    callOff = null
    const fate = await fateOf(canaries, direct)
    round = null
    if (fate === "alive") {
      state = "believed"
      aliveAtMs = stopwatch()
    } else if (fate === "denied") state = "denied"
    else if (state === "unknown") state = "silent"
    if (state !== "believed" && !hasEnded) callOff = later(CANARIES_EVERY_MS, sharedRound)
  }
  /** One round for all who wait for it. */
  const sharedRound = (): Promise<void> => {
    round ??= askCanaries()
    return round
  }
  const stateNow = (): Belief => state

  return {
    resolver: async question => {
      if (state === "denied") return unknown("unavailable")
      const beside = state === "unknown" ? sharedRound() : null
      const finding = await resolver(question)
      if (!finding.known) return finding
      const isDenial = finding.value.outcome !== "records"
      if (beside !== null) await beside
      else if (isDenial && !isAlive()) await sharedRound()
      return stateNow() === "denied" || (isDenial && !isAlive()) ? unknown("unavailable") : finding
    },
    state: stateNow,
    start: () => void sharedRound(),
    end: () => {
      hasEnded = true
      callOff?.()
      callOff = null
    },
  }
}

const trusting = (resolver: Resolver): Believing => ({
  resolver,
  state: () => "believed",
  start: () => undefined,
  end: () => undefined,
})

/** Alive as soon as one canary is; denied when every one is denied or refused; silent when there was no word of one. */
export type CanaryFate = "alive" | "denied" | "silent"

function fateOf(canaries: readonly string[], direct: Resolver): Promise<CanaryFate> {
  return new Promise(settle => {
    const fates: CanaryFate[] = []
    for (const name of canaries)
      void canaryFate(name, direct).then(fate => {
        fates.push(fate)
        if (fate === "alive") settle("alive")
        else if (fates.length === canaries.length) settle(fates.includes("silent") ? "silent" : "denied")
      })
  })
}

/** Asks for one canary, by one type after the other until there is a record of it. It never rejects. */
export async function canaryFate(name: string, direct: Resolver): Promise<CanaryFate> {
  for (const type of CANARY_TYPES) {
    const finding = await direct({ name, type })
    if (!finding.known) return finding.cause === "timed_out" ? "silent" : "denied"
    if (finding.value.outcome === "records") return "alive"
    if (finding.value.outcome === "no_name") return "denied"
  }
  return "denied"
}
