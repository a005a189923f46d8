import type { Entries, Header } from "./entries.ts"
import { readLines } from "./read-lines.ts"

const HEADER_LINE = /^# ([a-z]+): (\S.*)$/
const HEADER_KEYS = ["set", "says", "origin", "licence", "date"] as const satisfies readonly (keyof Header)[]

/**
 * Reads a curated file: header lines `# key: value` at the top, one for each member of `Header`, then sorted entries
 * (code unit order), one a line, each once, with an optional ` # note`.
 */
export function readCurated(text: string): Entries {
  const header = headerOf(text)
  const missing = HEADER_KEYS.filter(key => header[key] === undefined)
  if (missing.length > 0) return refused(`the header has no ${missing.join(", ")}`)
  const { set = "", says = "", origin = "", licence = "", date = "" } = header
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return refused(`the date ${date} is no day`)
  const read = readLines(text)
  if (read.kind === "refused") return read
  const { entries } = read
  const disorder = entries.findIndex((entry, at) => at > 0 && (entries[at - 1] ?? "") >= entry)
  if (disorder > 0) return refused(`"${entries[disorder]}" does not sort after "${entries[disorder - 1]}"`)
  return { kind: "entries", entries, misshapen: 0, header: { set, says, origin, licence, date } }
}

const refused = (says: string): Entries => ({ kind: "refused", says })

function headerOf(text: string): Partial<Record<keyof Header, string>> {
  const header: Partial<Record<keyof Header, string>> = {}
  for (const line of text.split("\n")) {
    const [, key, value] = HEADER_LINE.exec(line.trimEnd()) ?? []
    const known = HEADER_KEYS.find(name => name === key)
    if (!line.startsWith("#")) break
    if (known !== undefined && value !== undefined) header[known] = value
  }
  return header
}
