/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { ROUTES } from "../../../contract/routes.ts"
import { mediaTypeWeights } from "../../request/accept.ts"
import { pathOf } from "../../request/request-url.ts"
import { noSuchPath } from "../../response/problem-response.ts"
import { type PageResponses, renderDocument } from "../page-responses.ts"
import { type GuideContentDeps, guidePages, type PageForms } from "./guide-content.tsx"
import { GuideIndex } from "./guide-page.tsx"
import { llmsIndex, markdownPath } from "./llms.ts"

type GuideRoutesDeps = GuideContentDeps & { readonly pages: PageResponses }

const MARKDOWN = "text/markdown; charset=utf-8"
const PLAIN = "text/plain; charset=utf-8"

/**
 * The pages of the guide. A page's own path gives HTML, or Markdown where `Accept` asks for it; the path with `.md` gives
 * Markdown. No page has a script.
 */
export function guideRoutes(deps: GuideRoutesDeps) {
  const { pages, baseUrl } = deps
  const index: PageForms = {
    path: ROUTES.docsGuide.path,
    html: async () => renderDocument(<GuideIndex />, baseUrl()),
    markdown: async () => llmsIndex(baseUrl()),
  }
  const guide = guidePages(deps)
  const forms = [index, ...guide]
  const allMarkdown = async () => (await Promise.all(guide.map(({ markdown }) => markdown()))).join("\n")
  const app = new Elysia({ normalize: false })
    .get(ROUTES.llms.path, ({ request }) => pages.text(llmsIndex(baseUrl()), request, PLAIN))
    .get(ROUTES.llmsFull.path, async ({ request }) => pages.text(await allMarkdown(), request, PLAIN))
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
