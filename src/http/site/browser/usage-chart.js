/*
 * Draws the usage of the last days as a chart of stacked bars, from the table that the page has for everybody, and folds
 * that table up. Without this script, or when the chart cannot be loaded, the table stands open.
 */

/**
 * @typedef {import("uplot")} Plot
 * @typedef {typeof import("uplot")} PlotClass
 * @typedef {import("uplot").Options} Options
 * @typedef {{ category: string, counts: readonly number[], tops: number[] }} Bars one category's, day by day
 */

const DAY_S = 86_400
const HEIGHT = 280
/** How wide the widest bar is, in pixels. */
const BAR_MAX = 28

const place = document.querySelector("#usage-chart")
const table = document.querySelector("#usage-days")
const rows = [...document.querySelectorAll("#usage-days [data-day]")].reverse()

/** The days, oldest first, in seconds since 1 January 1970, UTC. */
const days = rows.map(row => Date.parse(row.getAttribute("data-day") ?? "") / 1000)

/** @param {readonly number[]} counts */
const sum = counts => counts.reduce((all, count) => all + count, 0)

/** @param {number} count */
const grouped = count => new Intl.NumberFormat("en").format(count)

/** @param {number} seconds */
const dayWords = seconds =>
  new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short" }).format(seconds * 1000)

/** @param {string} name */
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/**
 * Every category that there was any of, with the height at which its part of each bar ends: the last one first, which is the
 * highest, for each is drawn over the one before it.
 * @returns {Bars[]}
 */
function stacked() {
  const below = days.map(() => 0)
  const categories = [...(rows[0]?.querySelectorAll("[data-category]") ?? [])]
  return categories
    .map(cell => cell.getAttribute("data-category") ?? "")
    .map(category => ({ category, counts: rows.map(row => countIn(row, category)) }))
    .filter(({ counts }) => sum(counts) > 0)
    .map(({ category, counts }) => {
      for (const [at, count] of counts.entries()) below[at] = (below[at] ?? 0) + count
      return { category, counts, tops: [...below] }
    })
    .reverse()
}

/**
 * @param {Element} row
 * @param {string} category
 */
const countIn = (row, category) =>
  Number(row.querySelector(`[data-category="${category}"]`)?.getAttribute("data-count") ?? 0)

/**
 * @param {PlotClass} Plot
 * @param {HTMLElement} target
 * @param {readonly Bars[]} stack
 */
function draw(Plot, target, stack) {
  const options = { ...frame(), width: target.clientWidth, series: [DAY, ...stack.map(bars => seriesOf(Plot, bars))] }
  const plot = new Plot(options, [days, ...stack.map(({ tops }) => tops)], target)
  // The legend names the parts from the ground up.
  const legend = target.querySelector(".u-legend")
  for (const row of [...(legend?.querySelectorAll(".u-series") ?? [])].slice(1).reverse())
    row.parentElement?.append(row)
  return plot
}

/** @type {import("uplot").Series} */
const DAY = { label: "Day", value: (_plot, seconds) => (seconds === null ? `all ${days.length}` : dayWords(seconds)) }

/**
 * @param {PlotClass} Plot
 * @param {Bars} bars
 * @returns {import("uplot").Series}
 */
function seriesOf(Plot, { category, counts }) {
  const paint = colour(`--${category}`)
  const bars = Plot.paths.bars?.({ size: [0.8, BAR_MAX] })
  return {
    label: category,
    stroke: paint,
    fill: paint,
    width: 0,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
    // Under the pointer those of the day, else those of all days.
    value: (_plot, _top, _series, day) => grouped(typeof day === "number" ? (counts[day] ?? 0) : sum(counts)),
  }
}

/**
 * All but the width and the series.
 * @returns {Omit<Options, "width" | "series">}
 */
function frame() {
  const axis = { stroke: colour("--soft"), ticks: { show: false }, grid: { stroke: colour("--line"), width: 1 } }
  return {
    height: HEIGHT,
    // A day is one of UTC, here as in the table.
    tzDate: utcDate,
    // A bar without what it stands on would tell a wrong height: none can be hidden (the style sheet keeps clicks from the legend).
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    legend: { markers: { width: 0, fill: (plot, at) => colour(`--${plot.series[at]?.label}`) } },
    scales: {
      x: { range: () => [(days[0] ?? 0) - DAY_S / 2, (days.at(-1) ?? 0) + DAY_S / 2] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.05)] },
    },
    axes: [
      { ...axis, size: 30, grid: { show: false }, values: (_plot, splits) => splits.map(dayWords) },
      { ...axis, size: 60, incrs: WHOLE_STEPS, values: (_plot, splits) => splits.map(grouped) },
    ],
  }
}

/** Steps between the lines: nothing is checked half. */
const WHOLE_STEPS = Array.from({ length: 12 }, (_, zeros) => [1, 2, 5].map(step => step * 10 ** zeros)).flat()

/**
 * A date whose local parts are those of UTC.
 * @param {number} seconds
 */
function utcDate(seconds) {
  const date = new Date(seconds * 1000)
  return new Date(date.getTime() + date.getTimezoneOffset() * 60_000)
}

/**
 * @param {string} path
 * @returns {Promise<void>}
 */
const loadScript = path =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script")
    script.src = path
    script.addEventListener("load", () => resolve())
    script.addEventListener("error", () => reject(new Error("the chart was not loaded")))
    document.head.append(script)
  })

/** @param {string} path */
function loadStyles(path) {
  const link = document.createElement("link")
  link.rel = "stylesheet"
  link.href = path
  document.head.append(link)
}

const stack = stacked()
if (place instanceof HTMLElement && table instanceof HTMLDetailsElement && stack.length > 0) {
  const { script = "", styles = "" } = place.dataset
  loadStyles(styles)
  await loadScript(script)
  /** @type {PlotClass} */
  const Plot = Reflect.get(globalThis, "uPlot")
  place.hidden = false
  table.open = false
  let plot = draw(Plot, place, stack)
  new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT })).observe(place)
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    plot.destroy()
    plot = draw(Plot, place, stack)
  })
}
