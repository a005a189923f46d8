import { describe, expect, test } from "bun:test"
import { chartSvg } from "../../bench/chart.ts"
import { CHARTED, chartGroups, type Group } from "../../bench/chart-groups.ts"
import { figure, type Report } from "../../bench/report/report.ts"

const report = (bench: string, figures: Report["figures"]): Report => ({ bench, description: [], figures })
const http = report("http", [figure("product", "answers/s", 41_234), figure("floor", "answers/s", 71_234)])
const group: Group = {
  title: "Speed",
  unit: "a/s",
  better: "more",
  bars: [
    { label: "ours", value: 1234.567, isOurs: true },
    { label: "<theirs> & 'co'", value: 2469.134, isOurs: false },
    { label: "none", value: 0, isOurs: false },
    { label: "little", value: 0.001, isOurs: false },
  ],
}

/** What a reader of XML finds: start tags with their attributes, in their order. */
async function elementsOf(svg: string) {
  const elements: { readonly tag: string; readonly attributes: Readonly<Record<string, string>> }[] = []
  const attributesOf = (element: HTMLRewriterTypes.Element) => Object.fromEntries([...element.attributes])
  const rewriter = new HTMLRewriter().on("*", {
    element: element => void elements.push({ tag: element.tagName, attributes: attributesOf(element) }),
  })
  await rewriter.transform(new Response(svg)).text()
  return elements
}

describe("chartGroups", () => {
  test("takes the figures of each question out of its bench's report, ours first and marked", () => {
    expect(chartGroups([http])).toEqual([
      {
        title: "POST /v1/check, one core, 64 connections",
        unit: "answers/s",
        better: "more",
        bars: [
          { label: "mailkind", value: 41_234, isOurs: true },
          { label: "bare Bun.serve", value: 71_234, isOurs: false },
        ],
      },
    ])
  })

  test("leaves out a question without our figure, a bar without its own, and what is no number", () => {
    expect(chartGroups([])).toEqual([])
    expect(chartGroups([report("http", [figure("floor", "answers/s", 1)])])).toEqual([])
    const figures = [figure("product", "answers/s", 1), figure("floor", "answers/s", Number.NaN)]
    expect(chartGroups([report("http", figures)])[0]?.bars).toHaveLength(1)
  })

  test("asks each question once", () => {
    const titles = CHARTED.map(({ title }) => title)
    expect(new Set(titles).size).toBe(titles.length)
  })
})

describe("chartSvg", () => {
  const svg = chartSvg("Figures", "on a machine", [group])

  test("bars are as long as their values, nothing has no length, and a little is seen", async () => {
    const bars = (await elementsOf(svg)).filter(({ attributes }) => attributes["class"]?.startsWith("bar"))
    const [ours = 0, theirs = 0, none, little] = bars.map(({ attributes }) => Number(attributes["width"]))
    expect(ours * 2).toBe(theirs)
    expect([none, little]).toEqual([0, 2])
    expect(bars.map(({ attributes }) => attributes["class"])).toEqual(["bar ours", "bar", "bar", "bar"])
  })

  test("everything stands within the picture, and no two rows touch", async () => {
    const elements = await elementsOf(svg)
    const [root] = elements
    const [width, height] = [Number(root?.attributes["width"]), Number(root?.attributes["height"])]
    const rects = elements.filter(({ tag, attributes }) => tag === "rect" && attributes["y"] !== undefined)
    const ends = rects.map(({ attributes }) => Number(attributes["y"]) + Number(attributes["height"]))
    expect(Math.max(...ends)).toBeLessThan(height)
    for (const { attributes } of rects)
      expect(Number(attributes["x"]) + Number(attributes["width"])).toBeLessThan(width)
    const starts = rects.map(({ attributes }) => Number(attributes["y"]))
    for (const [at, start] of starts.entries()) expect(start).toBeGreaterThan(ends[at - 1] ?? 0)
  })

  test("text is text, and who cannot see the picture hears every value", () => {
    expect(svg).toContain('role="img" aria-labelledby="title desc"')
    expect(svg).toContain('<title id="title">Figures</title>')
    expect(svg).toContain(
      '<desc id="desc">Speed (a/s, more is better): ours 1,230, &lt;theirs&gt; &amp; &#39;co&#39; 2,470, none 0, little 0.001. on a machine</desc>',
    )
    expect(svg).toContain(">&lt;theirs&gt; &amp; &#39;co&#39;</text>")
  })

  test("it loads nothing, runs nothing, and has colours for dark pages", () => {
    const tags = new Set([...svg.matchAll(/<([a-z]+)/g)].map(([, tag]) => tag))
    expect([...tags].toSorted()).toEqual(["desc", "rect", "style", "svg", "text", "title", "tspan"])
    expect(svg.replace("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:|url\(|@import|\bon\w+=/)
    expect(svg).toContain("prefers-color-scheme: dark")
  })

  test("a chart of nothing is a picture all the same", () => {
    expect(chartSvg("Figures", "", [])).toMatch(/^<svg [^>]+>[\s\S]+<\/svg>\n$/)
  })
})
