/**
 * Run as a process of its own: how much does this process grow by holding the names of standard input in a `Set`, or by
 * holding a pack, in private memory as a server does (DECISIONS 118)? It prints JSON.
 */

import { readFileSync } from "node:fs"
import { openPack } from "../../src/check/lists/pack/pack.ts"
import { memoryNow } from "../servers/process-stats.ts"
import { runToEnd } from "../servers/server-process.ts"

/** What holding the names costs a process, and how long it took until they could be asked for. */
export type ListsMemory = { readonly privateBytes: number; readonly residentBytes: number; readonly ms: number }

const TIMEOUT_MS = 60_000

/** What a `Set` of the names costs a fresh process. */
export const setMemory = (names: readonly string[]): Promise<ListsMemory> => measured(["--set"], names.join("\n"))

/** What the pack costs a fresh process, once every byte of it was read. */
export const packMemory = (path: string): Promise<ListsMemory> => measured(["--pack", path], "")

async function measured(args: readonly string[], input: string): Promise<ListsMemory> {
  return JSON.parse(await runToEnd({ command: [process.execPath, import.meta.path, ...args] }, input, TIMEOUT_MS))
}

function printHeld(hold: () => unknown): void {
  const before = memoryNow()
  const startedAt = performance.now()
  const held = hold()
  const ms = performance.now() - startedAt
  const after = memoryNow()
  const grown: ListsMemory = {
    // The allocator may give pages back meanwhile.
    privateBytes: Math.max(0, after.privateBytes - before.privateBytes),
    residentBytes: after.residentBytes - before.residentBytes,
    ms,
  }
  // What is held must still be in use when its memory is counted.
  console.log(JSON.stringify(held === undefined ? {} : grown))
}

if (import.meta.main) {
  const [mode, path = ""] = process.argv.slice(2)
  if (mode === "--set") {
    const text = await Bun.stdin.text()
    printHeld(() => new Set(text.split("\n")))
  } else {
    printHeld(() => {
      const opened = openPack(readFileSync(path))
      return opened.kind === "open" && opened.pack.verifyChecksum().ok ? opened.pack : undefined
    })
  }
}
