import { normalizeEntry } from "../../src/cli/own-lists.ts"
import { type Entry, parseEntry } from "../../src/customers/own-lists/own-list-entry.ts"

/** The entry that a text means on the command line. */
export function entry(text: string): Entry {
  const parsed = parseEntry(text, normalizeEntry)
  if (parsed === null) throw new Error(`${text} is no entry`)
  return parsed
}
