import type { SourceRow } from "../lists/catalogue.ts"
import type { Shelf } from "../lists/entries.ts"
import { READERS } from "../lists/formats.ts"
import type { Copy } from "../lists/stock.ts"
import type { HeldCopy } from "./copy-file.ts"
import type { GuardRules } from "./guard-rules.ts"
import { guardSource, namesIn } from "./source-guard.ts"

/** The names in the text of a source, or why it is not fit to be used. */
export type SourceText =
  | ({ readonly kind: "fit" } & Pick<Copy, "entries" | "misshapen">)
  | { readonly kind: "refused"; readonly says: string }

/** Reads the text that was downloaded of a source, strictly, and compares it with the last good copy; null: there is none. */
export function readSource(row: SourceRow, text: string, last: HeldCopy | null, rules: GuardRules): SourceText {
  const { format, at, first } = row.from
  const read = READERS[format](shelfOf(text), "", at ?? "")
  if (read.kind === "refused") return { kind: "refused", says: `It cannot be read: ${read.says}.` }
  const entries = first === undefined ? read.entries : read.entries.slice(0, first)
  const found = { set: row.set, entries, misshapen: read.misshapen, endsCleanly: text.endsWith("\n") }
  const before =
    last === null ? rules.builtIn : { ...last, names: new Set(last.copy.entries), count: last.copy.entries.length }
  const named = namesIn(found)
  const faults = guardSource(found, before, rules, named)
  if (faults.length > 0) return { kind: "refused", says: faults.map(({ says }) => says).join(" ") }
  return { kind: "fit", entries: [...named.names], misshapen: named.malformedCount }
}

/** A shelf on which one text lies. */
const shelfOf = (text: string): Shelf => ({ read: () => text, list: () => [] })
