/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { formatCount } from "../ui/format.ts"
import { Layout } from "../ui/layout.tsx"
import type { ResultPage } from "../ui/pagination.tsx"

/** How many rows a page of a list displays. */
export const ROWS_PER_PAGE = 50

/** The sections of the administration, in the order of the links. */
const ADMIN_SECTIONS = [
  { route: "admin", label: "Overview" },
  { route: "adminAccounts", label: "Accounts" },
  { route: "adminFeedback", label: "Reports" },
  { route: "adminLists", label: "Block & allow" },
  { route: "adminSources", label: "Sources" },
  { route: "adminTerms", label: "Terms" },
  { route: "adminActs", label: "Audit log" },
] as const satisfies readonly { readonly route: RouteId; readonly label: string }[]

type AdminSection = (typeof ADMIN_SECTIONS)[number]["route"]

type AdminLayoutProps = {
  readonly route: RouteId
  /** The section that the page belongs to. */
  readonly section: AdminSection
  readonly title: string
  /** Displayed beside the title. */
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

/** A page for administrators, with links to all sections. */
export function AdminLayout({ route, section, title, action, children }: AdminLayoutProps) {
  const navigation = (
    <nav class="section-links" aria-label="Administration">
      {ADMIN_SECTIONS.map(({ route: target, label }) => (
        <a key={target} href={ROUTES[target].path} {...ariaCurrent(target, route, section)}>
          {label}
        </a>
      ))}
      <a class="apart" href={ROUTES.dashboard.path}>
        Your account
      </a>
    </nav>
  )
  const parent = ADMIN_SECTIONS.find(each => each.route === section && section !== route)
  return <Layout {...{ route, title, action, navigation, parent }}>{children}</Layout>
}

type FilterBarProps = {
  readonly path: string
  /** How much was found. Null: the list is not filtered. */
  readonly found: string | null
  /** Whether narrow screens show the fields once they are asked for. */
  readonly isFolded?: boolean
  /** The fields. */
  readonly children: ComponentChildren
}

/** What a list is searched and filtered by, in one row. */
export function FilterBar({ path, found, isFolded = false, children }: FilterBarProps) {
  const form = (
    <form class="filter-bar" method="get" action={path}>
      {children}
      <button type="submit" class="small">
        Filter
      </button>
    </form>
  )
  return (
    <search>
      {isFolded ? (
        <details class="filter-fold" open={found !== null}>
          <summary>Filter</summary>
          {form}
        </details>
      ) : (
        form
      )}
      {found === null ? null : (
        <p class="hint">
          {found}. <a href={path}>Clear the filter</a>
        </p>
      )}
    </search>
  )
}

/** How many rows of a filtered list were found, or are on a page after the first. Null: it is not filtered. */
export function foundLabel(
  filter: Readonly<Record<string, string>>,
  { rows, lastRow }: ResultPage<unknown>,
  isFirstPage: boolean,
  ...nouns: readonly [singular: string, plural?: string]
): string | null {
  if (Object.values(filter).every(text => text === "")) return null
  const count = formatCount(rows.length, ...nouns)
  if (!isFirstPage) return `${count} on this page`
  return lastRow === null ? count : `More than ${count}`
}

/** Marks the link to the page itself, or to the section that holds it. */
function ariaCurrent(target: AdminSection, route: RouteId, section: AdminSection) {
  if (target === route) return { "aria-current": "page" as const }
  return target === section ? { "aria-current": true as const } : {}
}
