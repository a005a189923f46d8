import type { Kept, Repute } from "./lists.ts"
import type { Evidence } from "./verdict/evidence.ts"

/** How many kinds of question are kept settled for one domain: few are ever asked, and each takes about 3 kB. */
const SETTLED_MAX = 4

/** Whose is what is kept: another object after each change of corrections, so that all is settled anew. */
export function keepers(corrections: { readonly version: number }): () => object {
  let keeper = {}
  let { version } = corrections
  return () => {
    if (corrections.version !== version) {
      version = corrections.version
      keeper = {}
    }
    return keeper
  }
}

/** What is kept settled of a domain, by kind of question; undefined: nothing. It is dropped with the repute: new lists settle everything anew. */
export const keptIn = ({ kept }: Repute, keeper: object): Map<number, Kept> | undefined =>
  kept?.by === keeper ? kept.byKind : undefined

/** Keeps what was settled of a domain for one kind of question, unless enough are kept. */
export function keep(repute: Repute, keeper: object, key: number, kept: Kept): void {
  const byKind = keptIn(repute, keeper)
  if (byKind === undefined) repute.kept = { by: keeper, byKind: new Map([[key, kept]]) }
  else if (byKind.size < SETTLED_MAX || byKind.has(key)) byKind.set(key, kept)
}

/** What was settled of a domain before its age was known, or on another day, is settled anew, whoever asks. */
export function dropOtherAges(kept: Map<number, Kept> | undefined, ageDays: Evidence["ageDays"]): void {
  if (kept === undefined || !ageDays.known) return
  for (const [key, { settled }] of kept) {
    const before = settled.evidence.ageDays
    if ((before.known ? before.value : null) !== ageDays.value) kept.delete(key)
  }
}
