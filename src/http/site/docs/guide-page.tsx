/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { SEARCH_SCRIPT_PATH } from "../assets.ts"
import { ariaCurrentPage, Layout } from "../ui/layout.tsx"
import { GUIDE, guidePageNeighbours } from "./guide.ts"
import { innerHtml, type PageSection } from "./html-form.tsx"
import { markdownPath } from "./llms.ts"

/** The index: every page of the guide with its summary. */
export function GuideIndex({ indexPath }: { readonly indexPath: string }) {
  return (
    <Layout route="docsGuide" title="Guide" scripts={[SEARCH_SCRIPT_PATH]}>
      <SearchPlace indexPath={indexPath} />
      <p class="lead">From the first check to a server of your own.</p>
      {GUIDE.map(({ part, pages }) => (
        <section key={part}>
          <h2>{part}</h2>
          <dl class="links">
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
      <h2>As Markdown</h2>
      <p>
        <a href={ROUTES.llms.path}>An index of all pages</a>, and{" "}
        <a href={ROUTES.llmsFull.path}>all pages in one text</a>.
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
  readonly sections: readonly PageSection[]
  /** The path of the search index. */
  readonly indexPath: string
  readonly children: ComponentChildren
}

/** A page of the guide: its title from the guide's table, and the links to all the others. */
export function GuidePage({ route, sections, indexPath, children }: GuidePageProps) {
  const { page, before, after } = guidePageNeighbours(route)
  return (
    <Layout
      route={route}
      title={page.title}
      scripts={[SEARCH_SCRIPT_PATH]}
      aboveTitle={
        <>
          <SearchPlace indexPath={indexPath} />
          <p class="crumb">
            <PageLink page="docsGuide">Guide</PageLink>
            <a href="#all-pages">All pages</a>
          </p>
        </>
      }
      sidebar={
        <>
          <AllPages route={route} />
          {hasContents(sections) ? <PageContents sections={sections} /> : null}
        </>
      }
    >
      {hasContents(sections) ? (
        <details class="contents-folded">
          <summary>{CONTENTS_TITLE}</summary>
          <SectionLinks sections={sections} />
        </details>
      ) : null}
      {children}
      <nav class="turn" aria-label="Before and after this page">
        {before === null ? null : (
          <span>
            Before: <PageLink page={before.route}>{before.title}</PageLink>
          </span>
        )}
        {page.text === null ? null : (
          <span>
            <a href={markdownPath(ROUTES[route].path)}>This page as Markdown</a>
          </span>
        )}
        {after === null ? null : (
          <span>
            Next: <PageLink page={after.route}>{after.title}</PageLink>
          </span>
        )}
      </nav>
    </Layout>
  )
}

const CONTENTS_TITLE = "On this page"

/** A page with one section needs no contents. */
const hasContents = (sections: readonly PageSection[]): boolean => sections.length > 1

type SectionsProps = { readonly sections: readonly PageSection[] }

/** The contents of the page, beside it on wide screens. On narrow ones they are folded above it. */
const PageContents = ({ sections }: SectionsProps) => (
  <nav class="contents" aria-label={CONTENTS_TITLE}>
    <p>{CONTENTS_TITLE}</p>
    <SectionLinks sections={sections} />
  </nav>
)

const SectionLinks = ({ sections }: SectionsProps) => (
  <ul>
    {sections.map(({ id, html }) => (
      <li key={id}>
        <a href={`#${id}`} {...innerHtml(html)} />
      </li>
    ))}
  </ul>
)

/** Links to every page of the guide. */
function AllPages({ route }: { readonly route: RouteId }) {
  return (
    <nav id="all-pages" class="pages" aria-label="Documentation">
      {GUIDE.map(({ part, pages }) => (
        <section key={part}>
          <p>{part}</p>
          <ul>
            {pages.map(({ route: target, title }) => (
              <li key={target}>
                <a href={ROUTES[target].path} {...ariaCurrentPage(target === route)}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

/** A link to a page of this server. */
export function PageLink({ page, children }: { readonly page: RouteId; readonly children: ComponentChildren }) {
  return <a href={ROUTES[page].path}>{children}</a>
}
