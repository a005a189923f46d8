/** Run as a process of its own: how much does this process grow by loading a peer, and by its first answer? It prints JSON. */

import { memoryNow } from "../servers/process-stats.ts"
import { runToEnd } from "../servers/server-process.ts"
import { PEERS, type PeerName } from "./peers-judges.ts"

/** What a peer costs a process. */
export type PeerMemory = { readonly privateBytes: number; readonly loadMs: number }

const TIMEOUT_MS = 60_000

/** What a peer costs a fresh process. */
export async function peerMemory(name: PeerName): Promise<PeerMemory> {
  return JSON.parse(await runToEnd({ command: [process.execPath, import.meta.path, name] }, "", TIMEOUT_MS))
}

if (import.meta.main) {
  const [peer] = Object.entries(PEERS).flatMap(([name, one]) => (name === process.argv[2] ? [one] : []))
  if (peer === undefined) throw new Error("there is no such peer")
  const before = memoryNow()
  const startedAt = performance.now()
  const judge = await peer.load()
  await judge("jane@example.com")
  const loadMs = performance.now() - startedAt
  const held: PeerMemory = { privateBytes: memoryNow().privateBytes - before.privateBytes, loadMs }
  // What is held must still be in use when its memory is counted.
  if ((await judge("jane@example.org")) !== "invalid") console.log(JSON.stringify(held))
}
