import { describe, expect, test } from "bun:test"
import { classifySuffix } from "../../../src/check/address/public-suffix.ts"
import { KnownNameMatcher } from "../../../src/check/lookalike/known-name-matcher.ts"
import { TARGETS } from "./targets.ts"

/** What a finger does wrong. */
type SlipKind = keyof typeof SLIPS

/** Each key of the three layouts with the keys beside it in its row and in the rows above and below. */
const NEIGHBOURS = neighboursOf(
  ["qwertyuiop", "asdfghjkl", "zxcvbnm"],
  ["qwertzuiop", "asdfghjkl", "yxcvbnm"],
  ["azertyuiop", "qsdfghjklm", "wxcvbn"],
)

/** Slips in the label and in the suffix of a domain, each with all its results. */
const SLIPS = {
  dropped: ({ label, suffix }) => inner(label).map(at => `${cut(label, at, 1)}.${suffix}`),
  doubled: ({ label, suffix }) => each(label).map(at => `${cut(label, at, 0, label.charAt(at))}.${suffix}`),
  swapped: ({ label, suffix }) =>
    inner(label).map(at => `${cut(label, at - 1, 2, label.charAt(at) + label.charAt(at - 1))}.${suffix}`),
  neighbour: ({ label, suffix }) =>
    inner(label).flatMap(at => beside(label, at).map(key => `${cut(label, at, 1, key)}.${suffix}`)),
  neighbour_first: ({ label, suffix }) => beside(label, 0).map(key => `${cut(label, 0, 1, key)}.${suffix}`),
  extra_inside: ({ label, suffix }) =>
    inner(label).flatMap(at => beside(label, at).map(key => `${cut(label, at, 0, key)}.${suffix}`)),
  extra_before: ({ label, suffix }) => beside(label, 0).map(key => `${key}${label}.${suffix}`),
  extra_after: ({ label, suffix }) => beside(label, label.length - 1).map(key => `${label}${key}.${suffix}`),
  hyphen: ({ label, suffix }) => inner(label).map(at => `${cut(label, at, 0, "-")}.${suffix}`),
  dot_missing: ({ label, suffix }) => [`${label}${suffix}`],
  dot_moved: ({ label, suffix }) => [
    `${label.slice(0, -1)}.${label.slice(-1)}${suffix}`,
    `${label}${suffix.charAt(0)}.${suffix.slice(1)}`,
  ],
  dot_doubled_inside: ({ label, suffix }) => inner(label).map(at => `${cut(label, at, 0, ".")}.${suffix}`),
  suffix_dropped: ({ label, suffix }) => each(suffix).map(at => `${label}.${cut(suffix, at, 1)}`),
  suffix_doubled: ({ label, suffix }) => each(suffix).map(at => `${label}.${cut(suffix, at, 0, suffix.charAt(at))}`),
  suffix_swapped: ({ label, suffix }) =>
    inner(suffix).map(at => `${label}.${cut(suffix, at - 1, 2, suffix.charAt(at) + suffix.charAt(at - 1))}`),
  suffix_neighbour: ({ label, suffix }) =>
    each(suffix).flatMap(at => beside(suffix, at).map(key => `${label}.${cut(suffix, at, 1, key)}`)),
  suffix_extra: ({ label, suffix }) =>
    each(suffix).flatMap(at => beside(suffix, at).map(key => `${label}.${cut(suffix, at + 1, 0, key)}`)),
  suffix_twice: ({ label, suffix }) => [`${label}.${suffix}.${suffix}`, `${label}.${suffix}${suffix}`],
  suffix_and_com: ({ label, suffix }) => (suffix === "com" ? [] : [`${label}.${suffix}.com`, `${label}.com.${suffix}`]),
  suffix_run_on: ({ label, suffix }) => [`${label}.${suffix}m`, `${label}.${suffix}e`, `${label}.${suffix}1`],
  suffix_dot_missing: ({ label, suffix }) => (suffix.includes(".") ? [`${label}.${suffix.replaceAll(".", "")}`] : []),
  www: ({ label, suffix }) => [`www${label}.${suffix}`, `ww${label}.${suffix}`],
  two_slips: ({ label, suffix }) =>
    inner(label).flatMap(first =>
      inner(label)
        .filter(second => second > first + 1 && second < label.length - 1)
        .map(second => `${cut(cut(label, second, 0, label.charAt(second)), first, 1)}.${suffix}`),
    ),
  slip_and_suffix: ({ label, suffix }) =>
    inner(label).flatMap(at => {
      const typed = cut(label, at, 1)
      return inner(suffix).map(to => `${typed}.${cut(suffix, to - 1, 2, suffix.charAt(to) + suffix.charAt(to - 1))}`)
    }),
} as const satisfies Record<string, (name: SplitName) => readonly string[]>

type SplitName = { readonly label: string; readonly suffix: string }

/** Every text that a kind of slip makes of a domain, without those that are the domain itself or no host name. */
function slipsOf(kind: SlipKind, domain: string): readonly string[] {
  const dot = domain.indexOf(".")
  const made = SLIPS[kind]({ label: domain.slice(0, dot), suffix: domain.slice(dot + 1) })
  return [...new Set(made)].filter(
    text => text !== domain && /^[a-z0-9]/.test(text) && !/\.\.|\.$|-\.|\.-|^-/.test(text),
  )
}

const each = (text: string): readonly number[] => [...text].map((_, at) => at)
/** All places but the first: people notice a wrong first letter. */
const inner = (text: string): readonly number[] => each(text).slice(1)
const beside = (text: string, at: number): readonly string[] => [...(NEIGHBOURS.get(text.charAt(at)) ?? [])]
const cut = (text: string, at: number, count: number, added = ""): string =>
  text.slice(0, at) + added + text.slice(at + count)

function neighboursOf(...layouts: readonly (readonly string[])[]): ReadonlyMap<string, ReadonlySet<string>> {
  const neighbours = new Map<string, Set<string>>()
  const add = (one: string, other: string): void => {
    if (one === "" || other === "") return
    neighbours.set(one, (neighbours.get(one) ?? new Set()).add(other))
    neighbours.set(other, (neighbours.get(other) ?? new Set()).add(one))
  }
  for (const rows of layouts)
    for (const [row, keys] of rows.entries())
      for (const [column, key] of [...keys].entries()) {
        add(key, keys.charAt(column + 1))
        add(key, rows[row + 1]?.charAt(column) ?? "")
        if (column > 0) add(key, rows[row + 1]?.charAt(column - 1) ?? "")
      }
  return neighbours
}

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
