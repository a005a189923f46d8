import type { Stopwatch } from "../../base/outside-world.ts"
import { CoalescedRuns } from "../../base/single-flight.ts"
import type { Store } from "../store/core/store.ts"
import {
  type ClusterPosition,
  deleteExpiredNode,
  deleteNode,
  LiveNodes,
  type NodeBounds,
  type NodeIdentity,
  readHeartbeats,
  writeHeartbeat,
} from "./live-nodes.ts"

/** What the heartbeat needs, and its callbacks. */
export type HeartbeatDeps = {
  readonly store: Store
  readonly stopwatch: Stopwatch
  /** The node and this start of it, which all of its processes share. */
  readonly identity: NodeIdentity
  /** Whether a process of this start has written the row of the node. All of its processes share it. */
  readonly rowClaim: RowClaim
  /** The base address at which other nodes reach this one; null: it tells none. */
  readonly url: string | null
  /** Called when the count of nodes or the position of this one changes. */
  readonly onChange: (position: ClusterPosition) => void
  /** Called when this node goes on under another id, because a server with a copy of its identity runs. */
  readonly onRenamed: (id: string) => void
  /** Called when the store fails. The next tick tries again; the known nodes stay as they are. */
  readonly onError: (error: unknown) => void
}

/** Whether a start of a node has taken the row of its node. */
export type RowClaim = { readonly isTaken: () => boolean; readonly take: () => void }

/**
 * Tells other nodes that this one lives, and watches how many nodes there are (DECISIONS 36). Each process of a node has one. Only one
 * of them writes the heartbeat; another takes over when it finds that none was written since its last tick.
 *
 * A start takes the row of the start before it at once, so a node that starts again and again is one node (DECISIONS 109). Who finds its own row taken is being
 * replaced, and writes nothing more. If it still runs after `replacedWithinMs`, both have the same identity: it goes on under the id of its start.
 */
export class Heartbeat {
  readonly #deps: HeartbeatDeps
  readonly #bounds: NodeBounds
  #nodes: LiveNodes
  #id: string
  /** When this node found that another server has its row; null: none has. */
  #displacedAtMs: number | null = null
  #lastPosition: ClusterPosition = { count: 1, position: 0 }
  /** The node's heartbeat counter at the end of the last tick. */
  #ownBeat: number | null = null
  readonly #runs = new CoalescedRuns(() => this.#run())
  #isDue = false

  constructor(deps: HeartbeatDeps, bounds: NodeBounds) {
    this.#deps = deps
    this.#bounds = bounds
    this.#id = deps.identity.id
    this.#nodes = new LiveNodes(this.#id, bounds)
  }

  /** Reads the other nodes before this one serves, without counting it among them. Rejects when the store fails. */
  async load(): Promise<void> {
    await this.#read()
  }

  /** Writes the heartbeat unless another process of the node has, and reads all nodes. To be called when serving starts, then every `intervalMs`. */
  tick(): void {
    this.#isDue = true
    this.refresh()
  }

  /** Reads all nodes, since one may have come or gone. A call during a read causes one more read after it. */
  refresh(): void {
    this.#runs.request()
  }

  /** The base addresses of the other nodes that lived when they were last read. */
  get peers(): readonly string[] {
    return this.#nodes.peers
  }

  /** Stops, and removes the node. If the delete fails it rejects, and other nodes time this one out. */
  async stop(): Promise<void> {
    await this.#runs.stop()
    await deleteNode(this.#deps.store, this.#identity)
  }

  async #run(): Promise<void> {
    const isDue = this.#isDue
    this.#isDue = false
    try {
      await this.#beat(await this.#read(), isDue)
      for (const row of this.#nodes.expired) await deleteExpiredNode(this.#deps.store, row)
    } catch (error) {
      this.#nodes.recordMiss()
      this.#deps.onError(error)
    }
  }

  get #identity(): NodeIdentity {
    return { id: this.#id, startId: this.#deps.identity.startId }
  }

  /** Reads all nodes and returns the heartbeat counter of this one; null: it has no row, or that of an earlier start. */
  async #read(): Promise<number | null> {
    const { store, stopwatch, rowClaim, onChange } = this.#deps
    const { startId } = this.#deps.identity
    const atMs = stopwatch()
    const wasTaken = rowClaim.isTaken()
    const rows = await readHeartbeats(store)
    const isOwnRow = (row: { readonly id: string }): boolean => row.id === this.#id
    if (wasTaken && rows.some(row => isOwnRow(row) && row.startId !== startId)) {
      // It counts beside the other one from now on.
      this.#displacedAtMs = atMs
      this.#id = startId
      this.#nodes = new LiveNodes(startId, this.#bounds)
    }
    this.#nodes.observe(rows, atMs)
    const [position, last] = [this.#nodes.position, this.#lastPosition]
    this.#lastPosition = position
    if (position.count !== last.count || position.position !== last.position) onChange(position)
    return rows.find(row => isOwnRow(row) && row.startId === startId)?.beat ?? null
  }

  /** A missing row is written at once: another node has removed it as expired, or a process of this node that ended has. */
  async #beat(storedBeat: number | null, isDue: boolean): Promise<void> {
    const { store, url, rowClaim, stopwatch, onRenamed } = this.#deps
    if (this.#displacedAtMs !== null) {
      if (stopwatch() - this.#displacedAtMs < this.#bounds.replacedWithinMs) return
      this.#displacedAtMs = null
      onRenamed(this.#id)
    }
    const isWriter = storedBeat === null || (isDue && storedBeat === this.#ownBeat)
    if (isWriter) {
      this.#ownBeat = await writeHeartbeat(store, this.#identity, url)
      rowClaim.take()
    } else if (isDue) this.#ownBeat = storedBeat
  }
}
