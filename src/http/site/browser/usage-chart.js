/*
 * Draws the usage of the last days as stacked bars from the page's table, then collapses the table. Without this script, or
 * when the chart library cannot be loaded, the table stays open.
 */

/**
 * @typedef {import("uplot")} Plot
 * @typedef {typeof import("uplot")} PlotClass
 * @typedef {import("uplot").Options} Options
 * @typedef {{ category: string, counts: readonly number[], tops: number[] }} Bars the bars of one category, one for each day
 */

const DAY_S = 86_400
const HEIGHT = 280
/** The maximum width of a bar, in pixels. */
const BAR_WIDTH_MAX = 28

const container = document.querySelector("#usage-chart")
const table = document.querySelector("#usage-days")
const rows = [...document.querySelectorAll("#usage-days [data-day]")].reverse()

/** The days, oldest first, in seconds since 1 January 1970, UTC. */
const days = rows.map(row => Date.parse(row.getAttribute("data-day") ?? "") / 1000)

/** @param {readonly number[]} counts */
const sum = counts => counts.reduce((all, count) => all + count, 0)

/** @param {number} count */
const formatNumber = count => new Intl.NumberFormat("en").format(count)

/** @param {number} seconds */
const formatDay = seconds =>
  new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short" }).format(seconds * 1000)

/** @param {string} name */
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/**
 * The bars of every category that occurs, with the height at which each ends. The topmost category comes first, because each
 * is drawn over the previous one.
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
      for (const [index, count] of counts.entries()) below[index] = (below[index] ?? 0) + count
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
  // The legend lists the categories from bottom to top.
  const legend = target.querySelector(".u-legend")
  for (const row of [...(legend?.querySelectorAll(".u-series") ?? [])].slice(1).reverse())
    row.parentElement?.append(row)
  return plot
}

/** @type {import("uplot").Series} */
const DAY = { label: "Day", value: (_plot, seconds) => (seconds === null ? `all ${days.length}` : formatDay(seconds)) }

/**
 * @param {PlotClass} Plot
 * @param {Bars} bars
 * @returns {import("uplot").Series}
 */
function seriesOf(Plot, { category, counts }) {
  const paint = colour(`--${category}`)
  const bars = Plot.paths.bars?.({ size: [0.8, BAR_WIDTH_MAX] })
  return {
    label: category,
    stroke: paint,
    fill: paint,
    width: 0,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
    // The count of the day under the pointer, else of all days.
    value: (_plot, _top, _series, day) => formatNumber(typeof day === "number" ? (counts[day] ?? 0) : sum(counts)),
  }
}

/**
 * All options but width and series.
 * @returns {Omit<Options, "width" | "series">}
 */
function frame() {
  const axis = { stroke: colour("--soft"), ticks: { show: false }, grid: { stroke: colour("--line"), width: 1 } }
  return {
    height: HEIGHT,
    // Days are UTC days, as in the table.
    tzDate: utcDate,
    // Hiding a category would give the bars above it a wrong height, so the stylesheet disables clicks on the legend.
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    legend: { markers: { width: 0, fill: (plot, index) => colour(`--${plot.series[index]?.label}`) } },
    scales: {
      x: { range: () => [(days[0] ?? 0) - DAY_S / 2, (days.at(-1) ?? 0) + DAY_S / 2] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.05)] },
    },
    axes: [
      { ...axis, size: 30, grid: { show: false }, values: (_plot, splits) => splits.map(formatDay) },
      { ...axis, size: 60, incrs: WHOLE_STEPS, values: (_plot, splits) => splits.map(formatNumber) },
    ],
  }
}

/** The steps of the axis are whole numbers. */
const WHOLE_STEPS = Array.from({ length: 12 }, (_, zeros) => [1, 2, 5].map(step => step * 10 ** zeros)).flat()

/**
 * A date whose local fields equal those of UTC.
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
if (container instanceof HTMLElement && table instanceof HTMLDetailsElement && stack.length > 0) {
  const { script = "", styles = "" } = container.dataset
  loadStyles(styles)
  await loadScript(script)
  /** @type {PlotClass} */
  const Plot = Reflect.get(globalThis, "uPlot")
  container.hidden = false
  table.open = false
  let plot = draw(Plot, container, stack)
  new ResizeObserver(() => plot.setSize({ width: container.clientWidth, height: HEIGHT })).observe(container)
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    plot.destroy()
    plot = draw(Plot, container, stack)
  })
}
