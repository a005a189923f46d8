/** @jsxImportSource preact */
import { isoDate } from "../../../../base/time.ts"
import { CATEGORY_NAMES, type Category } from "../../../../contract/categories.ts"
import { formatCount, formatNumber } from "../../ui/format.ts"

/** The checks of one day by category. */
export type ChartDay = {
  /** Days since 1 January 1970, UTC. */
  readonly day: number
  readonly byCategory: { readonly [C in Category]: number }
}

/** The drawing has so many units a day and in height. The page stretches it to its width. */
const DAY_WIDTH = 10
const BAR_WIDTH = 8
const HEIGHT = 100

/** Bars of the checks of each day, stacked by category, the oldest day first. It needs no script. */
export function UsageChart({ days }: { readonly days: readonly ChartDay[] }) {
  const totals = days.map(totalOf)
  const most = Math.max(0, ...totals)
  const top = roundUp(most)
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return null
  const busiest = days[totals.indexOf(most)] ?? last
  return (
    <figure class="usage-chart">
      <p class="top-value" aria-hidden="true">
        {formatNumber(top)}
      </p>
      <svg
        role="img"
        aria-label={`Checks of each day, from ${isoDate(first.day)} to ${isoDate(last.day)}. The most were ${formatNumber(most)}, on ${isoDate(busiest.day)}. The table below has all days.`}
        viewBox={`0 0 ${days.length * DAY_WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        <path class="line" d={`M0 ${HEIGHT / 2}h${days.length * DAY_WIDTH}`} />
        {CATEGORY_NAMES.map(category => {
          const shape = barsOf(days, category, top)
          return shape === "" ? null : <path key={category} class={`of-${category}`} d={shape} />
        })}
        {days.map(({ day }, index) => (
          <rect key={day} class="day" x={index * DAY_WIDTH} width={DAY_WIDTH} height={HEIGHT}>
            <title>{`${isoDate(day)}: ${formatCount(totals[index] ?? 0, "check")}`}</title>
          </rect>
        ))}
      </svg>
      <p class="axis" aria-hidden="true">
        <span>{isoDate(first.day)}</span>
        <span>{isoDate(last.day)}</span>
      </p>
    </figure>
  )
}

const totalOf = ({ byCategory }: ChartDay): number =>
  CATEGORY_NAMES.reduce((sum, category) => sum + byCategory[category], 0)

/** The bars of one category as one path. Each stands on those of the categories before it. */
function barsOf(days: readonly ChartDay[], category: Category, top: number): string {
  const below = CATEGORY_NAMES.slice(0, CATEGORY_NAMES.indexOf(category))
  const heightOf = (count: number): number => Math.round((count / top) * HEIGHT * 100) / 100
  return days
    .map(({ byCategory }, index) => {
      if (byCategory[category] === 0) return ""
      const bottom = heightOf(below.reduce((sum, name) => sum + byCategory[name], 0))
      const x = index * DAY_WIDTH + (DAY_WIDTH - BAR_WIDTH) / 2
      return `M${x} ${HEIGHT - bottom}h${BAR_WIDTH}v-${heightOf(byCategory[category])}h-${BAR_WIDTH}z`
    })
    .join("")
}

/** The next number of the form 1, 2 or 5 times a power of ten, so that the scale is easy to read. At least 1. */
function roundUp(count: number): number {
  for (let power = 1; ; power *= 10) for (const step of [1, 2, 5]) if (step * power >= count) return step * power
}
