/** @jsxImportSource preact */
import { formatDate, formatDay, formatInstant, HOUR_MS } from "../../../base/time.ts"
import { CATEGORY_NAMES } from "../../../contract/categories.ts"
import { CATEGORY_MEASURES } from "../../../customers/usage/measures.ts"
import { type HourCount, STATUS_CLASSES } from "../../../customers/usage/traffic.ts"
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

/** What happened within one bar of a chart. */
type TrafficSlot = {
  readonly label: string
  /** The same below the chart. */
  readonly short: string
  readonly ok: number
  readonly clientErrors: number
  readonly serverErrors: number
  readonly units: number
  readonly categories: readonly number[]
}

function toSlot(label: string, short: string, counts: readonly HourCount[]): TrafficSlot {
  const totals = new Map<string, number>()
  for (const { measure, count } of counts) totals.set(measure, (totals.get(measure) ?? 0) + count)
  const of = (measure: string): number => totals.get(measure) ?? 0
  const [success, redirects, clientErrors, serverErrors] = STATUS_CLASSES.map(each => of(`status_${each}`))
  return {
    label,
    short,
    ok: (success ?? 0) + (redirects ?? 0),
    clientErrors: clientErrors ?? 0,
    serverErrors: serverErrors ?? 0,
    units: of("used") + of("publishable_used"),
    categories: CATEGORY_NAMES.map(category => of(CATEGORY_MEASURES[category])),
  }
}

/** The last 24 hours, the current one included. */
function hourSlots(counts: readonly HourCount[], nowMs: number): readonly TrafficSlot[] {
  const nowHour = Math.floor(nowMs / HOUR_MS)
  const byHour = Map.groupBy(counts, ({ hour }) => hour)
  return Array.from({ length: HOURS_OF_DAY }, (_, at) => {
    const hour = nowHour - HOURS_OF_DAY + 1 + at
    const label = formatInstant(hour * HOUR_MS)
    return toSlot(label, label.slice(-MINUTE_LENGTH, -UTC_LENGTH), byHour.get(hour) ?? [])
  })
}

/** The last 30 UTC days, today included. */
function daySlots(counts: readonly HourCount[], nowMs: number): readonly TrafficSlot[] {
  const first = firstShownHour(nowMs)
  const byDay = Map.groupBy(counts, ({ hour }) => Math.floor((hour - first) / HOURS_OF_DAY))
  return Array.from({ length: DAYS_SHOWN }, (_, at) => {
    const atMs = (first + at * HOURS_OF_DAY) * HOUR_MS
    return toSlot(formatDate(atMs), formatDay(atMs), byDay.get(at) ?? [])
  })
}

type TrafficProps = {
  /** The counts from `firstShownHour` on. */
  readonly counts: readonly HourCount[]
  readonly nowMs: number
}

/** What happened in the last 24 hours. */
export function lastDay(counts: readonly HourCount[], nowMs: number) {
  const slots = hourSlots(counts, nowMs)
  const requests = total(slots, slot => slot.ok + slot.clientErrors + slot.serverErrors)
  return { requests, failed: total(slots, slot => slot.serverErrors), units: total(slots, slot => slot.units) }
}

/** Requests and categories of the last 24 hours and 30 days. */
export function TrafficPanel({ counts, nowMs }: TrafficProps) {
  const days = daySlots(counts, nowMs)
  return (
    <>
      <Panel title="Requests">
        <Tabs
          label="Period"
          name="traffic"
          tabs={[
            { label: "24 hours", content: <RequestsChart title="24 hours" slots={hourSlots(counts, nowMs)} /> },
            { label: "30 days", content: <RequestsChart title="30 days" slots={days} /> },
          ]}
        />
      </Panel>
      <Panel title="Verdicts, 30 days">
        <CategoryShares slots={days} />
      </Panel>
    </>
  )
}

type SlotsProps = { readonly slots: readonly TrafficSlot[] }

const REQUEST_SERIES = [
  { label: "Answered", tone: "of-allow" },
  { label: "Refused (4xx)", tone: "of-review" },
  { label: "Failed (5xx)", tone: "of-block" },
] as const

function RequestsChart({ title, slots }: SlotsProps & { readonly title: string }) {
  const bars = slots.map(({ label, short, ...slot }) => ({ label, short, values: seriesOf(slot) }))
  const totals = REQUEST_SERIES.map(({ label, tone }, at) => {
    const count = bars.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)
    return { label: `${label} ${formatNumber(count)}`, tone }
  })
  const units = formatCount(
    total(slots, slot => slot.units),
    "unit",
  )
  return (
    <>
      <StackedChart
        label={`Requests to the API in ${title}: ${totals.map(({ label }) => label).join(", ")}.`}
        series={REQUEST_SERIES}
        bars={bars}
      />
      <Legend items={totals} />
      <p class="hint">{units} used.</p>
    </>
  )
}

const seriesOf = ({ ok, clientErrors, serverErrors }: Omit<TrafficSlot, "label" | "short">) => [
  ok,
  clientErrors,
  serverErrors,
]

/** The share of each category in the verdicts, the largest first. */
function CategoryShares({ slots }: SlotsProps) {
  const shares = CATEGORY_NAMES.map((category, at) => ({
    label: CATEGORY_LABELS[category],
    tone: `of-${category}`,
    count: total(slots, slot => slot.categories[at] ?? 0),
  }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count)
  const all = shares.reduce((sum, { count }) => sum + count, 0)
  if (all === 0) return <p>No verdicts yet.</p>
  return (
    <>
      <SplitBar label="Verdicts by category" shares={shares} />
      <Legend
        items={shares.map(({ label, tone, count }) => ({
          label: `${label} ${formatNumber(count)} (${formatShare(count, all)})`,
          tone,
        }))}
      />
    </>
  )
}

const total = (slots: readonly TrafficSlot[], of: (slot: TrafficSlot) => number): number =>
  slots.reduce((sum, slot) => sum + of(slot), 0)
