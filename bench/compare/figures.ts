import { seeded } from "../load/seeded-random.ts"
import { lowerHalfMean } from "../report/processor-time.ts"
import { median, ratios } from "../report/rounds.ts"

/** One number of two trees, by round; values of one round were measured one right after the other. */
export type Measured = {
  readonly name: string
  readonly unit: string
  readonly better: "more" | "less"
  /** Processor time. Other programs can only raise it, so the figure is the mean of the lower half of the rounds. */
  readonly isCost?: boolean
  readonly ours: readonly number[]
  readonly theirs: readonly number[]
}

/** What the rounds of one number say. Ratios are this tree's value by the other's. */
export type Compared = Measured & {
  /** The median of the rounds; of a cost, the mean of their lower half. */
  readonly oursValue: number
  readonly theirsValue: number
  /** Median of the rounds' ratios; of costs, the ratio of both values. */
  readonly ratio: number
  /** Where that ratio lies with 95 % confidence, as far as rounds are alike. */
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
  const { ours, theirs, better, isCost = false } = measured
  const found = ratios(ours, theirs)
  const value = isCost ? lowerHalfMean : median
  const ratioOf = isCost
    ? (rounds: readonly number[]) => value(at(ours, rounds)) / value(at(theirs, rounds))
    : (rounds: readonly number[]) => median(at(found, rounds))
  const interval = intervalOf(found.length, ratioOf)
  const [low, high] = interval
  const isMore = low > 1
  const isBeyond = isMore || high < 1
  const verdict =
    found.length < ROUNDS_TELLING ? "few" : !isBeyond ? "noise" : isMore === (better === "more") ? "better" : "worse"
  const range = [Math.min(...found), Math.max(...found)] as const
  const values = { oursValue: value(ours), theirsValue: value(theirs), ratio: ratioOf([...found.keys()]) }
  return { ...measured, ...values, interval, range, verdict }
}

/** The values of these rounds. */
const at = (values: readonly number[], rounds: readonly number[]): readonly number[] =>
  rounds.map(round => values[round] ?? Number.NaN)

/** Percentile bootstrap: rounds are drawn again, with repetition, and the middle 95 % of their ratios are kept. */
function intervalOf(count: number, ratioOf: (rounds: readonly number[]) => number): readonly [number, number] {
  const random = seeded(count)
  const draw = (): readonly number[] => Array.from({ length: count }, () => Math.floor(random() * count))
  const sorted = Float64Array.from({ length: RESAMPLES }, () => ratioOf(draw())).sort()
  const quantile = (share: number): number => sorted[Math.round(share * (RESAMPLES - 1))] ?? Number.NaN
  return [quantile(0.025), quantile(0.975)]
}

/** The comparison as a table for people, under the names of both trees. */
export function comparedText(names: readonly [ours: string, theirs: string], rows: readonly Compared[]): string {
  const head = ["", ...names, "ratio", "95 % interval", "rounds", ""]
  const cells = rows.map(row => [
    `${row.name}, ${row.unit}`,
    shown(row.oursValue),
    shown(row.theirsValue),
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
