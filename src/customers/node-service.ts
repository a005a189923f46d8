import { join } from "node:path"
import { isSystemError } from "../base/errors.ts"
import { type Fetch, urlPlace } from "../base/fetch.ts"
import { logError } from "../base/log.ts"
import type { PartContext } from "../base/part-context.ts"
import { differingNode, digestSettings, EQUAL_SETTINGS_REMEDY } from "./nodes/equal-settings.ts"
import { Heartbeat, type HeartbeatDeps, type RowClaim } from "./nodes/heartbeat.ts"
import {
  type ClusterPosition,
  HEARTBEATS_POLLED,
  NODE_BOUNDS,
  type NodeHeartbeat,
  type NodeIdentity,
  type NodeMoves,
} from "./nodes/live-nodes.ts"
import { createPeerWatch } from "./nodes/peer-watch.ts"
import { createSeenChanges, SEEN_CHANGES_FILE } from "./nodes/seen-changes.ts"
import { type CallerLimits, createLocalLimits, createNodeLimits, NodeShare } from "./quota/caller-limits.ts"
import { newId } from "./store/core/id.ts"
import type { SqlValue } from "./store/core/store.ts"
import type { Observation } from "./store/poll/database-poll.ts"
import type { NodeClaims } from "./store/poll/node-claims.ts"
import { redactedUrl } from "./store/postgres/postgres-url.ts"
import type { StoredContext } from "./stored-context.ts"

/** The file in the data directory with the id of the node. */
const IDENTITY_FILE = "node-id"
const NODE_ID = /^node_[0-9A-Za-z]{1,40}$/

/** The settings that nodes read. */
export type NodeSettings = {
  /** Null: the database is a file, which no other node has. */
  readonly MAILKIND_DATABASE_URL: { readonly reveal: () => string } | null
  readonly MAILKIND_DATA_DIR: string
  readonly MAILKIND_NODE_URL: string | null
}

type DataDirectory = {
  readonly read: (name: string) => Promise<Uint8Array | null>
  /** False: there is such a file. */
  readonly createExclusive: (name: string, text: string) => Promise<boolean>
  readonly writeAtomic: (name: string, text: string) => Promise<void>
}

/** What a node finds its identity with. */
type IdentityContext = PartContext<NodeSettings> & {
  readonly system: { readonly files: { readonly folder: (path: string) => DataDirectory } }
}

/** What the service of nodes is created from. */
export type NodeContext = IdentityContext &
  StoredContext<NodeSettings> & {
    readonly system: { readonly fetchUrl: Fetch }
    /** The `User-Agent` of requests to other nodes. */
    readonly userAgent: string
  }

/** The node of this data directory, with a new start: its id is kept from the first start on. With SQLite there is one node, and no file. */
export async function findNodeIdentity({ system, settings, log }: IdentityContext): Promise<NodeIdentity> {
  const startId = newId("node", system.random)
  if (settings.MAILKIND_DATABASE_URL === null) return { id: startId, startId }
  const folder = system.files.folder(settings.MAILKIND_DATA_DIR)
  const readId = async (): Promise<string | null> => {
    const bytes = await folder.read(IDENTITY_FILE)
    const text = bytes === null ? "" : new TextDecoder().decode(bytes).trim()
    return NODE_ID.test(text) ? text : null
  }
  try {
    const known = await readId()
    if (known !== null) return { id: known, startId }
    // Whoever links the file first has given the id. What is not an id is replaced.
    const isCreated = await folder.createExclusive(IDENTITY_FILE, `${startId}\n`)
    const created = isCreated ? startId : await readId()
    if (created === null) await folder.writeAtomic(IDENTITY_FILE, `${startId}\n`)
    return { id: created ?? startId, startId }
  } catch (error) {
    if (!isSystemError(error)) throw error
    logLostId({ settings, log })(error)
    return { id: startId, startId }
  }
}

const logLostId = ({ settings, log }: Pick<IdentityContext, "settings" | "log">) =>
  logError(
    log,
    "the id of this node cannot be kept in its data directory",
    join(settings.MAILKIND_DATA_DIR, IDENTITY_FILE),
  )

/** An identity as a text, which workers get. */
export const formatIdentity = ({ id, startId }: NodeIdentity): string => `${id} ${startId}`

/** The identity of a text by `formatIdentity`. */
export function parseIdentity(text: string): NodeIdentity {
  const [id = "", startId = ""] = text.split(" ")
  return { id, startId }
}

/** What all processes of a node share. */
export type SharedNode = { readonly identity: NodeIdentity; readonly rowClaim: RowClaim; readonly claims: NodeClaims }

/** The same of a node with one process. */
async function unsharedNode(context: IdentityContext): Promise<Pick<SharedNode, "identity" | "rowClaim">> {
  let isTaken = false
  const take = (): void => {
    isTaken = true
  }
  return { identity: await findNodeIdentity(context), rowClaim: { isTaken: () => isTaken, take } }
}

/** The node service where there is only one node. */
const ALONE = {
  nodesCount: () => 1,
  isCutOff: () => false,
  databaseAnsweredMsAgo: () => null,
  observeChange: () => undefined,
  start: () => undefined,
  stop: async () => undefined,
}

/**
 * Counts the nodes and then admits this node's share of the limits of callers. With SQLite there is only one node and nothing to
 * count. `shared` is `null` without workers. `onSetBack` is called when the database was restored to an earlier state. `isCutOff` tells that
 * this node cannot reach the database, and another one can; `databaseAnsweredMsAgo` how long ago the database last answered it. `start` is called once the server listens; `stop` removes the heartbeat of this node, and never rejects.
 */
export async function createNodeService(
  context: NodeContext,
  shared: { readonly limits: CallerLimits; readonly node: SharedNode } | null,
  onSetBack: () => void,
) {
  const { system, settings, store, log, userAgent, poll } = context
  const limits = shared?.limits ?? createLocalLimits(system.clock)
  if (settings.MAILKIND_DATABASE_URL === null) return { ...ALONE, limits }
  const { share, nodesCount, onChange } = createNodeCount(log)
  const node = shared?.node ?? (await unsharedNode(context))
  const heartbeat = createHeartbeat(context, node, { onChange, onSetBack })
  await heartbeat.load()
  let isServing = false
  let atMs: number | null = null // when the database last answered
  poll.add({
    ...HEARTBEATS_POLLED,
    knows: () => heartbeat.known,
    observe: ({ rows, known }) => {
      atMs = system.stopwatch()
      // Nobody can write a heartbeat.
      if (store.isUnavailable()) heartbeat.miss()
      // A node counts among the others from when it serves.
      if (isServing) heartbeat.observe(heartbeatsOf(rows), known)
    },
    miss: () => heartbeat.miss(),
  })
  const seen = createSeen(context)
  const peers = () => heartbeat.peers
  const watch = createPeerWatch({ ...system, log, userAgent, isUnavailable: store.isUnavailable, peers })
  return {
    limits: createNodeLimits(limits, share),
    nodesCount,
    isCutOff: watch.isCutOff,
    databaseAnsweredMsAgo: () => (atMs === null ? null : Math.round(system.stopwatch() - atMs)),
    /** Takes the latest change that a poll found, which the data directory keeps. */
    observeChange: seen.observe,
    start: () => {
      watch.start()
      isServing = true
    },
    stop: async () => {
      watch.stop()
      await seen.stop()
      await heartbeat.stop().catch(logError(log, KEPT_HEARTBEAT))
    },
  }
}

/** The share of this node, and how many nodes there are. */
function createNodeCount(log: NodeContext["log"]) {
  const share = new NodeShare()
  let nodesCount = 1
  const onChange = (position: ClusterPosition, moves: NodeMoves): void => {
    share.setPosition(position)
    if (position.count !== nodesCount) {
      const named = Object.entries(moves).filter(([, nodes]) => nodes.length > 0)
      const fields = Object.fromEntries(named.map(([move, nodes]) => [move, nodes.join(", ")]))
      log("info", "the number of nodes that share the limits has changed", { nodes: position.count, ...fields })
    }
    nodesCount = position.count
  }
  return { share, nodesCount: () => nodesCount, onChange }
}

function createHeartbeat(
  context: NodeContext,
  { identity, rowClaim }: Pick<SharedNode, "identity" | "rowClaim">,
  { onChange, onSetBack }: Pick<HeartbeatDeps, "onChange" | "onSetBack">,
): Heartbeat {
  const { system, settings, store, log, claims } = context
  return new Heartbeat(
    {
      ...{ store, identity, rowClaim, onChange },
      stopwatch: system.stopwatch,
      clock: system.clock,
      url: settings.MAILKIND_NODE_URL,
      settings: () => digestSettings(settings),
      onObserved: createDifferenceLog(context),
      claimBeat: everyMs => claims.take("heartbeat", everyMs),
      onRenamed: (id, otherUrl) => keepNewId(context, id, otherUrl),
      onSetBack: () => {
        tellSetBack(context)
        onSetBack()
      },
      onError: logError(log, "the heartbeats of nodes were not read or written"),
    },
    NODE_BOUNDS,
  )
}

const createSeen = (context: NodeContext) => {
  const { system, settings, store, log, claims } = context
  const { MAILKIND_DATA_DIR: directory } = settings
  return createSeenChanges({
    ...{ store, folder: system.files.folder(directory), place: databasePlace(settings) },
    claim: everyMs => claims.take("seen_changes", everyMs),
    onEarlier: () => tellSetBack(context),
    onError: logError(log, KEPT_NOTHING, join(directory, SEEN_CHANGES_FILE)),
  })
}

/** How soon a process may tell what another process of its node has told. */
const TOLD_MS = 5000

/** Logs which settings differ from those of another node, once until that changes. */
function createDifferenceLog({ settings, log, claims }: NodeContext): (others: readonly NodeHeartbeat[]) => void {
  let told: string | null = null
  return others => {
    const found = differingNode(settings, others)
    const text = found && [found.where, ...found.names].join(" ")
    if (text === told) return
    told = text
    if (found === null || !claims.take("settings", TOLD_MS)) return
    log("warn", "settings differ from those of another node", {
      fault: "unequal_settings",
      where: found.where,
      settings: found.names.join(", "),
      remedy: EQUAL_SETTINGS_REMEDY,
    })
  }
}

/** The heartbeats in the rows of a poll. Without a node there is one row, which names none. */
const heartbeatsOf = (rows: Observation["rows"]): readonly NodeHeartbeat[] =>
  rows.flatMap(({ nodeId, beat, url, startId, nodeSettings }) =>
    nodeId === null
      ? []
      : [
          {
            ...{ id: String(nodeId), beat: Number(beat), url: textOf(url) },
            ...{ startId: textOf(startId), settings: textOf(nodeSettings) },
          },
        ],
  )

const textOf = (value: SqlValue | undefined): string | null => (typeof value === "string" ? value : null)

const KEPT_HEARTBEAT = "the heartbeat of this node was not deleted: other nodes count it until it times out"

const KEPT_NOTHING = "what this node has seen of the database cannot be kept in its data directory"

const SET_BACK = {
  fault: "earlier_state",
  remedy:
    "What was written last is lost: keys that were revoked since then may work again, so revoke them again. If nobody restored it or promoted a standby, look at its log.",
}

const tellSetBack = ({ settings, log }: Pick<IdentityContext, "settings" | "log">): void =>
  log("warn", "the database is in an earlier state", { ...SET_BACK, where: databasePlace(settings) })

/** The host and port of the database. */
const databasePlace = ({ MAILKIND_DATABASE_URL: url }: NodeSettings): string =>
  url === null ? "" : redactedUrl(url.reveal())

/** Keeps the new id of this node, under which it continues. */
function keepNewId({ system, settings, log }: IdentityContext, id: string, otherUrl: string | null): void {
  log("warn", "another server runs with the identity of this one", {
    where: otherUrl === null ? settings.MAILKIND_DATA_DIR : urlPlace(otherUrl),
    remedy: COPIED_REMEDY,
  })
  const folder = system.files.folder(settings.MAILKIND_DATA_DIR)
  void folder.writeAtomic(IDENTITY_FILE, `${id}\n`).catch(logLostId({ settings, log }))
}

const COPIED_REMEDY = "Give each node a data directory of its own, and copy none. This node continues under a new id."
