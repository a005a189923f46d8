import type { Stopwatch } from "../../base/outside-world.ts"
import { CoalescedRuns } from "../../base/single-flight.ts"
import type { Store } from "../store/core/store.ts"
import {
  type ClusterPosition,
  deleteExpiredNode,
  deleteNode,
  LiveNodes,
  type NodeBounds,
  readHeartbeats,
  writeHeartbeat,
} from "./live-nodes.ts"

/** What the heartbeat needs, and its callbacks. */
export type HeartbeatDeps = {
  readonly store: Store
  readonly stopwatch: Stopwatch
  /** The id of the node, which all of its processes share. */
  readonly id: string
  /** The base address at which other nodes reach this one; null: it tells none. */
  readonly url: string | null
  /** Called when the count of nodes or the position of this one changes. */
  readonly onChange: (position: ClusterPosition) => void
  /** Called when the store fails. The next tick tries again; the known nodes stay as they are. */
  readonly onError: (error: unknown) => void
}

/**
 * Tells other nodes that this one lives, and watches how many nodes there are (DECISIONS 36). Each process of a node has one. Only one
 * of them writes the heartbeat; another takes over when it finds that none was written since its last tick.
 */
export class Heartbeat {
  readonly #deps: HeartbeatDeps
  readonly #nodes: LiveNodes
  #lastPosition: ClusterPosition = { count: 1, position: 0 }
  /** The node's heartbeat counter at the end of the last tick. */
  #ownBeat: number | null = null
  readonly #runs = new CoalescedRuns(() => this.#run())
  #isDue = false

  constructor(deps: HeartbeatDeps, bounds: NodeBounds) {
    this.#deps = deps
    this.#nodes = new LiveNodes(deps.id, bounds)
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
    await deleteNode(this.#deps.store, this.#deps.id)
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

  /** Reads all nodes and returns the heartbeat counter of this one; null: it has no row. */
  async #read(): Promise<number | null> {
    const { store, stopwatch, id, onChange } = this.#deps
    const atMs = stopwatch()
    const rows = await readHeartbeats(store)
    this.#nodes.observe(rows, atMs)
    const [position, last] = [this.#nodes.position, this.#lastPosition]
    this.#lastPosition = position
    if (position.count !== last.count || position.position !== last.position) onChange(position)
    return rows.find(row => row.id === id)?.beat ?? null
  }

  /** A missing row is written at once: another node has removed it as expired, or a process of this node that ended has. */
  async #beat(storedBeat: number | null, isDue: boolean): Promise<void> {
    const { store, id, url } = this.#deps
    const isWriter = storedBeat === null || (isDue && storedBeat === this.#ownBeat)
    if (isWriter) this.#ownBeat = await writeHeartbeat(store, id, url)
    else if (isDue) this.#ownBeat = storedBeat
  }
}
