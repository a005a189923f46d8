import type { Store } from "../store/store.ts"

/** The heartbeat of a node, as it stood in its row: how often it has beaten. */
export type Beat = { readonly id: string; readonly beat: number }

/** How many nodes are looked at; more do not share one database. */
const NODES_MAX = 1000

/** The heartbeats of all nodes, in the order of their ids. */
export async function readBeats(store: Store): Promise<readonly Beat[]> {
  return await store.all<Beat>("SELECT id, beat FROM nodes ORDER BY id LIMIT $1", [NODES_MAX])
}

/** Beats once for the node, which has a row from then on, and gives how often it has beaten. */
export async function beatOnce(store: Store, id: string): Promise<number> {
  const row = await store.one<{ beat: number }>(
    "INSERT INTO nodes (id, beat) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET beat = nodes.beat + 1 RETURNING beat",
    [id],
  )
  return row?.beat ?? 0
}

/** Removes the node that stops. */
export async function removeNode(store: Store, id: string): Promise<void> {
  await store.run("DELETE FROM nodes WHERE id = $1", [id])
}

/** Removes a node that is gone, unless it has beaten meanwhile. */
export async function removeStanding(store: Store, { id, beat }: Beat): Promise<void> {
  await store.run("DELETE FROM nodes WHERE id = $1 AND beat = $2", [id, beat])
}
