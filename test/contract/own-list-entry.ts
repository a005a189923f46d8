import { parseAddressOrDomain } from "../../src/check/address/parse-subject.ts"
import { type OwnListEntry, parseEntry } from "../../src/customers/own-lists/entries.ts"

/** The entry that a text means on the command line. */
export function entry(text: string): OwnListEntry {
  const parsed = parseEntry(text, parseAddressOrDomain)
  if (parsed === null) throw new Error(`${text} is no entry`)
  return parsed
}
