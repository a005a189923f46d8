import type { Bar, Group } from "./chart-groups.ts"

const WIDTH = 760
const MARGIN = 24
const LABEL_WIDTH = 190
const VALUE_WIDTH = 130
const BAR_WIDTH = WIDTH - 2 * MARGIN - LABEL_WIDTH - VALUE_WIDTH
const BAR_HEIGHT = 18
const ROW_HEIGHT = 26
const TITLE_HEIGHT = 30
const GROUP_GAP = 22
/** A value that is not nothing is seen. */
const BAR_WIDTH_MIN = 2

/** Colours of both schemes; each text stands out from its ground by 4.5 to 1 and more. */
const STYLE = `
  svg { --ground: #ffffff; --ink: #1f2328; --dim: #59636e; --ours: #0f766e; --other: #9aa4ae }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --ink: #f0f6fc; --dim: #9198a1; --ours: #2dd4bf; --other: #4d5763 }
  }
  text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--ink) }
  .ground { fill: var(--ground) }
  .title { font-size: 14px; font-weight: 600 }
  .dim { fill: var(--dim); font-size: 12px; font-weight: 400 }
  .label { text-anchor: end }
  .ours { font-weight: 600 }
  .bar { fill: var(--other) }
  .bar.ours { fill: var(--ours) }
`

/** The picture of bars as SVG: text is text, there is no script, and the description says every value. Empty groups give an empty picture. */
export function chartSvg(title: string, note: string, groups: readonly Group[]): string {
  let top = MARGIN
  const drawn = groups.map(group => {
    const rows = drawnGroup(group, top)
    top += TITLE_HEIGHT + group.bars.length * ROW_HEIGHT + GROUP_GAP
    return rows
  })
  const height = top + MARGIN - GROUP_GAP + ROW_HEIGHT
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="desc">${escaped([...groups.map(spoken), note].join(" "))}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}" rx="8"/>`,
    ...drawn.flat(),
    `<text class="dim" x="${MARGIN}" y="${height - MARGIN + 4}">${escaped(note)}</text>`,
    "</svg>\n",
  ].join("\n")
}

function drawnGroup({ title, unit, better, bars }: Group, top: number): readonly string[] {
  const largest = Math.max(...bars.map(({ value }) => value))
  const heading = `${escaped(title)} <tspan class="dim">${escaped(`${unit}, ${better} is better`)}</tspan>`
  return [
    `<text class="title" x="${MARGIN}" y="${top + 14}">${heading}</text>`,
    ...bars.map((bar, row) => drawnBar(bar, top + TITLE_HEIGHT + row * ROW_HEIGHT, largest)),
  ]
}

function drawnBar({ label, value, isOurs }: Bar, top: number, largest: number): string {
  const left = MARGIN + LABEL_WIDTH
  const width = value === 0 ? 0 : Math.max(BAR_WIDTH_MIN, Math.round((value / largest) * BAR_WIDTH))
  const base = top + BAR_HEIGHT - 5
  const ours = isOurs ? " ours" : ""
  return [
    `<text class="label${ours}" x="${left - 10}" y="${base}">${escaped(label)}</text>`,
    `<rect class="bar${ours}" x="${left}" y="${top}" width="${width}" height="${BAR_HEIGHT}" rx="3"/>`,
    `<text class="value${ours}" x="${left + width + 8}" y="${base}">${escaped(shown(value))}</text>`,
  ].join("")
}

const spoken = ({ title, unit, better, bars }: Group): string =>
  `${title} (${unit}, ${better} is better): ${bars.map(({ label, value }) => `${label} ${shown(value)}`).join(", ")}.`

/** Three digits, and thousands set apart. */
const shown = (value: number): string => Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 })

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}
const escaped = (text: string): string => text.replace(/[&<>"']/g, sign => ESCAPES[sign] ?? "")
