/** @jsxImportSource preact */

import { derived } from "../../../base/lazy.ts"
import { lazyPromise } from "../../../base/single-flight.ts"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { openapiDocument } from "../../openapi/openapi-document.ts"
import { exampleDomain } from "../../response/example-responses.ts"
import type { Assets } from "../assets.ts"
import { withQuery } from "../links.ts"
import type { PageResponses } from "../page-responses.ts"
import { lookupInUrl } from "../public/domain-lookup.tsx"
import type { ListsOverview } from "../public/lists-overview.tsx"
import { operationGroups } from "../reference/operations.ts"
import { MARKDOWN_GUIDE_PAGES, type MarkdownGuidePage, type MarkdownGuideRoute } from "./guide.ts"
import type { GuideFacts } from "./guide-facts.ts"
import { GuidePage } from "./guide-page.tsx"
import { htmlForm } from "./html-form.tsx"
import type { ListsFacts, OperatorFiles, PageFacts } from "./inserts/insert.ts"
import { licensedPart } from "./inserts/licence-inserts.tsx"
import { markdownForm } from "./markdown-form.ts"
import { expandPage, withoutInserts } from "./page-blocks.ts"
import { type SearchablePage, type SearchFile, searchFile } from "./search-index.ts"

/** A page in its two forms. */
export type PageForms<R extends RouteId = RouteId> = {
  readonly route: R
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
  readonly securityContacts: readonly string[]
  /** What the operator says about prices, in Markdown. Null: nothing. */
  readonly pricing: string | null
  readonly pages: Pick<PageResponses, "document">
  readonly guide: GuideFacts
  /** The lists in use, read for each request, so that a refresh shows at once. */
  readonly lists: () => ListsOverview
}

/** The path of the search index. It holds the version, so that caches may keep the file. */
export const searchPath = ({ version }: SearchFile): string => withQuery(ROUTES.docsSearch.path, { v: version })

/**
 * The pages of the guide that are made from Markdown. Each is rendered when it is first requested, and again when limits have changed; what depends on the
 * lists in use or on the query of a URL is rendered for each request.
 */
export function guidePages(
  deps: GuideContentDeps,
  search: () => Promise<SearchFile>,
): readonly PageForms<MarkdownGuideRoute>[] {
  const { pages } = deps
  const inventory = lazyPromise(deps.guide.inventory)
  const cachedDeps = { ...deps, guide: { ...deps.guide, inventory } }
  return MARKDOWN_GUIDE_PAGES.map(page => {
    const { route } = page
    const { path } = ROUTES[route]
    const html = async (url: string) =>
      pages.document(guidePage(page, await pageFacts(page, url, cachedDeps), searchPath(await search())))
    const markdown = async () => pageMarkdown(page, await pageFacts(page, path, cachedDeps))
    if (route === "docsLists") return { route, html, markdown }
    const cachedHtml = derived(deps.guide.tiers, () => lazyPromise(() => html(path)))
    const cachedMarkdown = derived(deps.guide.tiers, () => lazyPromise(markdown))
    const isForUrl = (url: string): boolean => route === "docsLicences" && url.includes("?")
    return { route, html: url => (isForUrl(url) ? html(url) : cachedHtml()()), markdown: () => cachedMarkdown()() }
  })
}

const pageMarkdown = (page: MarkdownGuidePage, facts: PageFacts): string =>
  markdownForm(page.title, expandPage(page.text, facts), { baseUrl: facts.baseUrl, path: ROUTES[page.route].path })

/** The file of the search. It is the same in every process: what differs in lists and files of one server is not in it. */
export async function guideSearchFile(deps: GuideContentDeps): Promise<SearchFile> {
  const pages = MARKDOWN_GUIDE_PAGES.map(page => {
    // The parts of the program are many, and their names say little.
    const text = page.route === "docsLicences" ? withoutInserts(page.text) : page.text
    const blocks = expandPage(text, { ...commonFacts(deps), ...NO_LIVE_FACTS })
    return {
      path: ROUTES[page.route].path,
      title: page.title,
      markdown: blocks.map(({ markdown }) => markdown).join("\n\n"),
    }
  })
  return searchFile([...pages, ...operationPages(deps)])
}

/** The pages of the API reference: what each operation does, and what its request may have. */
function operationPages({ baseUrl, testDomain }: GuideContentDeps): readonly SearchablePage[] {
  const operations = operationGroups(openapiDocument(baseUrl(), exampleDomain(testDomain))).flatMap(
    group => group.operations,
  )
  return operations.map(({ page, summary, method, path, description, parameters }) => ({
    path: page,
    title: summary,
    markdown: [`${method} ${path}`, description, ...parameters.map(each => `${each.name}: ${each.description}`)].join(
      "\n\n",
    ),
  }))
}

/** What the index has in place of what this process has loaded. */
const NO_LIVE_FACTS: Pick<PageFacts, "inventory" | "operatorFiles" | "licensedPart" | "lists" | "pricing"> = {
  ...{ inventory: null, pricing: null },
  operatorFiles: {
    deploy: { unit: "", environment: "", dockerfile: "", nginx: "", caddy: "", haproxy: "", pgbouncer: "", alerts: "" },
    dashboardPath: "",
    alertsPath: "",
  },
  licensedPart: null,
  lists: {
    overview: {
      ...{ version: "", builtAt: "", refreshedAt: null, pinned: null, sets: [], sources: [] },
      lookUpDomain: () => ({ kind: "no_domain", message: "" }),
    },
    lookup: null,
  },
}

function guidePage(page: MarkdownGuidePage, facts: PageFacts, indexPath: string) {
  const settings = facts.settings.map(({ name }) => name)
  const content = htmlForm(page.title, expandPage(page.text, facts), settings)
  return <GuidePage route={page.route} indexPath={indexPath} content={content} />
}

/** What every page is made with. */
function commonFacts({ guide, testDomain, baseUrl, securityContacts, pricing }: GuideContentDeps) {
  const { command, checkTimeoutMs, tiers, settings, examinations } = guide
  return {
    command,
    checkTimeoutMs,
    tiers: tiers(),
    settings,
    examinations,
    testDomain: exampleDomain(testDomain),
    securityContacts,
    pricing,
    baseUrl: baseUrl(),
  }
}

/** The pages that show or offer files of operators. */
const OPERATOR_PAGES: ReadonlySet<string> = new Set(["docsOperation", "docsAlerts", "docsPlatforms", "docsScaling"])

async function pageFacts({ route }: MarkdownGuidePage, url: string, deps: GuideContentDeps): Promise<PageFacts> {
  const inventory = route === "docsLicences" ? await deps.guide.inventory() : null
  return {
    ...commonFacts(deps),
    inventory,
    operatorFiles: OPERATOR_PAGES.has(route) ? await readOperatorFiles(deps) : null,
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
