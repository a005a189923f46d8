import type { PageBlock } from "./inserts/insert.ts"

/** Where a page stands: the public base address of the server, and its path. */
export type PageAddress = { readonly baseUrl: string; readonly path: string }

/** A page as one Markdown text: with its title, absolute links, and without the ids that only the HTML form needs. */
export function markdownForm(title: string, blocks: readonly PageBlock[], address: PageAddress): string {
  const body = blocks
    .map(({ markdown }) => markdown.trim())
    .filter(markdown => markdown !== "")
    .join("\n\n")
  return `# ${title}\n\n${outsideCode(body, line => withAbsoluteLinks(withoutPadding(line.replace(ROW_OR_HEADING_ID, "$1")), address))}\n`
}

/** ` {#id}` at the end of a heading or of the first cell of a row. */
const ROW_OR_HEADING_ID = /^(#.*?|\| .*?) \{#[\w-]+\}(?= \||$)/

/** Changes the lines of a Markdown text that stand in no block of code. */
function outsideCode(text: string, change: (line: string) => string): string {
  let fence: string | null = null
  return text
    .split("\n")
    .map(line => {
      const mark = /^`{3,}/.exec(line)?.[0]
      if (fence !== null) {
        if (line === fence) fence = null
        return line
      }
      if (mark !== undefined) fence = mark
      return fence === null ? change(line) : line
    })
    .join("\n")
}

/** A row of a table without the spaces and hyphens that only align its columns in the source. */
const withoutPadding = (line: string): string =>
  line.startsWith("|") ? line.replace(/ {2,}/g, " ").replace(/-{4,}/g, "---") : line

const withAbsoluteLinks = (line: string, { baseUrl, path }: PageAddress): string =>
  line.replaceAll("](/", `](${baseUrl}/`).replace(/\]\((?=[#?])/g, `](${baseUrl}${path}`)
