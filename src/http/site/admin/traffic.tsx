/** @jsxImportSource preact */
import { HOUR_MS } from "../../../base/time.ts"
import { CATEGORY_NAMES } from "../../../contract/categories.ts"
import { CATEGORY_MEASURES } from "../../../customers/usage/measures.ts"
import { type HourCount, STATUS_CLASSES } from "../../../customers/usage/traffic.ts"
import { StackedChart } from "../ui/charts.tsx"
import { formatDate, formatDay, formatInstant, formatNumber, formatShare } from "../ui/format.ts"
import { Table } from "../ui/layout.tsx"
import { Legend } from "../ui/panels.tsx"
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

/** Requests, units and categories of the last 24 hours and 30 days. */
export function TrafficSection({ counts, nowMs }: TrafficProps) {
  const days = daySlots(counts, nowMs)
  return (
    <section aria-labelledby="traffic">
      <h2 id="traffic">Traffic</h2>
      <RequestsChart title="Last 24 hours" slots={hourSlots(counts, nowMs)} />
      <RequestsChart title="Last 30 days" slots={days} />
      <UnitsChart slots={days} />
      <CategoryShares slots={days} />
    </section>
  )
}

type SlotsProps = { readonly slots: readonly TrafficSlot[] }

function RequestsChart({ title, slots }: SlotsProps & { readonly title: string }) {
  const ok = total(slots, slot => slot.ok)
  const clientErrors = total(slots, slot => slot.clientErrors)
  const serverErrors = total(slots, slot => slot.serverErrors)
  const units = total(slots, slot => slot.units)
  const summary = `${formatNumber(ok)} answered, ${formatNumber(clientErrors)} refused, ${formatNumber(serverErrors)} failed`
  return (
    <>
      <h3>{title}</h3>
      <dl class="figures">
        <Figure name="Requests" value={ok + clientErrors + serverErrors} />
        <Figure name="Refused (4xx)" value={clientErrors} />
        <Figure name="Failed (5xx)" value={serverErrors} />
        <Figure name="Units" value={units} />
      </dl>
      <StackedChart
        label={`Requests to the API, ${title.toLowerCase()}: ${summary}.`}
        series={REQUEST_SERIES}
        bars={slots.map(slot => ({ ...slot, values: [slot.ok, slot.clientErrors, slot.serverErrors] }))}
      />
      <Legend items={REQUEST_SERIES} />
    </>
  )
}

const REQUEST_SERIES = [
  { label: "answered", tone: "of-allow" },
  { label: "refused", tone: "of-review" },
  { label: "failed", tone: "of-block" },
] as const

function Figure({ name, value }: { readonly name: string; readonly value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{formatNumber(value)}</dd>
    </div>
  )
}

function UnitsChart({ slots }: SlotsProps) {
  return (
    <>
      <h3>Units per day</h3>
      <StackedChart
        label={`Units per day, last 30 days: ${formatNumber(total(slots, slot => slot.units))} in all.`}
        series={[{ label: "units", tone: "of-accent" }]}
        bars={slots.map(slot => ({ ...slot, values: [slot.units] }))}
      />
    </>
  )
}

/** The share of each category in the verdicts, the largest first. */
function CategoryShares({ slots }: SlotsProps) {
  const counts = CATEGORY_NAMES.map((category, at) => ({
    category,
    count: total(slots, slot => slot.categories[at] ?? 0),
  }))
  const all = counts.reduce((sum, { count }) => sum + count, 0)
  const shown = counts.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count)
  return (
    <>
      <h3>Categories, last 30 days</h3>
      {all === 0 ? (
        <p>No verdicts yet.</p>
      ) : (
        <Table caption="Categories" columns={["Category", "Verdicts", "Share"]}>
          {shown.map(({ category, count }) => (
            <tr key={category}>
              <th scope="row">{CATEGORY_LABELS[category]}</th>
              <td class="number">{formatNumber(count)}</td>
              <td class="number">{formatShare(count, all)}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

const total = (slots: readonly TrafficSlot[], of: (slot: TrafficSlot) => number): number =>
  slots.reduce((sum, slot) => sum + of(slot), 0)
