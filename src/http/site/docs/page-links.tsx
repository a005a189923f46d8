/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { ariaCurrentPage } from "../ui/layout.tsx"

/** A link to a page of this server. */
export function PageLink({ page, children }: { readonly page: RouteId; readonly children: ComponentChildren }) {
  return <a href={ROUTES[page].path}>{children}</a>
}

type SidePagesProps = {
  /** For screen readers: what the pages are about. */
  readonly label: string
  readonly groups: readonly {
    readonly title: string
    readonly pages: readonly { readonly path: string; readonly title: string }[]
  }[]
  /** The path of the page that shows the links. */
  readonly current: string
}

/**
 * Links to all pages of the guide or of the API reference: beside the page on wide screens, below it on others once they are asked
 * for. The group of the page is open, so that the page is in sight.
 */
export function SidePages({ label, groups, current }: SidePagesProps) {
  const open = groups.find(({ pages }) => pages.some(({ path }) => path === current)) ?? groups[0]
  return (
    <nav class="pages" id="all-pages" aria-label={label}>
      {groups.map(group => (
        <details key={group.title} open={group === open}>
          <summary>{group.title}</summary>
          <ul>
            {group.pages.map(({ path, title }) => (
              <li key={path}>
                <a href={path} {...ariaCurrentPage(path === current)}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </nav>
  )
}

type CrumbProps = {
  readonly parent: RouteId
  readonly title: string
  /** The part of it that has the page. */
  readonly part: string
}

/** Where a page stands, with the way to the links that narrow screens have below it. */
export const Crumb = ({ parent, title, part }: CrumbProps) => (
  <p class="crumb">
    <PageLink page={parent}>{title}</PageLink> / {part}
    <a class="to-pages" href="#all-pages">
      All pages
    </a>
  </p>
)
