import { namedIn } from "../../src/check/address/named-in.ts"
import { type Entry, parseEntry } from "../../src/customers/own-lists/own-list-entry.ts"

/** The entry that a text means on the command line. */
export function entry(text: string): Entry {
  const parsed = parseEntry(text, namedIn)
  if (parsed === null) throw new Error(`${text} is no entry`)
  return parsed
}
