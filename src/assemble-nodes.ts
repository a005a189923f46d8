import { failing, type Log } from "./base/log.ts"
import { repeating } from "./base/repeating.ts"
import type { Settings } from "./config/settings.ts"
import { Heart } from "./customers/nodes/heart.ts"
import { NODE_BOUNDS } from "./customers/nodes/live-nodes.ts"
import { type CallerLimits, localLimits } from "./customers/quota/caller-limits.ts"
import { NodeShare, sharedAmongNodes } from "./customers/quota/node-share.ts"
import { newId } from "./customers/store/id.ts"
import type { OpenStore } from "./customers/store/store.ts"
import type { World } from "./world.ts"

/** This server among those that share its database. */
export type NodesAtWork = {
  /** What this one admits of what all may together. */
  readonly limits: CallerLimits
  /** How many there are, this one included. */
  readonly nodesCount: () => number
  /** Has the others count this one from now on; to be called when it serves. */
  readonly begin: () => void
  /** Has them count it no more. It never rejects. */
  readonly end: () => Promise<void>
}

/**
 * Looks how many nodes there are, and from then on admits this node's share of what callers may. Where the database is a file
 * nobody else has it, and nothing of this is done. `shared` null: this process is a node by itself.
 */
export async function nodesAtWork(
  world: World,
  settings: Settings,
  store: OpenStore,
  log: Log,
  shared: { readonly limits: CallerLimits; readonly nodeId: string } | null,
): Promise<NodesAtWork> {
  const limits = shared?.limits ?? localLimits(world.clock)
  if (settings.MAILKIND_DATABASE_URL === null)
    return { limits, nodesCount: () => 1, begin: () => undefined, end: async () => undefined }
  const share = new NodeShare()
  let nodesCount = 1
  const heart = new Heart(
    {
      store,
      stopwatch: world.stopwatch,
      id: shared?.nodeId ?? newId("node", world.random),
      changed: standing => {
        share.among(standing)
        if (standing.count !== nodesCount) log("info", "so many nodes share the limits now", { nodes: standing.count })
        nodesCount = standing.count
      },
      failed: failing(log, "the heartbeats of nodes were not read or written"),
    },
    NODE_BOUNDS,
  )
  await heart.look()
  const repeated = repeating(world.every, [[NODE_BOUNDS.beatMs, () => heart.turn()]])
  return {
    limits: sharedAmongNodes(limits, share),
    nodesCount: () => nodesCount,
    begin: () => {
      repeated.begin()
      store.onChange(() => heart.heard())
      heart.turn()
    },
    end: async () => {
      repeated.end()
      await heart
        .end()
        .catch(failing(log, "the heartbeat of this node was not taken back: it counts until others miss it"))
    },
  }
}
