import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import {
  checkedCount,
  type KeyDayUsage,
  sumFigures,
  type UsageFigures,
} from "../../../../customers/usage/usage-history.ts"

/** What was done on one day. */
export type DayFigures = UsageFigures & { readonly day: number }

/** The figures of every day of the period that ends with `lastDay`, the oldest first. */
export function daysOf(history: readonly KeyDayUsage[], dayCount: number, lastDay: number): readonly DayFigures[] {
  const ofDay = Map.groupBy(history, ({ day }) => day)
  return Array.from({ length: dayCount }, (_, index) => {
    const day = lastDay - dayCount + 1 + index
    return { day, ...sumFigures(ofDay.get(day) ?? []) }
  })
}

/** How many checks are counted by recommendation. Those of a version before are not. */
export const recommendedCount = ({ byRecommendation }: UsageFigures): number =>
  RECOMMENDATIONS.reduce((sum, name) => sum + byRecommendation[name], 0)

/** How many checks are not. */
export const plainCount = (figures: UsageFigures): number =>
  Math.max(0, checkedCount(figures) - recommendedCount(figures))

/** A day that differs from the others: more of its checks were blocked, or there were more of them. */
export type StrikingDay = { readonly kind: "blocked" | "busy"; readonly figures: DayFigures }

/** Shares of fewer checks say nothing. */
const CHECKS_MIN = 20
/** By so much the share of what was blocked is above that of the period. */
const SHARE_ABOVE = 0.1
/** So many times as many checks as on the middle day. */
const BUSY_TIMES = 1.5
/** The same of the next busiest day, so that one of several alike does not stand out. */
const NEXT_TIMES = 1.1

/** The day with the most blocked checks beyond the usual share; else the busiest one. Null: none stands out. */
export function strikingDay(days: readonly DayFigures[]): StrikingDay | null {
  const all = sumFigures(days)
  const usual = all.byRecommendation.block / Math.max(1, recommendedCount(all))
  const excess = (figures: DayFigures): number => figures.byRecommendation.block - usual * recommendedCount(figures)
  const telling = days.filter(figures => recommendedCount(figures) >= CHECKS_MIN)
  const [worst] = telling
    .filter(figures => excess(figures) >= SHARE_ABOVE * recommendedCount(figures))
    .sort((one, other) => excess(other) - excess(one))
  if (worst !== undefined) return { kind: "blocked", figures: worst }
  const active = days.filter(figures => checkedCount(figures) >= CHECKS_MIN)
  const [busiest, ...others] = active.toSorted((one, other) => checkedCount(other) - checkedCount(one))
  const [second, middle] = [others[0], others[Math.floor(others.length / 2)]]
  if (busiest === undefined || second === undefined || middle === undefined) return null
  const isBusy = checkedCount(busiest) >= Math.max(BUSY_TIMES * checkedCount(middle), NEXT_TIMES * checkedCount(second))
  return isBusy ? { kind: "busy", figures: busiest } : null
}
