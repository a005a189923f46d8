import type { Stopwatch } from "../../base/outside-world.ts"
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

/** What a heart needs of the world, and who is told. */
export type HeartbeatDeps = {
  readonly store: Store
  readonly stopwatch: Stopwatch
  /** The id of the node, which all of its processes have in common. */
  readonly id: string
  /** Is told when the standing changes. */
  readonly onChange: (standing: ClusterPosition) => void
  /** Is told when the store failed; the next turn tries again, and what is known stays. */
  readonly onError: (error: unknown) => void
}

/**
 * Tells other nodes that this one lives, and looks how many there are. Of several processes of a node each has one, and one of
 * them beats: another does as soon as it finds that nobody has since its last turn.
 */
export class Heartbeat {
  readonly #deps: HeartbeatDeps
  readonly #nodes: LiveNodes
  #lastPosition: ClusterPosition = { count: 1, position: 0 }
  /** How often this node had beaten at the end of the last turn by time. */
  #ownBeat: number | null = null
  #running: Promise<void> | null = null
  #isRequested = false
  #isDue = false
  #isStopping = false

  constructor(tools: HeartbeatDeps, bounds: NodeBounds) {
    this.#deps = tools
    this.#nodes = new LiveNodes(tools.id, bounds)
  }

  /** Looks who is there before this node serves; it does not count among them yet. Rejects when the store fails. */
  async load(): Promise<void> {
    await this.#read()
  }

  /** Due when the node begins to serve, and then every `beatMs`: beats unless another process of the node has, and looks. */
  tick(): void {
    this.#isDue = true
    this.refresh()
  }

  /** To be called when a node may have come or gone: looks. While it looks already it will do so once more. */
  refresh(): void {
    this.#isRequested = true
    if (!this.#isStopping) this.#running ??= this.#run()
  }

  /** Beats no more, and takes the node from among those that live. Rejects when the store fails: it goes by its silence then. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#running
    await deleteNode(this.#deps.store, this.#deps.id)
  }

  async #run(): Promise<void> {
    while (this.#isRequested && !this.#isStopping) {
      const isDue = this.#isDue
      this.#isRequested = this.#isDue = false
      try {
        await this.#beat(await this.#read(), isDue)
        for (const row of this.#nodes.expired) await deleteExpiredNode(this.#deps.store, row)
      } catch (error) {
        this.#nodes.recordMiss()
        this.#deps.onError(error)
      }
    }
    this.#running = null
  }

  /** Takes in how all nodes stand, and gives how often this one has beaten; null: it has no row. */
  async #read(): Promise<number | null> {
    const { store, stopwatch, id, onChange } = this.#deps
    const atMs = stopwatch()
    const rows = await readHeartbeats(store)
    this.#nodes.observe(rows, atMs)
    const [now, told] = [this.#nodes.position, this.#lastPosition]
    this.#lastPosition = now
    if (now.count !== told.count || now.position !== told.position) onChange(now)
    return rows.find(row => row.id === id)?.beat ?? null
  }

  /** A row that somebody has removed, who had not seen it move for long or is a process of this node that ended, is missed at once. */
  async #beat(beaten: number | null, isDue: boolean): Promise<void> {
    const { store, id } = this.#deps
    const isMine = beaten === null || (isDue && beaten === this.#ownBeat)
    if (isMine) this.#ownBeat = await writeHeartbeat(store, id)
    else if (isDue) this.#ownBeat = beaten
  }
}
