/** @jsxImportSource preact */
import type { Renderer, Tokens } from "marked"
import type { VNode } from "preact"
import { render } from "preact-render-to-string"
import { assert } from "../../../base/errors.ts"
import { RECOMMENDATIONS } from "../../../contract/policies.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { CodeBlock, RecommendationBadge } from "../ui/layout.tsx"
import { Table } from "../ui/table.tsx"
import type { PageBlock } from "./inserts/insert.ts"

/** Props that fill an element with HTML of this renderer, which escapes all text. */
export const innerHtml = (html: string) => ({ dangerouslySetInnerHTML: { __html: html } })

/**
 * The content of a page below its title, as HTML. On top of GitHub's Markdown:
 * - The first paragraph is the lead.
 * - `## Heading {#id}` has that id, and so has the row of a table whose first cell ends in `{#id}`.
 * - The first word after a code fence is its language, the rest is its caption.
 * - A list whose items all begin with `**Term:**` is a list of terms.
 * - A table is named after the heading above it, and a long one is folded. A row of which only the first cell has text begins a part.
 * - A table below a line in bold is folded under that line.
 * - The name of a setting links to its row, and a cell that is a recommendation is drawn as one.
 * - The title of a link is the name under which the browser saves the file.
 * HTML in the source is shown as text.
 */
export function htmlForm(title: string, blocks: readonly PageBlock[], settings: readonly string[]): string {
  const { Marked } = require("marked") as typeof import("marked")
  const marked = new Marked({ gfm: true, renderer: pageRenderer(title, new Set(settings)), tokenizer: NO_AUTOLINKS })
  return blocks
    .map(({ markdown, html }) => (html === null ? marked.parse(markdown, { async: false }) : render(html)))
    .join("")
}

/** A Markdown text of the operator as HTML. HTML and pictures in it are shown as text, and only web and mail addresses are links. */
export function operatorHtml(markdown: string): string {
  const { Marked } = require("marked") as typeof import("marked")
  const renderer: PageRenderer = {
    html: ({ text }) => escapeHtml(text),
    image: ({ raw }) => escapeHtml(raw),
    table(token) {
      return render(tableElement(token, "Plans", this as Renderer))
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      return OPERATOR_LINK.test(href) ? `<a href="${escapeHtml(href)}">${text}</a>` : text
    },
  }
  return new Marked({ gfm: true, renderer, tokenizer: NO_AUTOLINKS }).parse(markdown, { async: false })
}

const OPERATOR_LINK = /^(?:https?:\/\/|mailto:|\/(?!\/))/

/** The sections of a page's content, which begin with its headings of the second level: the id, and the heading as HTML without links. */
export const sectionsIn = (content: string): readonly { readonly id: string; readonly html: string }[] =>
  [...content.matchAll(/<h2 id="([^"]+)"[^>]*>(.*?)<\/h2>/gs)].map(([, id = "", html = ""]) => ({
    id,
    html: withoutLinks(html),
  }))

/** Longer code may break after a hyphen at the end of a line: a small screen has no room for it. */
const UNBROKEN_LENGTH_MAX = 26

/** A cell that has no value. */
const NO_VALUE = "–"

/** A table of more rows is folded, unless its rows stand in parts. */
const OPEN_ROWS_MAX = 30

/** An address in a text is no link: it may come from elsewhere. */
const NO_AUTOLINKS = { url: () => undefined, autolink: () => undefined }

type PageRenderer = Partial<Omit<Renderer, "constructor" | "options" | "parser">> & ThisType<Renderer>

const pageRenderer = (title: string, settings: ReadonlySet<string>): PageRenderer => ({
  ...blockRenderer(title),
  ...inlineRenderer(settings),
})

function blockRenderer(title: string): PageRenderer {
  let section = title
  let tablesOfSection = 0
  let isLead = true
  let fold: string | null = null
  return {
    heading({ tokens, depth }) {
      assert(fold === null, `a table follows the line in bold ${fold}`)
      const { html, id } = withId(this.parser.parseInline(tokens))
      assert(id !== null, `the heading ${html} has an id`)
      section = plainText(html)
      tablesOfSection = 0
      return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${withoutLinks(html)}</a></h${depth}>`
    },
    paragraph({ tokens }) {
      if (tokens.length === 1 && tokens[0]?.type === "strong") {
        fold = plainText(this.parser.parseInline(tokens))
        return ""
      }
      const open = isLead ? '<p class="lead">' : "<p>"
      isLead = false
      return `${open}${this.parser.parseInline(tokens)}</p>`
    },
    list(token) {
      return termListHtml(token, this) ?? plainListHtml(token, this)
    },
    table(token) {
      tablesOfSection += 1
      const named = fold
      fold = null
      const table = tableElement(
        token,
        named ?? (tablesOfSection === 1 ? section : `${section} (${tablesOfSection})`),
        this,
      )
      const count = token.rows.length
      if (named !== null) return render(folded(named, count, table))
      if (count <= OPEN_ROWS_MAX || token.rows.some(isPart)) return render(table)
      return render(folded(`Show ${count} ${token.header[0]?.text.toLowerCase()}s`, null, table))
    },
    code({ text, lang = "" }) {
      const [language, ...caption] = lang.split(/\s+/)
      return render(<CodeBlock caption={caption.join(" ")} code={text} language={language} />)
    },
    html: ({ text }) => escapeHtml(text),
  }
}

function tableElement({ header, rows }: Tokens.Table, caption: string, renderer: Renderer): VNode {
  const columns = header.map(({ tokens }) => plainText(renderer.parser.parseInline(tokens)))
  return (
    <Table caption={caption} columns={columns} numbers={columns.filter((_, at) => header[at]?.align === "right")}>
      {rows.map((cells, index) => {
        const { id, html } = tableRow(cells, columns, renderer)
        return <tr key={index} {...(id === null ? {} : { id })} {...innerHtml(html)} />
      })}
    </Table>
  )
}

const folded = (summary: string, count: number | null, content: VNode): VNode => (
  <details>
    <summary>
      {summary} {count === null ? null : <span class="type">{count}</span>}
    </summary>
    {content}
  </details>
)

const inlineRenderer = (settings: ReadonlySet<string>): PageRenderer => ({
  codespan: ({ text }) => {
    const isUnbroken = /[-?]/.test(text) && text.length <= UNBROKEN_LENGTH_MAX
    const code = `<code${isUnbroken ? ' class="option"' : ""}>${escapeHtml(text)}</code>`
    return settings.has(text) ? `<a href="${ROUTES.docsSettings.path}#${text}">${code}</a>` : code
  },
  link({ href, title, tokens }) {
    assert(/^[/#?](?!\/)/.test(href), `the link ${href} leads to this server`)
    const saved = title ? ` download="${escapeHtml(title)}"` : ""
    return `<a href="${escapeHtml(href)}"${saved}>${withoutLinks(this.parser.parseInline(tokens))}</a>`
  },
  text(token) {
    return "tokens" in token && token.tokens !== undefined
      ? this.parser.parseInline(token.tokens)
      : escapeHtml(token.text)
  },
  image: ({ raw }) => escapeHtml(raw),
})

const isPart = ([, ...rest]: readonly Tokens.TableCell[]): boolean =>
  rest.length > 0 && rest.every(({ text }) => text === "")

function tableRow(cells: readonly Tokens.TableCell[], columns: readonly string[], { parser }: Renderer) {
  const [first = "", ...rest] = cells.map(({ tokens }) => parser.parseInline(tokens))
  const { html, id } = withId(first)
  if (isPart(cells)) return { id, html: `<th scope="rowgroup" colspan="${columns.length}">${html}</th>` }
  const tail = rest.map(
    (text, index) =>
      `<td${classOf(cells[index + 1])} data-label="${escapeHtml(columns[index + 1] ?? "")}">${text === NO_VALUE ? "" : adviceOr(text)}</td>`,
  )
  return { id, html: `<th scope="row">${html}</th>${tail.join("")}` }
}

/** A list of terms, as HTML has it; null: it is a list of another kind. */
function termListHtml(token: Tokens.List, { parser }: Renderer): string | null {
  const terms = token.ordered ? null : termsOf(token)
  if (terms === null) return null
  const rows = terms.map(([term, meaning]) => {
    const name = parser.parseInline(term).replace(/:$/, "")
    return `<dt>${name}</dt><dd>${parser.parseInline(meaning).trim()}</dd>`
  })
  return `<dl class="facts terms">${rows.join("")}</dl>`
}

function plainListHtml({ ordered, items }: Tokens.List, { parser }: Renderer): string {
  const tag = ordered ? "ol" : "ul"
  return `<${tag}>${items.map(({ tokens }) => `<li>${parser.parse(tokens)}</li>`).join("")}</${tag}>`
}

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const plainText = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")

/** Inline HTML and the id that stood behind it as ` {#id}`. */
function withId(html: string): { readonly html: string; readonly id: string | null } {
  const [, before, id] = /^(.*) \{#([\w-]+)\}$/s.exec(html) ?? []
  return before === undefined || id === undefined ? { html, id: null } : { html: before, id }
}

/** A setting's name within a link leads where the link does. */
const withoutLinks = (html: string): string => html.replaceAll(/<\/?a\b[^>]*>/g, "")

const CLASSES: Readonly<Record<string, string>> = { right: ' class="number"', center: ' class="choice"' }

const classOf = (cell: Tokens.TableCell | undefined): string => CLASSES[cell?.align ?? ""] ?? ""

const adviceOr = (html: string): string => {
  const recommendation = RECOMMENDATIONS.find(own => own === html)
  return recommendation === undefined ? html : render(<RecommendationBadge recommendation={recommendation} />)
}

/** The terms of a list whose items all begin with a bold term and a colon; null: it is a list of another kind. */
function termsOf({ items }: Tokens.List): readonly (readonly [Tokens.Generic[], Tokens.Generic[]])[] | null {
  const terms = items.map(item => {
    const [term, ...meaning] = item.tokens[0]?.type === "text" ? (item.tokens[0].tokens ?? []) : []
    return term?.type === "strong" && term.text.endsWith(":") ? ([term.tokens ?? [], meaning] as const) : null
  })
  return terms.every(term => term !== null) ? terms : null
}
