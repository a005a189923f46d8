import { expect, test } from "bun:test"
import fc from "fast-check"
import { seeded } from "../../../bench/load/seeded-random.ts"
import { GUARDED_FETCH_BOUNDS } from "../../../src/check/fetch/guarded-fetch.ts"
import { decodePage, parsePage } from "../../../src/check/homepage/page-parser.ts"

const PAGE_PIECES = [
  (n: number) => `${"<b>".repeat(n)}${"</i>".repeat(n)}`,
  (n: number) => `${"<div>".repeat(n)}${"</p></span></li>".repeat(n)}`,
  (n: number) => `<p ${Array.from({ length: n }, (_, at) => `a${at}="v"`).join(" ")}>`,
  (n: number) => `<p ${"a=".repeat(n)}>`,
  (n: number) => `<a href="${"&amp;".repeat(n)}">x</a>`,
  (n: number) => "&amp;&#x41;&notin;&nosuch;".repeat(n),
  (n: number) => `&${"a".repeat(n * 4)}`,
  (n: number) => `<!--${"-".repeat(n * 4)}`,
  (n: number) => "<!-- x -->".repeat(n),
  (n: number) => `<script>${"location=".repeat(n)}</script>`,
  (n: number) => "<script></script>".repeat(n),
  (n: number) => `<script>${"<!--<script>".repeat(n)}`,
  (n: number) => `${"<table><tr><td>".repeat(n)}`,
  (n: number) => `${"<svg><g>".repeat(n)}${"</g>".repeat(n)}`,
  (n: number) => `<title>${"x ".repeat(n)}`,
  (n: number) => "<![CDATA[".repeat(n),
  (n: number) => "<".repeat(n * 8),
  (n: number) => "</".repeat(n * 4),
  (n: number) => "<a".repeat(n * 4),
  (n: number) => "a\u0301\u0302".repeat(n),
  (n: number) => "\ufdfa".repeat(n),
  (n: number) => `<meta http-equiv=refresh content="${"0;url=".repeat(n)}">`,
  (n: number) => `<style>${"*{}".repeat(n)}</style><noscript>${"<noscript>".repeat(n)}`,
  (n: number) => "\0".repeat(n * 4),
] as const

/** Pages that are made to be expensive: nesting, stray ends, attributes, entities, comments, scripts, tables, SVG; the same on every run. */
function hostilePages(count: number, bytes: number, seed = 1): readonly string[] {
  const chance = seeded(seed)
  const pick = <T>(values: readonly [T, ...T[]]): T => values[Math.floor(chance() * values.length)] ?? values[0]
  return Array.from({ length: count }, () => {
    const pieces = Array.from({ length: 1 + Math.floor(chance() * 4) }, () => pick(PAGE_PIECES))
    const size = pick([50, 2000, 60_000])
    return pieces
      .map(piece => piece(size))
      .join("")
      .slice(0, bytes)
  })
}

const read = (html: string) => parsePage(html, "https://acme.com/en/")

test("the title and the visible blocks of text are read and folded", () => {
  const { title, blocks } = read(
    "<title>M&uuml;ller &amp; S&#246;hne\n GmbH</title><h1>Caf&eacute; <b>Größe</b></h1><p>One<br>two<script>var no</script> three<style>no</style><noscript>no</noscript><p>Łódź “quoted”",
  )
  expect(title).toBe("muller & sohne gmbh")
  expect(blocks).toEqual(["cafe grosse", "one", "two three", 'lodz "quoted"'])
})

test("the first title is the page's, and one of an SVG image is not", () => {
  expect(read("<svg><title>Logo</title></svg><title>Acme</title><title>Other</title>").title).toBe("acme")
})

test("refreshes, frames and redirects by script are read as absolute URLs", () => {
  const { destinationUrls } = read(
    `<meta http-equiv="Refresh" content="0; URL='https://a.com/x'"><meta http-equiv=refresh content="5;/y"><meta http-equiv="refresh" content="30">` +
      `<meta http-equiv="content-type" content="0; url=/no"><iframe src="//b.com/f"></iframe><frame src="g"><script>window.location.href = "/h"; location.replace('https://c.com/'); x.src="/no"</script>`,
  )
  expect(destinationUrls).toEqual([
    "https://a.com/x",
    "https://acme.com/y",
    "https://b.com/f",
    "https://acme.com/en/g",
    "https://acme.com/h",
    "https://c.com/",
  ])
})

test("a refresh with much white space is read quickly", () => {
  const blank = " ".repeat(200_000)
  expect(read(`<meta http-equiv=refresh content="${blank}x">`).destinationUrls).toEqual([])
  expect(read(`<meta http-equiv=refresh content="${blank}5${blank}; url=/x">`).destinationUrls).toHaveLength(1)
})

test("loaded resources are distinguished from links", () => {
  const { resourceUrls, linkUrls } = read(
    `<link rel=stylesheet href="/s.css"><script src="https://cdn.com/a.js?x=1&amp;y=2"></script><img src=i.png><a href="../about">about</a><a name=x>none</a><a href="http://[bad">bad</a>`,
  )
  expect(resourceUrls).toEqual(["https://acme.com/s.css", "https://cdn.com/a.js?x=1&y=2", "https://acme.com/en/i.png"])
  expect(linkUrls).toEqual(["https://acme.com/about"])
})

test("a page with text, images, forms, frames or scripts has content", () => {
  for (const html of [
    "text",
    "<img src=x>",
    "<script src=x></script>",
    "<script>go()</script>",
    "<form></form>",
    "<iframe src=x></iframe>",
    "<svg></svg>",
    "<meta http-equiv=refresh content='0;url=/x'>",
  ])
    expect([html, read(html).hasContent]).toEqual([html, true])
  for (const html of [
    "",
    "<p> &nbsp; </p>",
    "<title>x</title>",
    "<style>p{}</style>",
    "<noscript><img src=x></noscript>",
    "<a href=/x></a>",
    "<script></script>",
    "<!--x-->",
  ])
    expect([html, read(html).hasContent]).toEqual([html, false])
})

test("a long page is truncated", () => {
  const { blocks, isTruncated } = read(`<p>${"word ".repeat(3_000)}</p><p>${"more ".repeat(3_000)}</p>`)
  expect(isTruncated).toBe(true)
  expect(blocks.join(" ").length).toBeLessThanOrEqual(16_384)
  expect(read(`<p>${"x".repeat(16_000)}</p>`).isTruncated).toBe(false)
  expect(read("<a href=/x>x</a>".repeat(1000)).linkUrls).toHaveLength(200)
})

test("a page with too many elements is truncated, and its beginning is read", () => {
  for (const many of ["<p>", "<a href=/x>", "<script></script>", "<br>", "<input>"]) {
    const { title, blocks, isTruncated } = read(`<title>Acme</title><h1>Pumps</h1>${many.repeat(10_001)}<p>the end`)
    expect([many, title, blocks, isTruncated]).toEqual([many, "acme", ["pumps"], true])
  }
  expect(read("<p>".repeat(10_000)).isTruncated).toBe(false)
  expect(read("<br>".repeat(10_000)).isTruncated).toBe(false)
})

test("a page with too many pieces of text is truncated too", () => {
  expect(read("x<b></b>".repeat(10_000)).isTruncated).toBe(false)
  expect(read("x<b></b>".repeat(10_001)).isTruncated).toBe(true)
})

test("tags that are never closed or never opened, and pages of nothing but attributes or comments, cost no more than others", () => {
  // A parser with a stack of open elements takes minutes for these.
  for (const hostile of [
    "<b>".repeat(9_000) + "</i>".repeat(45_000),
    "<div>".repeat(9_000) + "</p></i>".repeat(20_000),
    "<table><tr><td>".repeat(3_000) + "</svg>".repeat(40_000),
    `<p ${"a=1 ".repeat(50_000)}>`,
    "<!---->".repeat(50_000),
    `<script>${"</scrip".repeat(50_000)}</script>`,
    "<svg><title>".repeat(4_000),
    `<p>a${"\u0316\u0300".repeat(100_000)}`,
  ]) {
    const { title, blocks } = read(`<title>Acme</title><h1>Pumps</h1>${hostile}`)
    expect([title, blocks[0]]).toEqual(["acme", "pumps"])
  }
}, 20_000)

test("a page with too many tags, attributes or comments is truncated", () => {
  for (const many of ["</i>", "<!---->", "<?x>"]) {
    expect(read(many.repeat(50_000)).isTruncated).toBe(false)
    expect(read(many.repeat(60_001)).isTruncated).toBe(true)
  }
  expect(read(`<p ${"a ".repeat(60_001)}>`).isTruncated).toBe(true)
})

test("the first attribute of a name counts, and a self-closed SVG image hides nothing", () => {
  expect(read('<a href="/a" HREF="/b">').linkUrls).toEqual(["https://acme.com/a"])
  expect(read("<svg/><p>seen</p><noscript/>hidden").blocks).toEqual(["seen"])
})

test("no page makes the parser throw", () => {
  const piece = fc.constantFrom(
    "<p>",
    "</p>",
    "<script>",
    "</script>",
    "<title>",
    "<select>",
    "<xmp>",
    "<noframes>",
    "<svg>",
    "<!--",
    "-->",
    "<a href='",
    "&#xffffff;",
    "&#0;",
    "text",
    "<",
    "<template>",
    "<plaintext>",
    "<table><p>",
  )
  fc.assert(fc.property(fc.array(fc.oneof(piece, fc.string())), pieces => void read(pieces.join(""))))
})

test("a page is decoded in its character set, and in UTF-8 if that is missing or unknown", () => {
  const russian = Uint8Array.of(0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2)
  const meta = (label: string) => Buffer.concat([Buffer.from(`<meta charset="${label}">`), russian])
  expect(decodePage(russian, "text/html; charset=windows-1251")).toBe("Привет")
  expect(decodePage(meta("windows-1251"), "text/html")).toEndWith("Привет")
  expect(decodePage(meta("windows-1251"), 'text/html; charset="utf-8"')).not.toEndWith("Привет")
  expect(decodePage(Buffer.from("größe"), null)).toBe("größe")
  expect(decodePage(Buffer.from("größe"), "text/html; charset=nonsense")).toBe("größe")
  expect(decodePage(Uint8Array.of(0xff, 0xfe, 0x41, 0), "text/html; charset=utf-8")).toBe("A")
  expect(decodePage(Buffer.from("\ufeffgröße"), "text/html; charset=windows-1252")).toBe("größe")
})

test("whatever a page contains, what is kept of it is bounded", () => {
  for (const page of hostilePages(200, GUARDED_FETCH_BOUNDS.bodyBytesMax)) {
    const { title, blocks, destinationUrls, resourceUrls, linkUrls } = parsePage(page, "https://acme.com/")
    expect(title.length).toBeLessThanOrEqual(18 * 500)
    // A character may be folded into eighteen.
    expect(blocks.join("").length).toBeLessThanOrEqual(18 * 16_384)
    for (const urls of [destinationUrls, resourceUrls, linkUrls]) expect(urls.length).toBeLessThanOrEqual(500)
  }
})
