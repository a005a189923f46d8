/** @jsxImportSource preact */
import { render } from "preact-render-to-string"
import { lazyPromise } from "../../../base/single-flight.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Assets } from "../assets.ts"
import { GUIDE_SOURCES, type GuideSource } from "./guide.ts"
import type { GuideFacts } from "./guide-facts.ts"
import { GuidePage } from "./guide-page.tsx"
import { htmlForm, innerHtml } from "./html-form.tsx"
import { factOf, type OperatorFiles, type PageFacts } from "./inserts/insert.ts"
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
}

/** The pages of the guide that are made from Markdown. Each is rendered once, when it is first requested. */
export function guidePages(deps: GuideContentDeps): readonly PageForms[] {
  const inventory = lazyPromise(deps.guide.inventory)
  const cachedDeps = { ...deps, guide: { ...deps.guide, inventory } }
  return GUIDE_SOURCES.map(page => {
    const html = lazyPromise(async () => pageHtml(page, await pageFacts(page, cachedDeps)))
    const isPartOf = (url: string): boolean => page.route === "docsLicences" && url.includes("?")
    return {
      path: ROUTES[page.route].path,
      html: url => (isPartOf(url) ? licencesHtml(page, url, cachedDeps) : html()),
      markdown: lazyPromise(async () => pageMarkdown(page, await pageFacts(page, cachedDeps))),
    }
  })
}

/** The page of licences with the texts of the part that the URL names. */
async function licencesHtml(page: GuideSource, url: string, deps: GuideContentDeps): Promise<string> {
  const facts = await pageFacts(page, deps)
  return pageHtml(page, { ...facts, licensedPart: licensedPart(url, factOf(facts.inventory)) })
}

const pageMarkdown = (page: GuideSource, facts: PageFacts): string =>
  markdownForm(page.title, expandPage(page.text, facts), { baseUrl: facts.baseUrl, path: ROUTES[page.route].path })

function pageHtml(page: GuideSource, facts: PageFacts): string {
  const settings = facts.settings.map(({ name }) => name)
  const content = htmlForm(page.title, expandPage(page.text, facts), settings)
  return `<!doctype html>${render(
    <GuidePage route={page.route}>
      <div {...innerHtml(content)} />
    </GuidePage>,
  )}`
}

async function pageFacts({ route }: GuideSource, deps: GuideContentDeps): Promise<PageFacts> {
  const { guide, testDomain } = deps
  const { checkTimeoutMs, tiers, settings, examinations } = guide
  return {
    ...{ checkTimeoutMs, tiers, settings, examinations, testDomain },
    baseUrl: deps.baseUrl(),
    operatorFiles: route === "docsSelfHosting" ? await readOperatorFiles(deps) : null,
    inventory: route === "docsLicences" ? await guide.inventory() : null,
    licensedPart: null,
  }
}

const readOperatorFiles = async ({ files, guide }: GuideContentDeps): Promise<OperatorFiles> => ({
  deploy: await guide.deployFiles(),
  dashboardPath: await files.path("grafana-dashboard.json"),
  alertsPath: await files.path("prometheus-alerts.yml"),
})
