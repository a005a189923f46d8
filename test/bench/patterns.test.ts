import { expect, test } from "bun:test"
import { isHeld } from "../../bench/budgets.ts"
import { patternsBench } from "../../bench/cases/patterns.ts"
import { readSourceBundle, type SourceBundle } from "../../src/check/lists/sources/source-bundle.ts"
import { parseNamePatterns } from "../../src/check/name-patterns/pattern-table.ts"
import { createSystem } from "../../src/system/system.ts"

const figureOf = (report: ReturnType<typeof patternsBench>, name: string) =>
  report.figures.find(figure => figure.name === name)?.value

/** A bundle of made-up sources, by set. */
function bundleOf(sets: Readonly<Record<string, readonly string[]>>): SourceBundle {
  const made = { licence: "MIT", origin: "https://example.com", date: "2026-11-20" }
  const rows = Object.keys(sets).map(set => ({
    id: set,
    set,
    trust: "high",
    from: { file: `${set}.txt`, format: "lines" },
    ...made,
  }))
  const read = readSourceBundle(JSON.stringify({ format: 1, providers_first: [], sources: rows }), {
    read: path => (sets[path.replace(/\.txt$/, "")] ?? []).join("\n"),
    list: () => [],
  })
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  return read.bundle
}

test("a name in a register counts as right though another set has it too, and any other as wrong", () => {
  const patterns = parseNamePatterns("one\teducation\tSchools\tde\t*gymnasium\t-\tgoethegymnasium.de\t1\t1")
  const report = patternsBench(
    bundleOf({
      education: ["goethegymnasium.de", "mail.goethegymnasium.de", "ethz.ch"],
      disposable: ["goethegymnasium.de", "wurfgymnasium.de", "throwaway.de"],
    }),
    patterns,
  )
  expect(figureOf(report, "one: right")).toBe(0.5)
  expect(figureOf(report, "schools and bodies that are known by their names alone")).toBe(0.5)
  expect(report.description).toContain("in no register: wurfgymnasium.de by one")
})

test("the table as a whole is as right as its budget says on the names of the repository", () => {
  const { checkout } = createSystem()
  if (checkout === null) throw new Error("there is no checkout")
  const read = readSourceBundle(checkout.read("data/catalogue.json"), checkout)
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  const report = patternsBench(read.bundle)

  const share = figureOf(report, "all families: right") ?? 0
  expect([share, isHeld("patterns_right", share)]).toEqual([share, true])
})
