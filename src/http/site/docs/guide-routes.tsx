/** @jsxImportSource preact */
import { lazyPromise } from "../../../base/single-flight.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Exchange } from "../../exchange.ts"
import { mediaTypeWeights } from "../../request/accept.ts"
import { pathOf } from "../../request/request-url.ts"
import { acceptsGzip } from "../../response/compression.ts"
import { noSuchPath } from "../../response/problem-response.ts"
import { type Handlers, handlers } from "../../router.ts"
import type { Guards } from "../guards.ts"
import { queryParameter } from "../links.ts"
import type { PageResponses } from "../page-responses.ts"
import type { MarkdownGuideRoute } from "./guide.ts"
import { type GuideContentDeps, guidePages, guideSearchFile, type PageForms, searchPath } from "./guide-content.tsx"
import { GuideIndex } from "./guide-page.tsx"
import { llmsIndex, markdownPath } from "./llms.ts"
import type { SearchFile } from "./search-index.ts"

type GuideRoutesDeps = GuideContentDeps & {
  readonly pages: PageResponses
  readonly guards: Pick<Guards, "allowAnonymous">
}

const MARKDOWN = "text/markdown; charset=utf-8"
const PLAIN = "text/plain; charset=utf-8"

/**
 * The pages of the guide. A page's own path gives HTML, or Markdown where `Accept` asks for it; the path with `.md` gives
 * Markdown. Every page can search all of them in the browser.
 */
export function guideRoutes(deps: GuideRoutesDeps) {
  const { pages, baseUrl } = deps
  const search = lazyPromise(() => guideSearchFile(deps))
  const index: PageForms = {
    route: "docsGuide",
    html: async () => pages.document(<GuideIndex indexPath={searchPath(await search())} />),
    markdown: async () => llmsIndex(baseUrl()),
  }
  const guide = guidePages(deps, search)
  const forms = [index, ...guide]
  // The licences help nobody who reads the guide as one text.
  const read = guide.filter(({ route }) => route !== "docsLicences")
  const allMarkdown = async () => (await Promise.all(read.map(({ markdown }) => markdown()))).join("\n")
  const serveForms =
    ({ html, markdown }: PageForms) =>
    (exchange: Exchange): Promise<Response> =>
      deps.guards.allowAnonymous(exchange, async () =>
        acceptsMarkdown(exchange.request.headers.get("accept"))
          ? pages.text(await markdown(), exchange, MARKDOWN, VARIES)
          : pages.html(await html(exchange.request.url), exchange, { headers: VARIES }),
      )
  const ofPages = guide.map(page => [page.route, serveForms(page)] as const)
  return handlers({
    ...(Object.fromEntries(ofPages) as Handlers<MarkdownGuideRoute>), // one for each page
    docsGuide: serveForms(index),
    llms: exchange => pages.text(llmsIndex(baseUrl()), exchange, PLAIN),
    llmsFull: async exchange => pages.text(await allMarkdown(), exchange, PLAIN),
    docsSearch: async exchange => searchResponse(pages, await search(), exchange),
    docsMarkdown: async exchange => {
      const page = forms.find(({ route }) => markdownPath(ROUTES[route].path) === pathOf(exchange.request))
      if (page === undefined) throw noSuchPath()
      return pages.text(await page.markdown(), exchange, MARKDOWN)
    },
  })
}

/** The search index. Caches keep it for a year when the path names its version, and not at all when it names another one. */
function searchResponse(
  pages: PageResponses,
  { bytes, compressed, version }: SearchFile,
  exchange: Exchange,
): Response {
  const isCompressed = acceptsGzip(exchange.request.headers.get("accept-encoding"))
  const file = {
    mediaType: "application/json",
    bytes: isCompressed ? compressed() : bytes,
    encoding: isCompressed ? ("gzip" as const) : null,
  }
  const response = pages.asset(file, exchange)
  if (queryParameter(exchange.request.url, "v") !== version) response.headers.set("Cache-Control", "no-store")
  return response
}

const VARIES = { Vary: "Accept" } as const

/**
 * Whether `Accept` (RFC 9110 §12.5.1) asks for Markdown rather than HTML: it names `text/markdown`, with a weight that is not
 * below that of `text/html`. A range such as `*` names neither, so browsers get HTML.
 */
export function acceptsMarkdown(accept: string | null): boolean {
  const weights = mediaTypeWeights(accept)
  const markdown = weights.get("text/markdown") ?? 0
  return markdown > 0 && markdown >= (weights.get("text/html") ?? 0)
}
