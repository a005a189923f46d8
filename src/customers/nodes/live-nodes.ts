import type { Beat } from "./node-rows.ts"

/** How often a node beats, and what it means when it does not. */
export type NodeBounds = {
  readonly beatMs: number
  /** A node that was seen to stand still for so long does not serve any more. */
  readonly silentMs: number
  /** One that stood still for so long does not come back under its id. */
  readonly goneMs: number
}

/** The bounds in use. What a node does at once and then every so often must fit into them several times. */
export const NODE_BOUNDS: NodeBounds = { beatMs: 5000, silentMs: 15_000, goneMs: 60_000 }

/** Among how many nodes a node serves, itself included, and which it is of them, counted from zero: each counts the same. */
export type Standing = { readonly count: number; readonly position: number }

type Seen = Beat & { readonly standingMs: number }

/**
 * Which nodes live, as one of them sees it: those whose heartbeats it saw move not long ago, by its own stopwatch.
 *
 *     new row, or its beat moved      not moved for silentMs      not moved for goneMs
 *     |---------- lives --------------|------ counts not ---------|--- its row is deleted
 *
 * One that is seen for the first time lives: to count one too many admits less, never more. Of the time between two looks
 * no more counts than a heartbeat takes, and none of that in which the database was away: then nobody could beat.
 */
export class LiveNodes {
  readonly #own: string
  readonly #bounds: NodeBounds
  #others: readonly Seen[] = []
  /** When it was looked last; null: never, or the last look failed. */
  #lookedAtMs: number | null = null

  constructor(own: string, bounds: NodeBounds) {
    this.#own = own
    this.#bounds = bounds
  }

  /** Takes in all rows as they stood at an instant of the own stopwatch. */
  look(rows: readonly Beat[], nowMs: number): void {
    const passedMs = this.#lookedAtMs === null ? 0 : Math.min(nowMs - this.#lookedAtMs, this.#bounds.beatMs)
    const before = new Map(this.#others.map(other => [other.id, other]))
    this.#lookedAtMs = nowMs
    this.#others = rows
      .filter(({ id }) => id !== this.#own)
      .map(({ id, beat }) => {
        const known = before.get(id)
        return { id, beat, standingMs: known?.beat === beat ? known.standingMs + passedMs : 0 }
      })
  }

  /** Notes that rows could not be looked at: what is known stays, and the time until the next look counts for nothing. */
  miss(): void {
    this.#lookedAtMs = null
  }

  /** The own standing, as of the last look. Without one a node is alone. */
  get standing(): Standing {
    const live = this.#others.filter(({ standingMs }) => standingMs < this.#bounds.silentMs)
    return { count: live.length + 1, position: live.filter(({ id }) => id < this.#own).length }
  }

  /** The rows of nodes that are gone, as they stood. */
  get gone(): readonly Beat[] {
    return this.#others.filter(({ standingMs }) => standingMs >= this.#bounds.goneMs)
  }
}
