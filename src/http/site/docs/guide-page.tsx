/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { ariaCurrentPage, Layout } from "../ui/layout.tsx"
import { around, GUIDE, type GuideRoute } from "./guide.ts"

/** The index: every page of the documentation with its summary. */
export function GuideIndex() {
  return (
    <Layout route="docsGuide" title="Guide">
      <p class="lead">From the first check to a server of your own.</p>
      {GUIDE.map(({ part, pages }) => (
        <section key={part}>
          <h2>{part}</h2>
          <dl class="links">
            {pages.map(({ route, title }) => (
              <div key={route}>
                <dt>
                  <To page={route}>{title}</To>
                </dt>
                <dd>{ROUTES[route].description}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Layout>
  )
}

type GuidePageProps = {
  readonly route: GuideRoute
  readonly children: ComponentChildren
}

/** A page of the documentation: its title from the guide's table, and the ways to all the others. */
export function GuidePage({ route, children }: GuidePageProps) {
  const { page, before, after } = around(route)
  return (
    <Layout
      route={route}
      title={page.title}
      aboveTitle={
        <p class="crumb">
          <To page="docsGuide">Guide</To>
          <a href="#all-pages">All pages</a>
        </p>
      }
      sidebar={<Pages route={route} />}
    >
      {children}
      <nav class="turn" aria-label="Before and after this page">
        {before === null ? null : (
          <span>
            Before: <To page={before.route}>{before.title}</To>
          </span>
        )}
        {after === null ? null : (
          <span>
            Next: <To page={after.route}>{after.title}</To>
          </span>
        )}
      </nav>
    </Layout>
  )
}

/** The ways to every page of the documentation. */
function Pages({ route }: { readonly route: GuideRoute }) {
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

/** A link to a page of this server, or to a part of it. */
export function To({
  page,
  part,
  children,
}: {
  readonly page: RouteId
  readonly part?: string
  readonly children: ComponentChildren
}) {
  return <a href={part === undefined ? ROUTES[page].path : `${ROUTES[page].path}#${part}`}>{children}</a>
}

/** A number as people read it: its digits in threes. */
export const grouped = (count: number): string => new Intl.NumberFormat("en").format(count)

/** An amount of octets in KiB or MiB, as a limit is written. */
export const octets = (count: number): string =>
  count % 1_048_576 === 0 ? `${count / 1_048_576} MiB` : `${count / 1024} KiB`
