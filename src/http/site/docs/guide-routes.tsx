/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { lazyPromise } from "../../../base/single-flight.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { mediaTypeWeights } from "../../request/accept.ts"
import { pathOf } from "../../request/request-url.ts"
import { acceptsGzip } from "../../response/compression.ts"
import { noSuchPath } from "../../response/problem-response.ts"
import { queryParameter } from "../links.ts"
import { type PageResponses, renderDocument } from "../page-responses.ts"
import { type GuideContentDeps, guidePages, guideSearchFile, type PageForms, searchPath } from "./guide-content.tsx"
import { GuideIndex } from "./guide-page.tsx"
import { llmsIndex, markdownPath } from "./llms.ts"
import type { SearchFile } from "./search-index.ts"

type GuideRoutesDeps = GuideContentDeps & { readonly pages: PageResponses }

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
    path: ROUTES.docsGuide.path,
    html: async () => renderDocument(<GuideIndex indexPath={searchPath(await search())} />, baseUrl()),
    markdown: async () => llmsIndex(baseUrl()),
  }
  const guide = guidePages(deps, search)
  const forms = [index, ...guide]
  const allMarkdown = async () => (await Promise.all(guide.map(({ markdown }) => markdown()))).join("\n")
  const app = new Elysia({ normalize: false })
    .get(ROUTES.llms.path, ({ request }) => pages.text(llmsIndex(baseUrl()), request, PLAIN))
    .get(ROUTES.llmsFull.path, async ({ request }) => pages.text(await allMarkdown(), request, PLAIN))
    .get(ROUTES.docsSearch.path, async ({ request }) => searchResponse(pages, await search(), request))
    // Elysia has no pattern for a part of a segment.
    .get("/docs/:page", async ({ request }) => {
      const page = forms.find(({ path }) => markdownPath(path) === pathOf(request))
      if (page === undefined) throw noSuchPath()
      return pages.text(await page.markdown(), request, MARKDOWN)
    })
  for (const { path, html, markdown } of forms)
    app.get(path, async ({ request }) =>
      acceptsMarkdown(request.headers.get("accept"))
        ? pages.text(await markdown(), request, MARKDOWN, VARIES)
        : pages.html(await html(request.url), request, { headers: VARIES }),
    )
  return app
}

/** The search index. Caches keep it for a year when the path names its version, and not at all when it names another one. */
function searchResponse(pages: PageResponses, { bytes, version }: SearchFile, request: Request): Response {
  const isCompressed = acceptsGzip(request.headers.get("accept-encoding"))
  const file = {
    mediaType: "application/json",
    bytes: isCompressed ? Bun.gzipSync(bytes) : bytes,
    encoding: isCompressed ? ("gzip" as const) : null,
  }
  const response = pages.asset(file, request)
  if (queryParameter(request.url, "v") !== version) response.headers.set("Cache-Control", "no-store")
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
