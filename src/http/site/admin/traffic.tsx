/** @jsxImportSource preact */
import { formatDate, formatDay, formatInstant, HOUR_MS } from "../../../base/time.ts"
import { CATEGORY_NAMES } from "../../../contract/categories.ts"
import { CATEGORY_MEASURES } from "../../../customers/usage/measures.ts"
import type { HourCount, TrafficMeasure } from "../../../customers/usage/traffic.ts"
import { StackedChart } from "../ui/charts.tsx"
import { formatCount, formatNumber, formatShare } from "../ui/format.ts"
import { Tabs } from "../ui/layout.tsx"
import { Legend, Panel, SplitBar } from "../ui/panels.tsx"
import { CATEGORY_LABELS } from "../ui/verdict/verdict-words.ts"

const HOURS_OF_DAY = 24
const DAYS_SHOWN = 30
/** An instant ends in `22:33 UTC`. */
const [MINUTE_LENGTH, UTC_LENGTH] = [9, 4]

/** How far back the charts go: 30 days, today included. */
export const firstShownHour = (nowMs: number): number =>
  (Math.floor(nowMs / HOUR_MS / HOURS_OF_DAY) - DAYS_SHOWN + 1) * HOURS_OF_DAY

/** The first of the last 24 hours, the current one included. */
const firstHourOfDay = (nowMs: number): number => Math.floor(nowMs / HOUR_MS) - HOURS_OF_DAY + 1

const sumOf = (counts: readonly HourCount[], measures: readonly TrafficMeasure[]): number =>
  counts.reduce((sum, { measure, count }) => sum + (measures.some(each => each === measure) ? count : 0), 0)

const SERIES = [
  { label: "Answered", tone: "of-allow", measures: ["status_2", "status_3"] },
  { label: "Refused (4xx)", tone: "of-review", measures: ["status_4"] },
  { label: "Failed (5xx)", tone: "of-block", measures: ["status_5"] },
] as const

const UNITS = ["used", "publishable_used"] as const

type TrafficProps = {
  /** The counts from `firstShownHour` on. */
  readonly counts: readonly HourCount[]
  readonly nowMs: number
}

/** What happened in the last 24 hours, or in the 24 before them. */
export function dayFigures({ counts, nowMs }: TrafficProps, isBefore: boolean) {
  const first = firstHourOfDay(nowMs) - (isBefore ? HOURS_OF_DAY : 0)
  const own = counts.filter(({ hour }) => hour >= first && hour < first + HOURS_OF_DAY)
  const [answered, refused, failed] = SERIES.map(({ measures }) => sumOf(own, measures)) as [number, number, number] // three series
  return { requests: answered + refused + failed, failed, units: sumOf(own, UNITS) }
}

/** Requests of the last 24 hours and 30 days, and the verdicts by category. */
export function TrafficPanels({ counts, nowMs }: TrafficProps) {
  return (
    <>
      <Panel title="Requests">
        <Tabs
          label="Period"
          name="traffic"
          tabs={[
            { label: "24 hours", first: firstHourOfDay(nowMs), barHours: 1 },
            { label: "30 days", first: firstShownHour(nowMs), barHours: HOURS_OF_DAY },
          ].map(period => ({ label: period.label, content: <RequestsChart counts={counts} period={period} /> }))}
        />
      </Panel>
      <CategoryPanel counts={counts} />
    </>
  )
}

type RequestsChartProps = Pick<TrafficProps, "counts"> & {
  /** `barHours`: how many hours a bar stands for. */
  readonly period: { readonly label: string; readonly first: number; readonly barHours: number }
}

function RequestsChart({ counts, period: { label: period, first, barHours } }: RequestsChartProps) {
  const shown = counts.filter(({ hour }) => hour >= first)
  const totals = SERIES.map(({ label, tone, measures }) => ({
    label: `${label} ${formatNumber(sumOf(shown, measures))}`,
    tone,
  }))
  if (SERIES.every(({ measures }) => sumOf(shown, measures) === 0))
    return <p class="hint">No requests in the last {period}.</p>
  const byBar = Map.groupBy(shown, ({ hour }) => Math.floor((hour - first) / barHours))
  const bars = Array.from({ length: barHours === 1 ? HOURS_OF_DAY : DAYS_SHOWN }, (_, at) => {
    const own = byBar.get(at) ?? []
    return {
      ...barLabels((first + at * barHours) * HOUR_MS, barHours),
      values: SERIES.map(({ measures }) => sumOf(own, measures)),
    }
  })
  return (
    <>
      <StackedChart
        label={`Requests to the API in ${period}: ${totals.map(({ label }) => label).join(", ")}.`}
        series={SERIES}
        bars={bars}
      />
      <div class="below-chart">
        <Legend items={totals} />
        <p>{formatCount(sumOf(shown, UNITS), "unit")} used</p>
      </div>
    </>
  )
}

function barLabels(atMs: number, barHours: number): { readonly label: string; readonly short: string } {
  const label = formatInstant(atMs)
  return barHours === 1
    ? { label, short: label.slice(-MINUTE_LENGTH, -UTC_LENGTH) }
    : { label: formatDate(atMs), short: formatDay(atMs) }
}

/** The share of each category in the verdicts, the largest first. Nothing where there are no verdicts. */
function CategoryPanel({ counts }: Pick<TrafficProps, "counts">) {
  const shares = CATEGORY_NAMES.map(category => ({
    label: CATEGORY_LABELS[category],
    tone: `of-${category}`,
    count: sumOf(counts, [CATEGORY_MEASURES[category]]),
  }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count)
  const all = shares.reduce((sum, { count }) => sum + count, 0)
  if (all === 0) return null
  return (
    <Panel title="Verdicts, 30 days">
      <SplitBar label="Verdicts by category" shares={shares} />
      <Legend
        items={shares.map(({ label, tone, count }) => ({
          label: `${label} ${formatNumber(count)} (${formatShare(count, all)})`,
          tone,
        }))}
      />
    </Panel>
  )
}
