import { expect, test } from "bun:test"
import { htmlForm, operatorHtml } from "../../../../src/http/site/docs/html-form.tsx"
import {
  codeFence,
  codeSpan,
  escapeMarkdown,
  markdownTable,
  proseText,
} from "../../../../src/http/site/docs/inserts/markdown-text.ts"
import { HOSTILE, unescapeHtml } from "../../../support/open-site.ts"

const html = (markdown: string): string => htmlForm("Title", [{ markdown, html: null }], ["MAILKIND_PORT"])
const text = (markdown: string): string => unescapeHtml(html(markdown).replaceAll(/<[^>]*>/g, ""))

test("HTML in a page is text", () => {
  for (const source of [
    HOSTILE,
    `<img src=x onerror=alert(1)>`,
    `a <b>c</b>`,
    `<!-- x -->`,
    `![x](https://elsewhere.example/x.png)`,
  ]) {
    expect(html(source)).not.toMatch(/<(?:script|img|b|!--)/)
    expect(text(source)).toContain(source.slice(0, 3))
  }
})

test("an address in a text is no link", () => {
  for (const source of [
    "https://elsewhere.example/",
    "<https://elsewhere.example/>",
    "www.elsewhere.example",
    "jane@elsewhere.example",
  ])
    expect(html(source)).not.toContain("<a ")
})

test("a link leads to this server or nowhere", () => {
  expect(html("[x](/docs/errors#y)")).toContain('<a href="/docs/errors#y">x</a>')
  for (const target of [
    "javascript:alert(1)",
    "https://elsewhere.example/",
    "//elsewhere.example/",
    "data:text/html,x",
  ])
    expect(() => html(`[x](${target})`)).toThrow("leads to this server")
})

test("escaped text comes out as it went in, in a paragraph and in a cell", () => {
  for (const hostile of [HOSTILE, "a | b `c` *d* _e_ [f](g) \\ {#h} ~i~ &amp; # j", "**", "1 < 2 > 0"]) {
    expect(text(escapeMarkdown(hostile)).trim()).toBe(hostile)
    expect(text(markdownTable(["A", "B"], [["x", escapeMarkdown(hostile)]]))).toEndWith(`x${hostile}`)
  }
  expect(html(proseText("Set `a_b|c`, *not* <i>."))).toContain("Set <code>a_b|c</code>, *not* &lt;i&gt;.")
})

test("a block of code holds any text, also fences of its own", () => {
  const code = "```\n<b>&amp;</b>\n````\n{#x} {{y}}"
  const page = html(codeFence("sh", "A caption", code))
  expect(page).toContain("<figcaption>A caption</figcaption>")
  expect(unescapeHtml(/<code>(.*)<\/code>/s.exec(page)?.[1] ?? "")).toBe(code)
})

test("headings and rows have their ids, and a code in a heading links to itself", () => {
  expect(html("## `a_code` {#a_code}")).toContain(
    '<h2 id="a_code"><a class="anchor" href="#a_code"><code>a_code</code></a></h2>',
  )
  const table = html(markdownTable(["A", { head: "B", cells: "number" }], [[`${codeSpan("x")} {#row-x}`, "1"]]))
  expect(table).toContain(
    '<tr id="row-x"><th scope="row"><code>x</code></th><td class="number" data-label="B">1</td></tr>',
  )
  expect(() => html("## Without an id")).toThrow("has an id")
})

test("the first paragraph is the lead, a setting links to its row, a recommendation is drawn, terms are terms", () => {
  expect(html("One.\n\nTwo.")).toBe('<p class="lead">One.</p><p>Two.</p>')
  expect(html("`MAILKIND_PORT` `MAILKIND_OTHER`")).toContain(
    '<a href="/docs/settings#MAILKIND_PORT"><code>MAILKIND_PORT</code></a> <code>MAILKIND_OTHER</code>',
  )
  expect(html("| A | B |\n| --- | --- |\n| x | block |")).toContain('<span class="pill block">block</span>')
  expect(html("- **A:** one\n- **B:** two")).toBe(
    '<dl class="facts terms"><dt>A</dt><dd>one</dd><dt>B</dt><dd>two</dd></dl>',
  )
  expect(html("- **A** one\n- two")).toStartWith("<ul><li>")
})

test("a short option, and a short command with one, do not break after a hyphen", () => {
  expect(html("Use `--key-file F`, `check --offline` or `key`.")).toContain(
    'Use <code class="option">--key-file F</code>, <code class="option">check --offline</code> or <code>key</code>.',
  )
  const long = `--${"a-".repeat(20)}b`
  expect(html(`\`${long}\``)).toContain(`<code>${long}</code>`)
})

test("a table is named after its heading, and no two of a section alike", () => {
  const table = "| A |\n| --- |\n| x |"
  const page = html(`${table}\n\n## One {#one}\n\n${table}\n\n${table}\n\n## Two {#two}\n\n${table}`)
  expect([...page.matchAll(/aria-label="([^"]*)"/g)].map(([, label]) => label)).toEqual([
    "Table: Title",
    "Table: One",
    "Table: One (2)",
    "Table: Two",
  ])
})

test("a table below a line in bold is folded, and a row with a first cell alone begins a part", () => {
  const page = html("**Rules**\n\n| A | B |\n| --- | --- |\n| **Part** {#part} | |\n| x | y |")
  expect(page).toStartWith('<details><summary>Rules <span class="type">2</span></summary>')
  expect(page).toContain('<tr id="part"><th scope="rowgroup" colspan="2"><strong>Part</strong></th></tr>')
  const long = (part: string): string => `| A |\n| --- |\n${part}${"| x |\n".repeat(31)}`
  expect(html(long(""))).toContain("<summary>Show 31 as")
  expect(() => html("**Rules**\n\n## Next {#next}")).toThrow("a table follows the line in bold Rules")
  expect(html(`| A | B |\n| --- | --- |\n| **P** | |\n${"| x | y |\n".repeat(31)}`)).not.toContain("<details>")
})

test("a text of the operator is Markdown, without HTML, pictures and links to anything but the web and mails", () => {
  const text =
    "**Free**, [more](https://example.com/a?b&c) [x](javascript:alert(1)) <b>y</b> ![z](https://example.com/z)"
  expect(operatorHtml(text)).toBe(
    '<p><strong>Free</strong>, <a href="https://example.com/a?b&amp;c">more</a> x &lt;b&gt;y&lt;/b&gt; ![z](https://example.com/z)</p>\n',
  )
})
