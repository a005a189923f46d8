import type { Figure, Report } from "./report/report.ts"

/** One bar: what it stands for, and how long it is. */
export type Bar = { readonly label: string; readonly value: number; readonly isOurs: boolean }

/** Bars of one question, all in one unit. */
export type Group = {
  readonly title: string
  readonly unit: string
  readonly better: "more" | "less"
  readonly bars: readonly Bar[]
}

/** A question of the chart: the bench that answers it, and its figures by the labels of their bars. */
type Charted = {
  readonly bench: string
  readonly title: string
  readonly better: "more" | "less"
  readonly ours: readonly [label: string, figure: string]
  readonly others: readonly (readonly [label: string, figure: string])[]
}

const peers = (title: string, figure: string, better: "more" | "less"): Charted => ({
  bench: "peers",
  title,
  better,
  ours: ["mailkind", `mailkind: ${figure}`],
  others: ["mailchecker", "deep-email-validator", "disposable-email-domains"].map(
    name => [name, `${name}: ${figure}`] as const,
  ),
})

/** What the chart shows, from the top. A question whose figures are not in the reports is left out. */
export const CHARTED: readonly Charted[] = [
  {
    bench: "http",
    title: "POST /v1/check, one core, 64 connections",
    better: "more",
    ours: ["mailkind", "product"],
    others: [["bare Bun.serve", "floor"]],
  },
  {
    bench: "batch",
    title: "Items in batches of 100, one core",
    better: "more",
    ours: ["mailkind", "batch"],
    others: [
      ["bare Bun.serve", "floor"],
      ["mailkind, one by one", "single checks"],
    ],
  },
  {
    bench: "workers",
    title: "POST /v1/check, two cores",
    better: "more",
    ours: ["two workers", "two workers without the load's cost"],
    others: [
      ["beside the load program", "two workers"],
      ["one worker", "one worker"],
    ],
  },
  {
    bench: "classify",
    title: "classify FILE --offline, one core",
    better: "more",
    ours: ["text", "text"],
    others: [
      ["csv", "csv"],
      ["ndjson", "ndjson"],
    ],
  },
  {
    bench: "lists",
    title: "Looking up a listed name",
    better: "less",
    ours: ["pack", "hit, fresh: pack"],
    others: [["Set<string>", "hit, fresh: set"]],
  },
  {
    bench: "lists",
    title: "Private memory of all lists",
    better: "less",
    ours: ["pack", "private memory: pack"],
    others: [["Set<string>", "private memory: set"]],
  },
  peers("One check in process, offline", "time", "less"),
  peers("Throw-away names seen", "disposable names seen", "more"),
  peers("Names let through that should be", "ordinary names let through", "more"),
  peers("Names refused that cannot be addresses", "invalid names seen", "more"),
]

/** The groups of the chart that the reports have figures for; a group without our own figure is left out. */
export function chartGroups(reports: readonly Report[]): readonly Group[] {
  return CHARTED.flatMap(({ bench, title, better, ours, others }) => {
    const figures = reports.find(report => report.bench === bench)?.figures ?? []
    const found = (name: string): Figure[] => figures.filter(figure => figure.name === name && figure.value >= 0)
    const barOf = ([label, name]: readonly [string, string], isOurs: boolean): Bar[] =>
      found(name).map(({ value }) => ({ label, value, isOurs }))
    const [unit] = found(ours[1]).map(figure => figure.unit)
    if (unit === undefined) return []
    return [{ title, unit, better, bars: [...barOf(ours, true), ...others.flatMap(other => barOf(other, false))] }]
  })
}
