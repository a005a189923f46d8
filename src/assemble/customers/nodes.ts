import { logError } from "../../base/log.ts"
import { createIntervals } from "../../base/time.ts"
import { Heartbeat } from "../../customers/nodes/heartbeat.ts"
import { NODE_BOUNDS } from "../../customers/nodes/live-nodes.ts"
import {
  type CallerLimits,
  createLocalLimits,
  createNodeLimits,
  NodeShare,
} from "../../customers/quota/caller-limits.ts"
import { newId } from "../../customers/store/core/id.ts"
import { createPeerWatch, type PeerWatch } from "../../process/peer-watch.ts"
import type { StoreContext } from "../context.ts"
import { formatUserAgent } from "../program.ts"

/** This server as a node among those that share its database. */
export type NodeService = {
  /** This node's share of the limits. */
  readonly limits: CallerLimits
  /** The number of nodes, including this one. */
  readonly nodesCount: () => number
  /** Whether this node cannot reach the database, and another one can. */
  readonly isCutOff: () => boolean
  /** Starts sending heartbeats. Call it once the server listens. */
  readonly start: () => void
  /** Removes the heartbeat of this node. Never rejects. */
  readonly stop: () => Promise<void>
}

/**
 * Counts the nodes and then admits this node's share of the limits of callers. With SQLite there is only one node and nothing to
 * count. `shared` is `null` without workers.
 */
export async function createNodeService(
  { system, settings, store, log }: StoreContext,
  shared: { readonly limits: CallerLimits; readonly nodeId: string } | null,
): Promise<NodeService> {
  const limits = shared?.limits ?? createLocalLimits(system.clock)
  if (settings.MAILKIND_DATABASE_URL === null)
    return { limits, nodesCount: () => 1, isCutOff: () => false, start: () => undefined, stop: async () => undefined }
  const share = new NodeShare()
  let nodesCount = 1
  const heartbeat = new Heartbeat(
    {
      store,
      stopwatch: system.stopwatch,
      url: settings.MAILKIND_NODE_URL,
      id: shared?.nodeId ?? newId("node", system.random),
      onChange: position => {
        share.setPosition(position)
        if (position.count !== nodesCount)
          log("info", "the number of nodes that share the limits has changed", { nodes: position.count })
        nodesCount = position.count
      },
      onError: logError(log, "the heartbeats of nodes were not read or written"),
    },
    NODE_BOUNDS,
  )
  await heartbeat.load()
  const watch = watchPeers({ system, settings, store, log }, heartbeat)
  const intervals = createIntervals(system.runInterval, [[NODE_BOUNDS.intervalMs, () => heartbeat.tick()]])
  return {
    limits: createNodeLimits(limits, share),
    nodesCount: () => nodesCount,
    isCutOff: watch.isCutOff,
    start: () => {
      watch.start()
      intervals.start()
      store.onChange(() => heartbeat.refresh())
      heartbeat.tick()
    },
    stop: async () => {
      watch.stop()
      intervals.stop()
      await heartbeat
        .stop()
        .catch(logError(log, "the heartbeat of this node was not deleted: other nodes count it until it times out"))
    },
  }
}

const watchPeers = ({ system, settings, store, log }: StoreContext, heartbeat: Heartbeat): PeerWatch =>
  createPeerWatch({
    ...system,
    isAway: store.isAway,
    peers: () => heartbeat.peers,
    userAgent: formatUserAgent(settings),
    log,
  })
