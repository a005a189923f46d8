import type { Store } from "../store/core/store.ts"

/** How often a node writes its heartbeat, and how long it may be silent. */
export type NodeBounds = {
  readonly intervalMs: number
  /** After so long without a new heartbeat a node counts as dead. */
  readonly deadAfterMs: number
  /** After so long it does not come back under its id, and its row is deleted. */
  readonly removedAfterMs: number
  /** After so long a server that still runs, and whose row another one has taken, was not replaced: the other one has a copy of its identity. */
  readonly replacedWithinMs: number
}

/** The bounds in production. A write and a read of heartbeats must fit into each several times. */
export const NODE_BOUNDS: NodeBounds = {
  intervalMs: 5000,
  deadAfterMs: 15_000,
  removedAfterMs: 60_000,
  replacedWithinMs: 30_000,
}

/** How many nodes serve, this one included, and the position of this one among them, from zero. */
export type ClusterPosition = { readonly count: number; readonly position: number }

type ObservedNode = NodeHeartbeat & { readonly unchangedMs: number }

/**
 * The nodes that live, as one of them sees it: those whose heartbeat counter rose lately, by its own stopwatch.
 *
 *     new row, or counter rose     unchanged for deadAfterMs     unchanged for removedAfterMs
 *     |---------- lives -----------|---- does not count ---------|---- its row is deleted
 *
 * A new node counts as living: counting one too many admits less, never more. Between two observations at most `intervalMs` is added,
 * and nothing while the database was unreachable or read-only, when no node could write its heartbeat.
 */
export class LiveNodes {
  readonly #ownId: string
  readonly #bounds: NodeBounds
  #others: readonly ObservedNode[] = []
  /** When the last observation was made; null: never, or the last one failed. */
  #observedAtMs: number | null = null

  constructor(ownId: string, bounds: NodeBounds) {
    this.#ownId = ownId
    this.#bounds = bounds
  }

  /** Takes in all rows as they were at `nowMs` of the own stopwatch. */
  observe(rows: readonly NodeHeartbeat[], nowMs: number): void {
    const passedMs = this.#observedAtMs === null ? 0 : Math.min(nowMs - this.#observedAtMs, this.#bounds.intervalMs)
    const previous = new Map(this.#others.map(other => [other.id, other]))
    this.#observedAtMs = nowMs
    this.#others = rows
      .filter(({ id }) => id !== this.#ownId)
      .map(({ id, beat, url, settings }) => {
        const known = previous.get(id)
        return { id, beat, url, settings, unchangedMs: known?.beat === beat ? known.unchangedMs + passedMs : 0 }
      })
  }

  /** Records that the rows could not be read. The time until the next observation does not count. */
  recordMiss(): void {
    this.#observedAtMs = null
  }

  /** The position of this node as of the last observation. Before the first it is alone. */
  get position(): ClusterPosition {
    const { live } = this
    return { count: live.length + 1, position: live.filter(({ id }) => id < this.#ownId).length }
  }

  /** The base addresses of the other nodes that lived at the last observation, as far as they tell one. */
  get peers(): readonly string[] {
    return this.live.flatMap(({ url }) => url ?? [])
  }

  /** The other nodes that lived at the last observation. */
  get live(): readonly NodeHeartbeat[] {
    return this.#others.filter(({ unchangedMs }) => unchangedMs < this.#bounds.deadAfterMs)
  }

  /** The other nodes that have a row and no longer live: they have not ended, and fell silent. */
  get silent(): readonly NodeHeartbeat[] {
    return this.#others.filter(({ unchangedMs }) => unchangedMs >= this.#bounds.deadAfterMs)
  }

  /** The rows of nodes that have expired. */
  get expired(): readonly NodeHeartbeat[] {
    return this.#others.filter(({ unchangedMs }) => unchangedMs >= this.#bounds.removedAfterMs)
  }
}

/** Which nodes came, ended, or fell silent since an observation: by their base addresses, or their ids if they tell none. */
export type NodeMoves = Readonly<Record<"came" | "ended" | "fell_silent", readonly string[]>>

/** Compares the nodes that lived with those that live now. */
export function nodeMoves(before: readonly NodeHeartbeat[], { live, silent }: LiveNodes): NodeMoves {
  const idsOf = (nodes: readonly NodeHeartbeat[]) => new Set(nodes.map(({ id }) => id))
  const [lived, lives, isSilent] = [idsOf(before), idsOf(live), idsOf(silent)]
  const gone = before.filter(({ id }) => !lives.has(id))
  const named = (nodes: readonly NodeHeartbeat[]) => nodes.map(({ id, url }) => url ?? id)
  return {
    came: named(live.filter(({ id }) => !lived.has(id))),
    ended: named(gone.filter(({ id }) => !isSilent.has(id))),
    fell_silent: named(gone.filter(({ id }) => isSilent.has(id))),
  }
}

/**
 * The row of a node: its heartbeat counter, the base address at which other nodes reach it (null or absent: it tells none), the start
 * of the server that has the row, and the digests of its settings (null or absent: it has a version before these, or they were not read).
 */
export type NodeHeartbeat = {
  readonly id: string
  readonly beat: number
  readonly url?: string | null | undefined
  readonly startId?: string | null | undefined
  readonly settings?: string | null | undefined
}

/** A node, which keeps its id over restarts, and one start of its server. */
export type NodeIdentity = { readonly id: string; readonly startId: string }

/** How many nodes are read; fewer share one database. */
const NODES_MAX = 1000

/** What a poll of the database asks for the heartbeats of all nodes: a row for each. */
export const HEARTBEATS_POLLED = {
  columns: { nodeId: "nodes.id", beat: "beat", url: "url", startId: "start_id", nodeSettings: "settings" },
  joins: `LEFT JOIN (SELECT id, beat, url, start_id, settings FROM nodes ORDER BY id LIMIT ${NODES_MAX}) AS nodes ON 1 = 1`,
} as const

/** The heartbeats of all nodes by id. */
export async function readHeartbeats(store: Store): Promise<readonly NodeHeartbeat[]> {
  return await store.all<NodeHeartbeat>('SELECT id, beat, url, start_id AS "startId" FROM nodes ORDER BY id LIMIT $1', [
    NODES_MAX,
  ])
}

type WrittenHeartbeat = { readonly firstBeat?: number } & Pick<NodeHeartbeat, "url" | "settings">

/**
 * Increments the node's heartbeat, which creates its row or takes that of an earlier start, and returns the new counter. `url` and
 * `settings`: see `NodeHeartbeat`. A row that is created counts from `firstBeat`.
 */
export async function writeHeartbeat(
  store: Store,
  { id, startId }: NodeIdentity,
  { url = null, settings = null, firstBeat = 1 }: WrittenHeartbeat = {},
): Promise<number> {
  const row = await store.one<{ beat: number }>(
    `INSERT INTO nodes (id, beat, url, start_id, settings) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (id) DO UPDATE SET beat = nodes.beat + 1, url = excluded.url, start_id = excluded.start_id, settings = excluded.settings
     RETURNING beat`,
    [id, firstBeat, url, startId, settings],
  )
  return row?.beat ?? 0
}

/** Deletes the node, which stops, unless a later start has its row. */
export async function deleteNode(store: Store, { id, startId }: NodeIdentity): Promise<void> {
  await store.run("DELETE FROM nodes WHERE id = $1 AND start_id = $2", [id, startId])
}

/** Deletes an expired node, unless its heartbeat rose meanwhile. */
export async function deleteExpiredNode(store: Store, { id, beat }: Pick<NodeHeartbeat, "id" | "beat">): Promise<void> {
  await store.run("DELETE FROM nodes WHERE id = $1 AND beat = $2", [id, beat])
}
