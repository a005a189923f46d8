import type { Store } from "../store/core/store.ts"

/** How often a node beats, and what it means when it does not. */
export type NodeBounds = {
  readonly intervalMs: number
  /** A node that was seen to stand still for so long does not serve any more. */
  readonly deadAfterMs: number
  /** One that stood still for so long does not come back under its id. */
  readonly removedAfterMs: number
}

/** The bounds in use. What a node does at once and then every so often must fit into them several times. */
export const NODE_BOUNDS: NodeBounds = { intervalMs: 5000, deadAfterMs: 15_000, removedAfterMs: 60_000 }

/** Among how many nodes a node serves, itself included, and which it is of them, counted from zero: each counts the same. */
export type ClusterPosition = { readonly count: number; readonly position: number }

type ObservedNode = NodeHeartbeat & { readonly standingMs: number }

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
  readonly #ownId: string
  readonly #bounds: NodeBounds
  #others: readonly ObservedNode[] = []
  /** When it was looked last; null: never, or the last look failed. */
  #observedAtMs: number | null = null

  constructor(own: string, bounds: NodeBounds) {
    this.#ownId = own
    this.#bounds = bounds
  }

  /** Takes in all rows as they stood at an instant of the own stopwatch. */
  observe(rows: readonly NodeHeartbeat[], nowMs: number): void {
    const passedMs = this.#observedAtMs === null ? 0 : Math.min(nowMs - this.#observedAtMs, this.#bounds.intervalMs)
    const before = new Map(this.#others.map(other => [other.id, other]))
    this.#observedAtMs = nowMs
    this.#others = rows
      .filter(({ id }) => id !== this.#ownId)
      .map(({ id, beat }) => {
        const known = before.get(id)
        return { id, beat, standingMs: known?.beat === beat ? known.standingMs + passedMs : 0 }
      })
  }

  /** Notes that rows could not be looked at: what is known stays, and the time until the next look counts for nothing. */
  recordMiss(): void {
    this.#observedAtMs = null
  }

  /** The own standing, as of the last look. Without one a node is alone. */
  get position(): ClusterPosition {
    const live = this.#others.filter(({ standingMs }) => standingMs < this.#bounds.deadAfterMs)
    return { count: live.length + 1, position: live.filter(({ id }) => id < this.#ownId).length }
  }

  /** The rows of nodes that are gone, as they stood. */
  get expired(): readonly NodeHeartbeat[] {
    return this.#others.filter(({ standingMs }) => standingMs >= this.#bounds.removedAfterMs)
  }
}

/** The heartbeat of a node, as it stood in its row: how often it has beaten. */
type NodeHeartbeat = { readonly id: string; readonly beat: number }

/** How many nodes are looked at; more do not share one database. */
const NODES_MAX = 1000

/** The heartbeats of all nodes, in the order of their ids. */
export async function readHeartbeats(store: Store): Promise<readonly NodeHeartbeat[]> {
  return await store.all<NodeHeartbeat>("SELECT id, beat FROM nodes ORDER BY id LIMIT $1", [NODES_MAX])
}

/** Beats once for the node, which has a row from then on, and gives how often it has beaten. */
export async function writeHeartbeat(store: Store, id: string): Promise<number> {
  const row = await store.one<{ beat: number }>(
    "INSERT INTO nodes (id, beat) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET beat = nodes.beat + 1 RETURNING beat",
    [id],
  )
  return row?.beat ?? 0
}

/** Removes the node that stops. */
export async function deleteNode(store: Store, id: string): Promise<void> {
  await store.run("DELETE FROM nodes WHERE id = $1", [id])
}

/** Removes a node that is gone, unless it has beaten meanwhile. */
export async function deleteExpiredNode(store: Store, { id, beat }: NodeHeartbeat): Promise<void> {
  await store.run("DELETE FROM nodes WHERE id = $1 AND beat = $2", [id, beat])
}
