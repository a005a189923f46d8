import type { Clock, Stopwatch } from "../../base/outside-world.ts"
import { CoalescedRuns } from "../../base/single-flight.ts"
import type { Store } from "../store/core/store.ts"
import {
  type ClusterPosition,
  deleteExpiredNode,
  deleteNode,
  LiveNodes,
  type NodeBounds,
  type NodeHeartbeat,
  type NodeIdentity,
  type NodeMoves,
  nodeMoves,
  readHeartbeats,
  writeHeartbeat,
} from "./live-nodes.ts"

/** How soon a row that is missing is written, in one process of the node. */
const MISSING_ROW_MS = 100

/** What the heartbeat needs, and its callbacks. */
export type HeartbeatDeps = {
  readonly store: Store
  readonly stopwatch: Stopwatch
  /** The heartbeats of a row begin with its time, so that those of a start are above those of every start before. */
  readonly clock: Clock
  /** The node and this start of it, which all of its processes share. */
  readonly identity: NodeIdentity
  /** Whether a process of this start has written the row of the node. All of its processes share it. */
  readonly rowClaim: RowClaim
  /** Whether this process is the one of the node that writes its row, which none has within so many milliseconds. */
  readonly claimBeat: (everyMs: number) => boolean
  /** The base address at which other nodes reach this one; null: it tells none. */
  readonly url: string | null
  /** The digests of the settings that all nodes must have the same. */
  readonly settings: () => string
  /** Called with the other nodes that live, each time the rows are read. */
  readonly onObserved: (others: readonly NodeHeartbeat[]) => void
  /** Called when the count of nodes or the position of this one changes, with who came and who went. */
  readonly onChange: (position: ClusterPosition, moves: NodeMoves) => void
  /** Called when this node goes on under another id, because a server with a copy of its identity runs, at this base address if it tells one. */
  readonly onRenamed: (id: string, otherUrl: string | null) => void
  /** Called when the database is not the one of before: it knows an earlier heartbeat of this node, or none. It was restored, or lost writes in a failover. */
  readonly onSetBack: () => void
  /** Called when the store fails. The next tick tries again; the known nodes stay as they are. */
  readonly onError: (error: unknown) => void
}

/** Heartbeats that are known to be in the database, by the id of the node. */
type KnownBeats = Readonly<Record<string, number>>

/** Whether a start of a node has taken the row of its node. */
export type RowClaim = { readonly isTaken: () => boolean; readonly take: () => void }

/**
 * Tells other nodes that this one lives, and watches how many nodes there are (DECISIONS 36). Each process of a node has one. It gets the
 * rows of all nodes with each poll of the database; one process of the node claims to write the next heartbeat.
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
  /** The base address of that server. */
  #otherUrl: string | null = null
  #lastPosition: ClusterPosition = { count: 1, position: 0 }
  /** The start that had the row before this one took it. Rows that were read before that may come after it. */
  #formerStartId: string | null = null
  /** The latest heartbeat of this start that was read or written; zero: none was. */
  #latestBeat = 0
  /** The rows that were read last and not taken in yet. */
  #rows: readonly NodeHeartbeat[] = []
  /** The heartbeats that were in the database when they were asked for, by the id of the node. */
  #known: KnownBeats = {}
  readonly #runs = new CoalescedRuns(() => this.#run())

  constructor(deps: HeartbeatDeps, bounds: NodeBounds) {
    this.#deps = deps
    this.#bounds = bounds
    this.#id = deps.identity.id
    this.#nodes = new LiveNodes(this.#id, bounds)
  }

  /** Reads the other nodes before this one serves, without counting it among them. Rejects when the store fails. */
  async load(): Promise<void> {
    this.#takeIn(await readHeartbeats(this.#deps.store))
  }

  /** Takes in the rows of all nodes, and writes the heartbeat when that is due and no other process of the node does. */
  observe(rows: readonly NodeHeartbeat[], known: KnownBeats): void {
    this.#rows = rows
    this.#known = known
    this.#runs.request()
  }

  /** The latest heartbeat of this start that is known to be in the database. */
  get known(): KnownBeats {
    return { [this.#id]: this.#latestBeat }
  }

  /** The rows could not be read, or no node could write its own. The known nodes stay as they are, and the time until the next ones does not count. */
  miss(): void {
    this.#nodes.recordMiss()
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
    try {
      await this.#beat(this.#takeIn(this.#rows))
      for (const row of this.#nodes.expired) await deleteExpiredNode(this.#deps.store, row)
    } catch (error) {
      this.#nodes.recordMiss()
      this.#deps.onError(error)
    }
  }

  get #identity(): NodeIdentity {
    return { id: this.#id, startId: this.#deps.identity.startId }
  }

  /** Takes in all nodes and tells whether this one has a row of this start. */
  #takeIn(rows: readonly NodeHeartbeat[]): boolean {
    const { stopwatch, rowClaim, onChange, onObserved } = this.#deps
    const { startId } = this.#deps.identity
    const atMs = stopwatch()
    const before = this.#nodes.live
    const isOwnRow = (row: { readonly id: string }): boolean => row.id === this.#id
    const row = rows.find(isOwnRow)
    const holder = row?.startId ?? null
    // Another server counts on from the heartbeat that it found. An earlier start had not come so far.
    const isEarlier = holder !== null && (row?.beat ?? 0) <= (this.#known[this.#id] ?? 0)
    if (!rowClaim.isTaken() || (isEarlier && holder !== startId)) this.#formerStartId = holder
    else if (holder !== null && holder !== startId && holder !== this.#formerStartId) {
      // It counts beside the other one from now on.
      this.#displacedAtMs = atMs
      this.#otherUrl = row?.url ?? null
      this.#id = startId
      this.#nodes = new LiveNodes(startId, this.#bounds)
      this.#latestBeat = 0
      // The first start of a node has its id, so what it knows is of the row that the other one has now.
      this.#known = {}
    }
    this.#nodes.observe(rows, atMs)
    onObserved(this.#nodes.live)
    const [position, last] = [this.#nodes.position, this.#lastPosition]
    this.#lastPosition = position
    if (position.count !== last.count || position.position !== last.position)
      onChange(position, nodeMoves(before, this.#nodes))
    const beat = rows.find(own => isOwnRow(own) && own.startId === startId)?.beat ?? 0
    this.#compareBeat(beat)
    return beat > 0
  }

  /** A heartbeat that was stored before the rows were asked for is among them, as long as it is the same database. */
  #compareBeat(beat: number): void {
    const isSetBack = beat < (this.#known[this.#id] ?? 0)
    this.#known = {}
    this.#latestBeat = isSetBack ? beat : Math.max(beat, this.#latestBeat)
    if (isSetBack) this.#deps.onSetBack()
  }

  /** A missing row is written at once: another node has removed it as expired, or a process of this node that ended has. */
  async #beat(hasRow: boolean): Promise<void> {
    const { store, url, settings, rowClaim, claimBeat, stopwatch, clock, onRenamed } = this.#deps
    if (this.#displacedAtMs !== null) {
      if (stopwatch() - this.#displacedAtMs < this.#bounds.replacedWithinMs) return
      this.#displacedAtMs = null
      onRenamed(this.#id, this.#otherUrl)
    }
    if (!claimBeat(hasRow ? this.#bounds.intervalMs : MISSING_ROW_MS)) return
    this.#latestBeat = await writeHeartbeat(store, this.#identity, { url, settings: settings(), firstBeat: clock() })
    rowClaim.take()
  }
}
