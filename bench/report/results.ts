import type { Machine } from "./machine.ts"
import { budgetText, formatValue, type Report } from "./report.ts"

const INTRODUCTION = `# Results

Written by \`bun run bench [name…] --report\`: each run replaces the sections of the benches that it ran. The value is the median of the rounds,
of processor time the mean of their lower half, or the number itself where there are none. Ratios compare both sides in one interleaved run, so they
travel between machines; times and rates do not. A bound comes from \`bench/budgets.ts\`.`

/** Where the results stand. */
export const RESULTS_FILE = "bench/RESULTS.md"

/**
 * The results file as Markdown: one section a bench, with the machine and the commit that it was measured on. Sections of
 * `before` whose bench is not among the reports stay as they are, and so does its last part, the figures of benches that were
 * removed; an empty text means that there is no file yet.
 */
export function resultsMarkdown(before: string, machine: Machine, reports: readonly Report[]): string {
  const [current = "", ...answered] = before.split(/^(?=# Answered$)/m)
  const sections = new Map(
    current
      .split(/^(?=## )/m)
      .slice(1)
      .map(section => [/^## (.*)/.exec(section)?.[1] ?? "", section.trim()] as const),
  )
  for (const report of reports) sections.set(report.bench, sectionOf(machine, report))
  const sorted = [...sections].sort(([one], [other]) => (one < other ? -1 : 1))
  return `${[INTRODUCTION, ...sorted.map(([, section]) => section), ...answered.map(part => part.trim())].join("\n\n")}\n`
}

/** Markdown shows many spaces as one, and the formatter writes them so: columns of a description are no columns here. */
function sectionOf({ cpu, cores, bun, commit }: Machine, { bench, description, figures }: Report): string {
  const rows = figures.map(figure => [
    figure.name,
    `${formatValue(figure.value)} ${figure.unit}`.trim(),
    budgetText(figure),
    figure.rounds.map(formatValue).join(" "),
  ])
  const table = [["figure", "value", "bound", "rounds"], ...rows]
  return [
    `## ${bench}`,
    `Commit ${commit ?? "none"}, ${cores} cores of ${cpu}, Bun ${bun}.`,
    description.map(sentence => `- ${sentence.replaceAll(/ {2,}/g, " ")}`).join("\n"),
    tableText(table.map(cells => cells.map(escapeCell))),
  ].join("\n\n")
}

/** The table with its columns aligned, as the formatter wants it. The first row is the head. */
function tableText([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map(cells => cells[column]?.length ?? 0)))
  const rule = widths.map(width => "-".repeat(width))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  return [head, rule, ...rows].map(line).join("\n")
}

const escapeCell = (text: string): string => text.replaceAll("|", "\\|")
