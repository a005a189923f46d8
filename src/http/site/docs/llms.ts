import { ROUTES } from "../../../contract/routes.ts"
import { GUIDE, type GuideEntry } from "./guide.ts"

/** The path of a page's Markdown form. */
export const markdownPath = (path: string): string => `${path}.md`

const ABOUT =
  "mailkind checks an email address, a domain or a website URL: business, personal, disposable, relay, education, government, invalid or unknown. Its JSON API gives a confidence, a recommendation and reasons."

/** The index of the guide after llmstxt.org: each page's Markdown form with its description. */
export function llmsIndex(baseUrl: string): string {
  const parts = GUIDE.map(({ part, pages }) => `## ${part}\n\n${pages.map(page => entry(page, baseUrl)).join("\n")}`)
  return [
    `# mailkind`,
    `> ${ABOUT}`,
    `All pages in one text: [llms-full.txt](${baseUrl}${ROUTES.llmsFull.path})`,
    ...parts,
  ]
    .join("\n\n")
    .concat("\n")
}

function entry({ route, title, text }: GuideEntry, baseUrl: string): string {
  const { path, description } = ROUTES[route]
  // The API reference has a machine-readable form of its own.
  const target = text === null ? ROUTES.openapi.path : markdownPath(path)
  return `- [${title}](${baseUrl}${target}): ${description}`
}
