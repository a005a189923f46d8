/** @jsxImportSource preact */
import { lazyPromise } from "../../../base/single-flight.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Assets } from "../assets.ts"
import { renderDocument } from "../page-responses.ts"
import { lookupInUrl } from "../public/domain-lookup.tsx"
import type { ListsOverview } from "../public/lists-overview.tsx"
import { MARKDOWN_GUIDE_PAGES, type MarkdownGuidePage } from "./guide.ts"
import type { GuideFacts } from "./guide-facts.ts"
import { GuidePage } from "./guide-page.tsx"
import { htmlForm, innerHtml } from "./html-form.tsx"
import type { ListsFacts, OperatorFiles, PageFacts } from "./inserts/insert.ts"
import { licensedPart } from "./inserts/licence-inserts.tsx"
import { markdownForm } from "./markdown-form.ts"
import { expandPage } from "./page-blocks.ts"

/** A page in its two forms. */
export type PageForms = {
  readonly path: string
  /** The complete HTML for a URL of the page. */
  readonly html: (url: string) => Promise<string>
  readonly markdown: () => Promise<string>
}

/** What the guide's content is made from. */
export type GuideContentDeps = {
  readonly files: Pick<Assets, "path">
  /** The public base address; read late, since the port may be picked at the start. */
  readonly baseUrl: () => string
  readonly testDomain: string
  readonly guide: GuideFacts
  /** The lists in use, read for each request, so that a refresh shows at once. */
  readonly lists: () => ListsOverview
}

/**
 * The pages of the guide that are made from Markdown. Each is rendered once, when it is first requested; what depends on the
 * lists in use or on the query of a URL is rendered for each request.
 */
export function guidePages(deps: GuideContentDeps): readonly PageForms[] {
  const inventory = lazyPromise(deps.guide.inventory)
  const cachedDeps = { ...deps, guide: { ...deps.guide, inventory } }
  return MARKDOWN_GUIDE_PAGES.map(page => {
    const { path } = ROUTES[page.route]
    const html = async (url: string) => pageHtml(page, await pageFacts(page, url, cachedDeps))
    const markdown = async () => pageMarkdown(page, await pageFacts(page, path, cachedDeps))
    if (page.route === "docsLists") return { path, html, markdown }
    const cachedHtml = lazyPromise(() => html(path))
    const isForUrl = (url: string): boolean => page.route === "docsLicences" && url.includes("?")
    return { path, html: url => (isForUrl(url) ? html(url) : cachedHtml()), markdown: lazyPromise(markdown) }
  })
}

const pageMarkdown = (page: MarkdownGuidePage, facts: PageFacts): string =>
  markdownForm(page.title, expandPage(page.text, facts), { baseUrl: facts.baseUrl, path: ROUTES[page.route].path })

function pageHtml(page: MarkdownGuidePage, facts: PageFacts): string {
  const settings = facts.settings.map(({ name }) => name)
  const content = htmlForm(page.title, expandPage(page.text, facts), settings)
  return renderDocument(
    <GuidePage route={page.route}>
      <div {...innerHtml(content)} />
    </GuidePage>,
    facts.baseUrl,
  )
}

async function pageFacts({ route }: MarkdownGuidePage, url: string, deps: GuideContentDeps): Promise<PageFacts> {
  const { guide, testDomain } = deps
  const { checkTimeoutMs, tiers, settings, examinations } = guide
  const inventory = route === "docsLicences" ? await guide.inventory() : null
  return {
    ...{ checkTimeoutMs, tiers, settings, examinations, testDomain, inventory },
    baseUrl: deps.baseUrl(),
    operatorFiles: route === "docsSelfHosting" ? await readOperatorFiles(deps) : null,
    licensedPart: inventory === null ? null : licensedPart(url, inventory),
    lists: route === "docsLists" ? readLists(url, deps) : null,
  }
}

function readLists(url: string, { lists }: GuideContentDeps): ListsFacts {
  const overview = lists()
  return { overview, lookup: lookupInUrl(url, overview.lookUpDomain) }
}

const readOperatorFiles = async ({ files, guide }: GuideContentDeps): Promise<OperatorFiles> => ({
  deploy: await guide.deployFiles(),
  dashboardPath: await files.path("grafana-dashboard.json"),
  alertsPath: await files.path("prometheus-alerts.yml"),
})
