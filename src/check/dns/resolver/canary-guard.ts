import { unknown } from "../../../base/finding.ts"
import type { SetTimer } from "../../../base/outside-world.ts"
import type { DnsRecordType, Resolver } from "../dns-types.ts"

/** How long after they were asked in vain the canaries are asked again. */
export const CANARY_INTERVAL_MS = 5_000

/**
 * What canaries are asked for, until there is a record: nearly every name has an A; one that has none is asked for its NS,
 * which every zone has, and then its MX. That the name exists without the type is no sign of life: some closed networks
 * say so of every name.
 */
const CANARY_TYPES: readonly DnsRecordType[] = ["A", "NS", "MX"]

/**
 * Whether a resolver is believed. `unknown`: the canaries were not asked yet; `silent`: nobody said a word of them, so no
 * denial is believed; `denied`: it denies them all, so nothing is.
 */
export type CanaryState = "unknown" | "believed" | "denied" | "silent"

/** A resolver that is believed only as long as it knows the canaries. */
export type CanaryGuard = {
  readonly resolver: Resolver
  readonly state: () => CanaryState
  /** Asks the canaries in the background, so that the state is known before the first question. */
  readonly start: () => void
  /** Asks the canaries no more in the background. */
  readonly stop: () => void
}

type CanaryGuardDeps = {
  /** Names that a working resolver knows; one that is alive is enough. None: the resolver is believed in any case. */
  readonly canaries: readonly string[]
  /** Asks the servers themselves, past every queue and breaker: what it says of a canary is their word, not ours. */
  readonly directResolver: Resolver
  readonly setTimer: SetTimer
}

/**
 * Believes no resolver that denies every canary, as those of closed networks do: everything is `unavailable` until one is
 * known. What another resolver denies is believed only when a canary was asked for after the denial came and is alive, and
 * is `unavailable` otherwise: a resolver that begins to deny every name is not believed once. All denials that come while
 * the canaries are being asked for share the next round, so there is never more than one under way.
 */
export function createCanaryGuard(
  resolver: Resolver,
  { canaries, directResolver, setTimer }: CanaryGuardDeps,
): CanaryGuard {
  if (canaries.length === 0) return withoutGuard(resolver)
  const ask = createCanaryProbe(canaries, directResolver)
  let state: CanaryState = "unknown"
  let callOff: (() => void) | null = null
  let hasEnded = false
  const { current, next: fromNow } = createCanaryRounds(async () => {
    callOff?.()
    callOff = null
    const fate = await ask()
    if (fate === "alive") state = "believed"
    else if (fate === "denied") state = "denied"
    else if (state === "unknown") state = "silent"
    if (state !== "believed" && !hasEnded) callOff = setTimer(CANARY_INTERVAL_MS, current)
    return fate
  })
  const stateNow = (): CanaryState => state

  return {
    resolver: async question => {
      if (state === "denied") return unknown("unavailable")
      const beside = state === "unknown" ? current() : null
      const finding = await resolver(question)
      if (!finding.known) return finding
      if (finding.value.outcome !== "records") return (await fromNow()) === "alive" ? finding : unknown("unavailable")
      await beside
      return stateNow() === "denied" ? unknown("unavailable") : finding
    },
    state: stateNow,
    start: () => void current(),
    stop: () => {
      hasEnded = true
      callOff?.()
      callOff = null
    },
  }
}

const withoutGuard = (resolver: Resolver): CanaryGuard => ({
  resolver,
  state: () => "believed",
  start: () => undefined,
  stop: () => undefined,
})

/** Alive as soon as one canary is; denied when every one is denied or refused; silent when there was no word of one. */
export type CanaryOutcome = "alive" | "denied" | "silent"

/** Rounds of canaries, of which never more than one is under way. */
type CanaryRounds = {
  /** The round that is under way, or a new one. */
  readonly current: () => Promise<CanaryOutcome>
  /** One that has not begun yet, unless the one under way already says that none is alive. */
  readonly next: () => Promise<CanaryOutcome>
}

function createCanaryRounds(ask: () => Promise<CanaryOutcome>): CanaryRounds {
  let round: Promise<CanaryOutcome> | null = null
  let next: Promise<CanaryOutcome> | null = null
  const current = (): Promise<CanaryOutcome> => {
    round ??= ask().finally(() => {
      round = null
    })
    return round
  }
  const fromNow = (): Promise<CanaryOutcome> => {
    if (round === null) return current()
    next ??= round.then(fate => {
      next = null
      return fate === "alive" ? current() : fate
    })
    return next
  }
  return { current, next: fromNow }
}

/** Asks in rounds: first for the canary that was alive last, and for all others side by side only when it no longer is. */
function createCanaryProbe(canaries: readonly string[], direct: Resolver): () => Promise<CanaryOutcome> {
  let aliveLast: string | null = null
  const asked = async (name: string): Promise<CanaryOutcome> => {
    const fate = await probeCanary(name, direct)
    if (fate === "alive") aliveLast = name
    return fate
  }
  return async () => {
    const first = aliveLast
    if (first === null) return await combinedOutcome(canaries.map(asked))
    const fate = await asked(first)
    return fate === "alive"
      ? fate
      : await combinedOutcome([fate, ...canaries.filter(name => name !== first).map(asked)])
  }
}

/** Settles as soon as one is alive. */
function combinedOutcome(asked: readonly (CanaryOutcome | Promise<CanaryOutcome>)[]): Promise<CanaryOutcome> {
  return new Promise(settle => {
    const fates: CanaryOutcome[] = []
    for (const each of asked)
      void Promise.resolve(each).then(fate => {
        fates.push(fate)
        if (fate === "alive") settle("alive")
        else if (fates.length === asked.length) settle(fates.includes("silent") ? "silent" : "denied")
      })
  })
}

/** Asks for one canary, by one type after the other until there is a record of it. It never rejects. */
export async function probeCanary(name: string, direct: Resolver): Promise<CanaryOutcome> {
  for (const type of CANARY_TYPES) {
    const finding = await direct({ name, type })
    if (!finding.known) return finding.cause === "timed_out" ? "silent" : "denied"
    if (finding.value.outcome === "records") return "alive"
    if (finding.value.outcome === "no_name") return "denied"
  }
  return "denied"
}
