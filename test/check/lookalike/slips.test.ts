import { describe, expect, test } from "bun:test"
import { classifySuffix } from "../../../src/check/address/public-suffix.ts"
import { KnownNameMatcher } from "../../../src/check/lookalike/known-name-matcher.ts"
import { SLIPS, type SlipKind, slipsOf } from "./slips.ts"
import { TARGETS } from "./targets.ts"

const matcher = new KnownNameMatcher(TARGETS)
const KNOWN = new Set(TARGETS.map(({ name }) => name))

/** The sixty largest providers, without those whose labels are so short that other names are as near. */
const LONG = TARGETS.slice(0, 60)
  .map(({ name }) => name)
  .filter(name => name.indexOf(".") >= 6)

/** Of every slip of a kind in the long names: the share that is corrected, and those corrected to another provider's label. */
function correctionsOf(kind: SlipKind): { readonly share: number; readonly wrong: readonly string[] } {
  const labelOf = (name: string): string => name.slice(0, name.indexOf("."))
  const slips = LONG.flatMap(meant => slipsOf(kind, meant).map(typed => ({ typed, meant })))
  const offers = slips
    .filter(({ typed }) => !KNOWN.has(typed))
    .map(({ typed, meant }) => ({
      typed,
      meant,
      offered: matcher.match(typed, classifySuffix(typed).registrable).suggestion,
    }))
  const wrong = offers.filter(({ offered, meant }) => offered !== null && labelOf(offered) !== labelOf(meant))
  return {
    share: offers.filter(({ offered, meant }) => offered === meant).length / offers.length,
    wrong: wrong.map(({ typed, offered }) => `${typed}: ${offered}`),
  }
}

/** The share of each kind's slips that is corrected at least. */
const SHARES_MIN = {
  dropped: 0.95,
  doubled: 1,
  swapped: 1,
  neighbour: 0.99,
  neighbour_first: 0.75,
  extra_inside: 1,
  extra_before: 0.85,
  extra_after: 0.94,
  hyphen: 1,
  dot_missing: 1,
  dot_moved: 1,
  dot_doubled_inside: 0.8,
  suffix_dropped: 0.97,
  suffix_doubled: 1,
  suffix_swapped: 0.97,
  suffix_neighbour: 0.87,
  suffix_extra: 0.98,
  suffix_twice: 0.93,
  suffix_and_com: 0.52,
  suffix_run_on: 1,
  suffix_dot_missing: 1,
  www: 0.88,
  two_slips: 0.7,
  slip_and_suffix: 0.93,
} as const satisfies Record<SlipKind, number>

describe("slips in the names of the largest providers are corrected, and none to another provider", () => {
  test.each(Object.keys(SLIPS) as SlipKind[])("%s", kind => {
    const { share, wrong } = correctionsOf(kind)
    expect(share).toBeGreaterThanOrEqual(SHARES_MIN[kind])
    expect(wrong).toEqual([])
  })
})
