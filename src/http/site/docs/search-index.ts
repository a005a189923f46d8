import { fingerprint } from "../../../base/fingerprint.ts"
import { lazy } from "../../../base/lazy.ts"

/** A page of the guide whose text can be found: its Markdown source with every insert in place. */
export type SearchablePage = { readonly path: string; readonly title: string; readonly markdown: string }

/**
 * What `browser/search.js` reads: the paths and titles of all pages, and their sections. A section has the number of its page, the
 * id of its heading or row (empty: the beginning of the page), its heading, and its words without code and markup.
 */
export type SearchIndex = {
  readonly pages: readonly (readonly [path: string, title: string])[]
  readonly sections: readonly (readonly [page: number, id: string, heading: string, text: string])[]
}

/** The index as a file, with a version that changes when its content does. */
export type SearchFile = {
  readonly version: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** With gzip, made at the first call, which takes 18 ms for a twentieth less than the usual 2 ms give. */
  readonly compressed: () => Uint8Array<ArrayBuffer>
}

/** Builds the index of all pages. */
export function searchFile(pages: readonly SearchablePage[]): SearchFile {
  const index: SearchIndex = {
    pages: pages.map(({ path, title }) => [path, title]),
    sections: pages.flatMap((page, number) => sectionsOf(page).map(section => [number, ...section] as const)),
  }
  const bytes = new Uint8Array(Buffer.from(JSON.stringify(index)))
  const compressed = lazy(() => Bun.gzipSync(bytes, { library: "libdeflate", level: 12 }))
  return { version: fingerprint(bytes), bytes, compressed }
}

type Section = readonly [id: string, heading: string, text: string]

const HEADING = /^#{2,6} (.*?) \{#([\w-]+)\}$/
const ROW = /^\| (.*?) \{#([\w-]+)\} *\|(.*)$/

/** The sections of a page. Each heading with an id begins one; a row of a table with an id is one of its own. */
function sectionsOf({ title, markdown }: SearchablePage): readonly Section[] {
  let current: { id: string; heading: string; lines: string[] } = { id: "", heading: title, lines: [] }
  const sections = [current]
  for (const line of withoutCodeBlocks(markdown).split("\n")) {
    const [, heading, headingId] = HEADING.exec(line) ?? []
    const [, name, rowId, cells = ""] = ROW.exec(line) ?? []
    if (heading !== undefined && headingId !== undefined) {
      current = { id: headingId, heading, lines: [] }
      sections.push(current)
    } else if (name !== undefined && rowId !== undefined) sections.push({ id: rowId, heading: name, lines: [cells] })
    else current.lines.push(line)
  }
  return sections.map(({ id, heading, lines }) => [id, plainWords(heading), plainWords(lines.join(" "))])
}

const withoutCodeBlocks = (markdown: string): string => markdown.replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, "")

/** A text without the marks of Markdown. */
const plainWords = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`|]|\*\*|^#+ |-{3,}:?|:-{2,}/gm, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
