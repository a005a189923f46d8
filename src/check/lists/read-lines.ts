import type { Entries } from "./entries.ts"

/** Reads one entry a line. Empty lines and lines that start with `#` are not entries; a note after ` #` is dropped. */
export function readLines(text: string): Entries {
  const entries: string[] = []
  for (const line of text.split("\n")) {
    const entry = line.split(/\s#/, 1)[0]?.trim() ?? ""
    if (entry !== "" && !entry.startsWith("#")) entries.push(entry)
  }
  return { kind: "entries", entries, misshapen: 0 }
}
