/**
 * How precise are the name patterns on the names that this repository knows? Registers of schools and government bodies say
 * which names a pattern is right about; all other sets say which it is wrong about. Some of these are schools that throw-away
 * lists have because of their students, so the figures are lower than those of the table.
 */

import type { FillableSet } from "../../src/check/lists/sets.ts"
import { normalizeName, registrableDomain } from "../../src/check/lists/sources/normalized-name.ts"
import type { LoadedSource, SourceBundle } from "../../src/check/lists/sources/source-bundle.ts"
import { bundledPatterns, createNamePatternMatcher } from "../../src/check/name-patterns/name-patterns.ts"
import type { NamePattern } from "../../src/check/name-patterns/pattern-table.ts"
import { figure, type Report } from "../report/report.ts"

/** The sets whose names are those of a school or a government body, and the sets whose names are not. */
const BODY_SETS: readonly FillableSet[] = ["education", "government"]
const OTHER_SETS: readonly FillableSet[] = ["organisation", "popular", "personal", "relay", "disposable"]

/** So many names that a pattern is wrong about are told. */
const TOLD_MAX = 40

/** Measures the families of the table, or those given. */
export function patternsBench(bundle: SourceBundle, patterns: readonly NamePattern[] = bundledPatterns()): Report {
  const match = createNamePatternMatcher(patterns)
  const bodies = namesIn(bundle, BODY_SETS)
  const others = namesIn(bundle, OTHER_SETS)
  const counts = new Map(patterns.map(({ id }) => [id, { right: 0, wrong: 0 }]))
  const wrongNames: string[] = []
  for (const name of bodies) countMatch(name, "right")
  for (const name of others) if (!bodies.has(name)) countMatch(name, "wrong")

  function countMatch(name: string, verdict: "right" | "wrong"): void {
    const pattern = match(name)
    const count = counts.get(pattern?.id ?? "")
    if (count === undefined || pattern === null) return
    count[verdict]++
    if (verdict === "wrong") wrongNames.push(`${name} by ${pattern.id}`)
  }

  const rows = [...counts].map(([id, { right, wrong }]) => ({ id, right, matched: right + wrong }))
  const right = rows.reduce((sum, row) => sum + row.right, 0)
  const matched = rows.reduce((sum, row) => sum + row.matched, 0)
  return {
    bench: "patterns",
    description: [
      "matches in the names of this repository, right by its registers; the table has the figures of names that the words were not chosen from",
      ...wrongNames.slice(0, TOLD_MAX).map(name => `in no register: ${name}`),
    ],
    figures: [
      figure("families", "", patterns.length),
      figure("names of schools and government bodies", "", bodies.size),
      figure("names of others", "", others.size),
      figure(
        "schools and bodies that are known by their names alone",
        `(${right} of ${bodies.size})`,
        right / bodies.size,
      ),
      figure("all families: right", `(${right} of ${matched})`, matched === 0 ? 0 : right / matched, "patterns_right"),
      ...rows
        .filter(row => row.matched > 0)
        .map(row => figure(`${row.id}: right`, `(${row.right} of ${row.matched})`, row.right / row.matched)),
    ],
  }
}

/** The registrable domains of the sources of the sets. */
function namesIn({ sources }: SourceBundle, sets: readonly FillableSet[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { row, entries } of sources) if (sets.includes(row.set as FillableSet)) addNames(names, entries)
  return names
}

function addNames(names: Set<string>, entries: LoadedSource["entries"]): void {
  for (const entry of entries) {
    const normal = normalizeName(entry)
    const registrable = normal.kind === "name" ? registrableDomain(normal.name) : null
    if (registrable !== null) names.add(registrable)
  }
}
