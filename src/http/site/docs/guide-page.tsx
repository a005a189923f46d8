/** @jsxImportSource preact */
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { SEARCH_SCRIPT_PATH } from "../assets.ts"
import { Layout } from "../ui/layout.tsx"
import { GUIDE, type GuideEntry, guidePageNeighbours } from "./guide.ts"
import { innerHtml, sectionsIn } from "./html-form.tsx"
import { markdownPath } from "./llms.ts"
import { Crumb, PageLink, SidePages } from "./page-links.tsx"

/** What people come for, and the page where each begins. */
const GOALS = [
  { route: "docsStart", title: "Make your first check", text: "One command: no key, no account." },
  {
    route: "docsSignUpForms",
    title: "Protect a sign-up form",
    text: "One line in your page, the decision on your server.",
  },
  { route: "docsWholeLists", title: "Clean a list", text: "Upload a file, download the rows worth keeping." },
  { route: "docsClients", title: "Call it from your code", text: "TypeScript, Python, or a single HTTP request." },
  { route: "docsAgents", title: "Give it to an agent", text: "Tools over MCP, hosted or on your own machine." },
  { route: "docsSelfHosting", title: "Run it yourself", text: "One executable, with all lists inside." },
] as const satisfies readonly { readonly route: RouteId; readonly title: string; readonly text: string }[]

/** The front page: where to begin for what, and every page of the guide in reading order. */
export function GuideIndex({ indexPath }: { readonly indexPath: string }) {
  return (
    <Layout route="docsGuide" title="Documentation" scripts={[SEARCH_SCRIPT_PATH]}>
      <p class="lead">What do you want to do?</p>
      <SearchPlace indexPath={indexPath} />
      <ul class="goals plain">
        {GOALS.map(({ route, title, text }) => (
          <li key={route}>
            <PageLink page={route}>{title}</PageLink>
            <p>{text}</p>
          </li>
        ))}
      </ul>
      {GUIDE.map(({ part, pages }) => (
        <section key={part} class="part">
          <h2>{part}</h2>
          <dl>
            {pages.map(({ route, title }) => (
              <div key={route}>
                <dt>
                  <PageLink page={route}>{title}</PageLink>
                </dt>
                <dd>{ROUTES[route].description}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p class="hint">
        For language models: <a href={ROUTES.llms.path}>an index of all pages</a>, and{" "}
        <a href={ROUTES.llmsFull.path}>all pages in one text</a>. Each page is Markdown too, under its address with{" "}
        <code>.md</code>.
      </p>
    </Layout>
  )
}

/** Where `search.js` puts the field of the search. Without a script there is none. */
const SearchPlace = ({ indexPath }: { readonly indexPath: string }) => (
  <div class="find" data-search-index={indexPath} />
)

type GuidePageProps = {
  readonly route: RouteId
  /** The path of the search index. */
  readonly indexPath: string
  /** What stands below the title, as HTML that begins with the lead. */
  readonly content: string
}

/** A page of the guide: its title from the guide's table, and the links to all the others. */
export function GuidePage({ route, indexPath, content }: GuidePageProps) {
  const leadEnd = content.indexOf(LEAD_END) + LEAD_END.length
  const { part, page, before, after } = guidePageNeighbours(route)
  return (
    <Layout
      route={route}
      title={page.title}
      scripts={[SEARCH_SCRIPT_PATH]}
      aboveTitle={
        <>
          <SearchPlace indexPath={indexPath} />
          <Crumb parent="docsGuide" title="Docs" part={part} />
        </>
      }
      sidebar={<SidePages label="Documentation" groups={SIDE_PAGES} current={ROUTES[route].path} />}
    >
      <div {...innerHtml(content.slice(0, leadEnd))} />
      <PageContents content={content} />
      <div {...innerHtml(content.slice(leadEnd))} />
      {page.text === null ? null : (
        <p class="hint as-markdown">
          <a href={markdownPath(ROUTES[route].path)}>This page as Markdown</a>
        </p>
      )}
      <nav class="turn" aria-label="Before and after this page">
        <Turn label="Previous" entry={before} />
        <Turn label="Next" entry={after} />
      </nav>
    </Layout>
  )
}

const LEAD_END = "</p>"

function Turn({ label, entry }: { readonly label: string; readonly entry: GuideEntry | null }) {
  if (entry === null) return null
  return (
    <a href={ROUTES[entry.route].path} class={label.toLowerCase()}>
      <small>{label}</small> {entry.title}
    </a>
  )
}

/** Links to the sections of the page. A page with one section needs none. */
function PageContents({ content }: Pick<GuidePageProps, "content">) {
  const sections = sectionsIn(content)
  if (sections.length <= 1) return null
  return (
    <details class="contents-folded">
      <summary>On this page</summary>
      <ul>
        {sections.map(({ id, html }) => (
          <li key={id}>
            <a href={`#${id}`} {...innerHtml(html)} />
          </li>
        ))}
      </ul>
    </details>
  )
}

/** All pages of the guide by their parts. */
const SIDE_PAGES = GUIDE.map(({ part, pages }) => ({
  title: part,
  pages: pages.map(({ route, title }) => ({ path: ROUTES[route].path, title })),
}))
