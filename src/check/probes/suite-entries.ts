import type { Suites } from "../verdict/evidence.ts"
import type { Shown } from "./providers.ts"

/** One piece of evidence, as `kind:value`, and what it shows. */
export type SuiteEntry = { readonly shows: Shown; readonly entry: string }

/** What the entries show of both suites, in their order and each once; `other` is the key of another suite, if any. */
export function suitesIn(entries: readonly SuiteEntry[], other: string | null): Suites {
  const of = (suite: Shown): readonly string[] => [
    ...new Set(entries.filter(({ shows }) => shows === suite).map(({ entry }) => entry)),
  ]
  return { a: of("suite_a"), b: of("suite_b"), other }
}
