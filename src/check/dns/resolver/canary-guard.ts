import { type Finding, unknown } from "../../../base/finding.ts"
import type { SetTimer } from "../../../base/outside-world.ts"
import { SingleFlight } from "../../../base/single-flight.ts"
import type { DnsAnswer, DnsRecordType, Resolver } from "../dns-types.ts"

/** How long after a round without an alive canary the next round starts in the background. */
export const CANARY_INTERVAL_MS = 5_000

/**
 * The record types of a canary's queries, in order, until one has a record: nearly every name has an A record, every zone has
 * NS records, and some names have only MX records. That the name exists without the type proves nothing: the resolvers of some
 * closed networks answer so for every name.
 */
const CANARY_TYPES: readonly DnsRecordType[] = ["A", "NS", "MX"]

/**
 * Whether the resolver is believed. `unknown`: no round has ended yet. `silent`: no canary was answered, so negative answers
 * are not believed. `denied`: the resolver denies all canaries, so no answer is believed.
 */
export type CanaryState = "unknown" | "believed" | "denied" | "silent"

/** Believes the servers only while they know the canaries. */
export type CanaryGuard = {
  /** Called before a question is asked: the round for which its answer waits; null: there is none. */
  readonly firstRound: () => Promise<unknown> | null
  /** What is believed of how a question ended, at once or after the canaries for which it waits. */
  readonly believed: (
    finding: Finding<DnsAnswer>,
    firstRound: Promise<unknown> | null,
  ) => Finding<DnsAnswer> | Promise<Finding<DnsAnswer>>
  /** While it is `denied`, no question is worth asking. */
  readonly state: () => CanaryState
  /** Starts a round in the background, so that the state is known before the first question. */
  readonly start: () => void
  /** Ends the rounds in the background. */
  readonly stop: () => void
}

type CanaryGuardDeps = {
  /** Names that every working resolver knows. One alive canary is enough; without canaries the resolver is always believed. */
  readonly canaries: readonly string[]
  /** Queries the servers without queue and circuit breaker, so that its answers are always the servers' own. */
  readonly directResolver: Resolver
  readonly setTimer: SetTimer
  /** Called after each round, which may have changed the state. */
  readonly onChange?: () => void
}

/**
 * Guards against resolvers of closed networks, which deny every public name. While all canaries are denied, every question is
 * `unavailable`. A negative answer is believed only if a canary query that started after it finds a canary alive, and is
 * `unavailable` otherwise: so the first wrong denial of a resolver is not believed either. Negative answers that arrive during
 * a round share the next round, so that there is never more than one.
 */
export function createCanaryGuard({ canaries, directResolver, setTimer, onChange }: CanaryGuardDeps): CanaryGuard {
  const probeAll = createCanaryProbe(canaries, directResolver)
  let state: CanaryState = canaries.length === 0 ? "believed" : "unknown"
  let cancelTimer: (() => void) | null = null
  let isStopped = false
  const rounds = createCanaryRounds(async () => {
    cancelTimer?.()
    cancelTimer = null
    const outcome = await probeAll()
    if (outcome === "alive") state = "believed"
    else if (outcome === "denied") state = "denied"
    else if (state === "unknown") state = "silent"
    if (!isStopped) onChange?.()
    if (state !== "believed" && !isStopped) cancelTimer = setTimer(CANARY_INTERVAL_MS, rounds.current)
    return outcome
  })
  const currentState = (): CanaryState => state
  const unlessDenied = (finding: Finding<DnsAnswer>) => (currentState() === "denied" ? NOT_BELIEVED : finding)

  return {
    firstRound: () => (state === "unknown" ? rounds.current() : null),
    believed: (finding, firstRound) => {
      if (!finding.known || canaries.length === 0) return finding
      if (finding.value.outcome !== "records") return ifAlive(rounds.next(), finding)
      return firstRound === null ? unlessDenied(finding) : firstRound.then(() => unlessDenied(finding))
    },
    state: currentState,
    start: () => {
      if (canaries.length > 0) void rounds.current()
    },
    stop: () => {
      isStopped = true
      cancelTimer?.()
      cancelTimer = null
    },
  }
}

const NOT_BELIEVED: Finding<never> = unknown("unavailable")

const ifAlive = async (round: Promise<CanaryOutcome>, finding: Finding<DnsAnswer>): Promise<Finding<DnsAnswer>> =>
  (await round) === "alive" ? finding : NOT_BELIEVED

/** `alive`: a record was found. `denied`: the name was denied or the query refused. `silent`: there was no reply. */
export type CanaryOutcome = "alive" | "denied" | "silent"

/** Rounds of canary queries, of which one runs at a time. */
function createCanaryRounds(probeAll: () => Promise<CanaryOutcome>) {
  const flight = new SingleFlight<"round", CanaryOutcome>()
  let following: Promise<CanaryOutcome> | null = null
  /** The running round, or a new one. */
  const current = (): Promise<CanaryOutcome> => flight.run("round", probeAll)
  /** A round that starts after this call. If the running round finds no canary alive, its outcome is used instead. */
  const next = (): Promise<CanaryOutcome> => {
    const running = flight.get("round")
    if (running === undefined) return current()
    following ??= running.then(outcome => {
      following = null
      return outcome === "alive" ? current() : outcome
    })
    return following
  }
  return { current, next }
}

/** Queries the canary that was alive last, and only if it is not alive any more, all others at the same time. */
function createCanaryProbe(canaries: readonly string[], directResolver: Resolver): () => Promise<CanaryOutcome> {
  let lastAlive: string | null = null
  return async () => {
    const first = lastAlive
    let isFirstAlive = true
    const probe = async (name: string): Promise<CanaryOutcome> => {
      const outcome = await probeCanary(name, directResolver)
      // The fastest of a round is asked next, because negative answers wait for it.
      if (outcome === "alive" && isFirstAlive) {
        isFirstAlive = false
        lastAlive = name
      }
      return outcome
    }
    if (first === null) return await combinedOutcome(canaries.map(probe))
    const outcome = await probe(first)
    if (outcome === "alive") return outcome
    return await combinedOutcome([outcome, ...canaries.filter(name => name !== first).map(probe)])
  }
}

/** `alive` as soon as one is, else `silent` if one is silent, else `denied`. */
function combinedOutcome(outcomes: readonly (CanaryOutcome | Promise<CanaryOutcome>)[]): Promise<CanaryOutcome> {
  return new Promise(resolve => {
    const settled: CanaryOutcome[] = []
    for (const pending of outcomes)
      void Promise.resolve(pending).then(outcome => {
        settled.push(outcome)
        if (outcome === "alive") resolve("alive")
        else if (settled.length === outcomes.length) resolve(settled.includes("silent") ? "silent" : "denied")
      })
  })
}

/** Queries one canary, one record type after the other until there is a record. It never rejects. */
export async function probeCanary(name: string, directResolver: Resolver): Promise<CanaryOutcome> {
  for (const type of CANARY_TYPES) {
    const finding = await directResolver({ name, type })
    if (!finding.known) return finding.cause === "timed_out" ? "silent" : "denied"
    if (finding.value.outcome === "records") return "alive"
    if (finding.value.outcome === "no_name") return "denied"
  }
  return "denied"
}
