import { assert } from "../../../../base/errors.ts"
import { pageTitle } from "../guide.ts"

/** Text as inline code. It must not hold a backtick. */
export function codeSpan(text: string): string {
  assert(!text.includes("`"), "inline code holds no backtick")
  return `\`${text}\``
}

/** Text with every character escaped that Markdown could read as markup. */
export const escapeMarkdown = (text: string): string => text.replace(/[\\`*_{}[\]<>|~&#]/g, "\\$&").replace(/\s+/g, " ")

/** A sentence of a contract table: what stands between backticks is code, a path of the guide a link, everything else is plain text. */
export const proseText = (text: string): string =>
  text
    .split(/(`[^`]*`|\/docs\/[a-z][a-z-]+(?:#[a-z-]+)?)/)
    .map((part, index) =>
      index % 2 === 0 ? escapeMarkdown(part) : part.startsWith("`") ? part : linkTo(pageTitle(part), part),
    )
    .join("")

/** A link to a path of this server. */
export const linkTo = (text: string, path: string): string => `[${text}](${path})`

/** A column of a table: its head, and how its cells are set. `choice` columns hold one word each and are equally wide. */
export type MarkdownColumn = string | { readonly head: string; readonly cells: "number" | "choice" }

/** A table. Cells are inline Markdown; a cell that ends in ` {#id}` gives its row that id. */
export function markdownTable(columns: readonly MarkdownColumn[], rows: readonly (readonly string[])[]): string {
  const heads = columns.map(column => (typeof column === "string" ? column : column.head))
  const rules = columns.map(column => (typeof column === "string" ? "---" : RULES[column.cells]))
  return [heads, rules, ...rows.map(cells => cells.map(tableCell))].map(cells => `| ${cells.join(" | ")} |`).join("\n")
}

/** A table of names with what each means. */
export const nameTable = (
  columns: readonly [name: string, meaning: string],
  rows: readonly { readonly name: string; readonly description: string }[],
): string =>
  markdownTable(
    columns,
    rows.map(({ name, description }) => [codeSpan(name), proseText(description)]),
  )

const RULES = { number: "--:", choice: ":-:" } as const

const tableCell = (text: string): string => text.replace(/(?<!\\)\|/g, "\\|").replace(/\s*\n\s*/g, " ")

/** A block of code. `caption` stands above it on the page. */
export function codeFence(language: string, caption: string, code: string): string {
  const longest = [...code.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2)
  const fence = "`".repeat(longest + 1)
  return `${fence}${language} ${caption}\n${code}\n${fence}`
}

/** A list of terms, each with what it means; the page draws it as such. */
export const termList = (terms: readonly (readonly [term: string, meaning: string])[]): string =>
  terms.map(([term, meaning]) => `- **${term}:** ${meaning}`).join("\n")
