import type { Entries } from "./entries.ts"

/**
 * Reads names out of a tree of files in which `uk/ac/ox.txt` stands for `ox.ac.uk`. A file without the ending is
 * misshapen; the files at the top are lists about the tree and not part of it.
 */
export function readTree(paths: readonly string[]): Entries {
  const below = paths.filter(path => path.includes("/"))
  const named = below.filter(path => path.endsWith(".txt"))
  const entries = named.map(path => path.slice(0, -".txt".length).split("/").reverse().join("."))
  return { kind: "entries", entries: entries.sort(), misshapen: below.length - named.length }
}
