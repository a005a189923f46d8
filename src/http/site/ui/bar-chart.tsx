/** @jsxImportSource preact */

/** One part of all bars, such as the requests that failed. */
type BarSeries = {
  readonly label: string
  /** The class that gives the colour. */
  readonly look: "allow" | "review" | "block" | "accent"
}

type Bar = {
  readonly label: string
  /** A value for each series, in their order. */
  readonly values: readonly number[]
}

type BarChartProps = {
  /** For screen readers, with the point of the chart. */
  readonly label: string
  readonly series: readonly BarSeries[]
  readonly bars: readonly Bar[]
}

const CHART_HEIGHT = 100
const BAR_WIDTH = 10
const BAR_GAP = 2

/** Stacked bars as an image without a script, each with a tooltip, and a legend if there are several series. */
export function BarChart({ label, series, bars }: BarChartProps) {
  const highest = Math.max(1, ...bars.map(({ values }) => sum(values)))
  return (
    <figure class="bars">
      <svg
        viewBox={`0 0 ${bars.length * BAR_WIDTH} ${CHART_HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        {bars.map((bar, index) => (
          <StackedBar
            key={bar.label}
            bar={bar}
            series={series}
            left={index * BAR_WIDTH}
            scale={CHART_HEIGHT / highest}
          />
        ))}
      </svg>
      <figcaption>
        <span>{bars[0]?.label}</span>
        {series.length < 2 ? null : (
          <span class="legend">
            {series.map(({ label: name, look }) => (
              <span key={name} class={look}>
                {name}
              </span>
            ))}
          </span>
        )}
        <span>{bars.at(-1)?.label}</span>
      </figcaption>
    </figure>
  )
}

type StackedBarProps = {
  readonly bar: Bar
  readonly series: readonly BarSeries[]
  readonly left: number
  readonly scale: number
}

function StackedBar({ bar: { label, values }, series, left, scale }: StackedBarProps) {
  const described = series.map(({ label: name }, at) => `${name} ${values[at] ?? 0}`).join(", ")
  return (
    <g>
      <title>{`${label}: ${described}`}</title>
      {series.map(({ label: name, look }, at) => {
        const below = sum(values.slice(0, at))
        const height = (values[at] ?? 0) * scale
        return height === 0 ? null : (
          <rect
            key={name}
            class={look}
            x={left}
            y={round(CHART_HEIGHT - below * scale - height)}
            width={BAR_WIDTH - BAR_GAP}
            height={round(height)}
          />
        )
      })}
    </g>
  )
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const round = (value: number): number => Math.round(value * 100) / 100
