import type { Stopwatch } from "../../base/clock.ts"
import type { Reply } from "./exchange.ts"

/** What a server made of what it was asked last, and when it answered last. */
type Health = { lapse: keyof typeof RANKS; answeredAtMs: number }

/** A failure may be the fault of what was asked for; silence costs its share of the time of every question. */
const RANKS = { none: 0, failed: 1, silent: 2 } as const

/**
 * In which order servers are asked. It knows them by their place in the list that they were given in. A lapse puts a
 * server behind the others until it answers, and it comes to be asked only when they have lapses too: so a dead server
 * costs its share of the time once, not every so often.
 */
export class ServerOrder {
  readonly #stopwatch: Stopwatch
  readonly #servers: readonly Health[]
  #preferred = 0

  constructor(count: number, stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch
    this.#servers = Array.from({ length: count }, () => ({ lapse: "none", answeredAtMs: Number.NEGATIVE_INFINITY }))
  }

  /** At most `countMax` servers, healthiest first; among equals the preferred one is first, then as given. */
  healthiest(countMax: number): readonly number[] {
    return this.#servers
      .map(({ lapse }, server) => ({ server, rank: RANKS[lapse], turn: server === this.#preferred ? 0 : 1 }))
      .sort((a, b) => a.rank - b.rank || a.turn - b.turn)
      .slice(0, countMax)
      .map(({ server }) => server)
  }

  /** Notes what a server made of a question that was sent to it at `sentAtMs` by the stopwatch. */
  heard(server: number, kind: Reply["kind"], sentAtMs: number): void {
    const health = this.#servers[server]
    if (health === undefined) return
    if (kind === "answered") {
      health.answeredAtMs = this.#stopwatch()
      health.lapse = "none"
    } else if (kind === "failed") health.lapse = "failed"
    // A server that has answered others since is there: the packet was lost, or the question is one it cannot answer.
    else if (health.answeredAtMs < sentAtMs) health.lapse = "silent"
  }

  /** Puts the server first among equals, until another is preferred. */
  prefer(server: number): void {
    this.#preferred = server
  }
}
