import type { Stopwatch } from "../../base/clock.ts"
import type { Store } from "../store/store.ts"
import { LiveNodes, type NodeBounds, type Standing } from "./live-nodes.ts"
import { beatOnce, readBeats, removeNode, removeStanding } from "./node-rows.ts"

/** What a heart needs of the world, and who is told. */
export type HeartTools = {
  readonly store: Store
  readonly stopwatch: Stopwatch
  /** The id of the node, which all of its processes have in common. */
  readonly id: string
  /** Is told when the standing changes. */
  readonly changed: (standing: Standing) => void
  /** Is told when the store failed; the next turn tries again, and what is known stays. */
  readonly failed: (error: unknown) => void
}

/**
 * Tells other nodes that this one lives, and looks how many there are. Of several processes of a node each has one, and one of
 * them beats: another does as soon as it finds that nobody has since its last turn.
 */
export class Heart {
  readonly #tools: HeartTools
  readonly #live: LiveNodes
  #told: Standing = { count: 1, position: 0 }
  /** How often this node had beaten at the end of the last turn by time. */
  #ownBeat: number | null = null
  #turning: Promise<void> | null = null
  #isAsked = false
  #isDue = false
  #isEnding = false

  constructor(tools: HeartTools, bounds: NodeBounds) {
    this.#tools = tools
    this.#live = new LiveNodes(tools.id, bounds)
  }

  /** Looks who is there before this node serves; it does not count among them yet. Rejects when the store fails. */
  async look(): Promise<void> {
    await this.#read()
  }

  /** Due when the node begins to serve, and then every `beatMs`: beats unless another process of the node has, and looks. */
  turn(): void {
    this.#isDue = true
    this.heard()
  }

  /** To be called when a node may have come or gone: looks. While it looks already it will do so once more. */
  heard(): void {
    this.#isAsked = true
    if (!this.#isEnding) this.#turning ??= this.#turns()
  }

  /** Beats no more, and takes the node from among those that live. Rejects when the store fails: it goes by its silence then. */
  async end(): Promise<void> {
    this.#isEnding = true
    await this.#turning
    await removeNode(this.#tools.store, this.#tools.id)
  }

  async #turns(): Promise<void> {
    while (this.#isAsked && !this.#isEnding) {
      const isDue = this.#isDue
      this.#isAsked = this.#isDue = false
      try {
        await this.#beat(await this.#read(), isDue)
        for (const row of this.#live.gone) await removeStanding(this.#tools.store, row)
      } catch (error) {
        this.#live.miss()
        this.#tools.failed(error)
      }
    }
    this.#turning = null
  }

  /** Takes in how all nodes stand, and gives how often this one has beaten; null: it has no row. */
  async #read(): Promise<number | null> {
    const { store, stopwatch, id, changed } = this.#tools
    const atMs = stopwatch()
    const rows = await readBeats(store)
    this.#live.look(rows, atMs)
    const [now, told] = [this.#live.standing, this.#told]
    this.#told = now
    if (now.count !== told.count || now.position !== told.position) changed(now)
    return rows.find(row => row.id === id)?.beat ?? null
  }

  /** A row that somebody has removed, who had not seen it move for long or is a process of this node that ended, is missed at once. */
  async #beat(beaten: number | null, isDue: boolean): Promise<void> {
    const { store, id } = this.#tools
    const isMine = beaten === null || (isDue && beaten === this.#ownBeat)
    if (isMine) this.#ownBeat = await beatOnce(store, id)
    else if (isDue) this.#ownBeat = beaten
  }
}
