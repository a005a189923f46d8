import { seeded } from "../load/seeded-random.ts"
import { median, ratios } from "../report/rounds.ts"

/** One number of two trees, by round; values of one round were measured one right after the other. */
export type Measured = {
  readonly name: string
  readonly unit: string
  readonly better: "more" | "less"
  readonly ours: readonly number[]
  readonly theirs: readonly number[]
}

/** What the rounds of one number say. Ratios are this tree's value by the other's. */
export type Compared = Measured & {
  readonly oursMedian: number
  readonly theirsMedian: number
  /** Median of the rounds' ratios. */
  readonly ratio: number
  /** Where that median lies with 95 % confidence, as far as rounds are alike. */
  readonly interval: readonly [low: number, high: number]
  /** The least and the largest ratio of a round. */
  readonly range: readonly [least: number, largest: number]
  readonly verdict: Verdict
}

/** What may be said of a difference; it is beyond noise when the interval does not hold 1. */
const VERDICTS = {
  better: "better, beyond noise",
  worse: "worse, beyond noise",
  noise: "no difference beyond noise",
  few: `too few rounds to tell`,
} as const
type Verdict = keyof typeof VERDICTS

/** Of five fair coins all fall alike once in sixteen: fewer rounds than this cannot speak with 95 % confidence. */
export const ROUNDS_TELLING = 6
const RESAMPLES = 4000

/** Compares one number. Both lists are equally long, and hold at least one round. The same rounds always say the same. */
export function compared(measured: Measured): Compared {
  const { ours, theirs, better } = measured
  const found = ratios(ours, theirs)
  const interval = intervalOf(found)
  const [low, high] = interval
  const isMore = low > 1
  const isBeyond = isMore || high < 1
  const verdict =
    found.length < ROUNDS_TELLING ? "few" : !isBeyond ? "noise" : isMore === (better === "more") ? "better" : "worse"
  const range = [Math.min(...found), Math.max(...found)] as const
  const medians = { oursMedian: median(ours), theirsMedian: median(theirs), ratio: median(found) }
  return { ...measured, ...medians, interval, range, verdict }
}

/** Percentile bootstrap of the median: rounds are drawn again, with repetition, and the middle 95 % of medians are kept. */
function intervalOf(found: readonly number[]): readonly [number, number] {
  const random = seeded(found.length)
  const medians = Float64Array.from({ length: RESAMPLES }, () =>
    median(found.map(() => found[Math.floor(random() * found.length)] ?? Number.NaN)),
  ).sort()
  const at = (share: number): number => medians[Math.round(share * (RESAMPLES - 1))] ?? Number.NaN
  return [at(0.025), at(0.975)]
}

/** The comparison as a table for people, under the names of both trees. */
export function comparedText(names: readonly [ours: string, theirs: string], rows: readonly Compared[]): string {
  const head = ["", ...names, "ratio", "95 % interval", "rounds", ""]
  const cells = rows.map(row => [
    `${row.name}, ${row.unit}`,
    shown(row.oursMedian),
    shown(row.theirsMedian),
    row.ratio.toFixed(3),
    row.interval.map(ratio => ratio.toFixed(3)).join(" to "),
    row.range.map(ratio => ratio.toFixed(3)).join(" to "),
    VERDICTS[row.verdict],
  ])
  const table = [head, ...cells]
  const widths = head.map((_, column) => Math.max(...table.map(line => line[column]?.length ?? 0)))
  return table
    .map(line =>
      line
        .map((cell, column) => padded(cell, column, widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

/** Names stand on the left, numbers on the right. */
const padded = (cell: string, column: number, width: number): string =>
  column === 0 || column === 6 ? cell.padEnd(width) : cell.padStart(width)

const shown = (value: number): string =>
  Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))
