import { seeded } from "../../bench/load/seeded-random.ts"

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
export function hostilePages(count: number, bytes: number, seed = 1): readonly string[] {
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
