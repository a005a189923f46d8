/** @jsxImportSource preact */
import { formatNumber } from "./format.ts"

/** One part of all bars. `tone` is a class that sets the colour, such as `of-block`. */
export type Series = { readonly label: string; readonly tone: string }

/** A bar of a chart. */
export type Bar = {
  /** What it stands for, as its tooltip says it. */
  readonly label: string
  /** The same below the chart, where there is little room. */
  readonly short: string
  /** Whether the words beside the chart are about it. */
  readonly isMarked?: boolean
  /** A value for each series, in their order, from the bottom up. */
  readonly values: readonly number[]
}

type StackedChartProps = {
  /** For screen readers, with the point of the chart. */
  readonly label: string
  readonly series: readonly Series[]
  readonly bars: readonly Bar[]
}

/** Where the plot begins and ends below the top of the image, in CSS pixels. Below it stand the dates. */
const [PLOT_TOP, PLOT_BOTTOM, DATES_AT] = [10, 150, 167]
const TICKS = 3
/** About so many bars have their date below them. */
const DATES = 5
/** Which part of its place a bar takes. */
const BAR_SHARE = 0.7
const PERCENT = 100

/** Stacked bars with three ticks and some dates. Widths are percentages, so that no text is stretched. It needs no script. */
export function StackedChart({ label, series, bars }: StackedChartProps) {
  const tick = tickOf(Math.max(0, ...bars.map(({ values }) => sum(values))))
  const place = PERCENT / Math.max(1, bars.length)
  const every = Math.max(1, Math.round((bars.length - 1) / (DATES - 1)))
  const ticks = Array.from({ length: TICKS }, (_, index) => TICKS - index)
  return (
    <figure class="chart">
      <svg role="img" aria-label={label}>
        {ticks.map(count => (
          <line key={count} x2="100%" y1={heightAt(count / TICKS)} y2={heightAt(count / TICKS)} />
        ))}
        {bars.map((bar, index) => (
          <StackedBar key={bar.label} bar={bar} series={series} left={index * place} place={place} top={tick * TICKS} />
        ))}
        <line class="base" x2="100%" y1={PLOT_BOTTOM} y2={PLOT_BOTTOM} />
        {bars.map(({ short }, index) =>
          index % every === 0 ? (
            <text key={short} x={`${round(index * place)}%`} y={DATES_AT}>
              {short}
            </text>
          ) : null,
        )}
      </svg>
      <p class="ticks" aria-hidden="true">
        {ticks.map(count => (
          <span key={count}>{formatTick(count * tick)}</span>
        ))}
      </p>
    </figure>
  )
}

type StackedBarProps = {
  readonly bar: Bar
  readonly series: readonly Series[]
  /** Its place from the left and how wide that is, in per cent. */
  readonly left: number
  readonly place: number
  /** The value at the top of the plot. */
  readonly top: number
}

function StackedBar({ bar: { label, values, isMarked }, series, left, place, top }: StackedBarProps) {
  const parts = series.map(({ label: name }, at) => [name.toLowerCase(), values[at] ?? 0] as const)
  const told = parts.filter(([, value]) => value > 0).map(([name, value]) => `${formatNumber(value)} ${name}`)
  const [x, width] = [`${round(left + (place * (1 - BAR_SHARE)) / 2)}%`, `${round(place * BAR_SHARE)}%`]
  return (
    <g class={isMarked ? "marked" : undefined}>
      <title>{`${label}: ${told.join(", ") || "none"}`}</title>
      <rect class="hit" x={`${round(left)}%`} width={`${round(place)}%`} height={PLOT_BOTTOM} />
      {series.map(({ tone, label: name }, at) => {
        const value = values[at] ?? 0
        const below = sum(values.slice(0, at))
        const [bottom, high] = [heightAt(below / top), heightAt((below + value) / top)]
        // A pixel less than its height parts it from the next one.
        const height = Math.max(1, bottom - high - 1)
        return value === 0 ? null : (
          <rect
            key={name}
            class={tone}
            x={x}
            y={round(bottom - height)}
            width={width}
            height={round(height)}
            rx="1.5"
          />
        )
      })}
    </g>
  )
}

/** Where a share of the scale stands. */
const heightAt = (share: number): number => round(PLOT_BOTTOM - share * (PLOT_BOTTOM - PLOT_TOP))

const TICK_SIZES = [1, 1.5, 2, 3, 4, 5, 6, 8] as const

/** The least whole number among 1, 1.5, 2, 3, 4, 5, 6 and 8 times a power of ten, of which three reach the value. */
export function tickOf(value: number): number {
  for (let power = 1; ; power *= 10) {
    const found = TICK_SIZES.find(size => Number.isInteger(size * power) && size * power * TICKS >= value)
    if (found !== undefined) return found * power
  }
}

const COMPACT = new Intl.NumberFormat("en", { notation: "compact" })
const COMPACT_FROM = 100_000
const formatTick = (value: number): string => (value < COMPACT_FROM ? formatNumber(value) : COMPACT.format(value))

/** The image of a sparkline is so many units high, and a value takes so many of them and a gap. */
const [SPARK_HEIGHT, SPARK_STEP, SPARK_BAR] = [20, 3, 2]

/** A tiny chart of values beside their sum, which says the same in words. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(1, ...values)
  const bars = values.map((value, index) => {
    const height = value === 0 ? 0 : Math.max(1, round((value / most) * SPARK_HEIGHT))
    return height === 0 ? "" : `M${index * SPARK_STEP} ${SPARK_HEIGHT}v-${height}h${SPARK_BAR}v${height}z`
  })
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${values.length * SPARK_STEP} ${SPARK_HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={bars.join("")} />
    </svg>
  )
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const round = (value: number): number => Math.round(value * 100) / 100
