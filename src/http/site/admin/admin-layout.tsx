/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { AccountBar } from "../dashboard/dashboard-layout.tsx"
import type { SignedInUser } from "../guards.ts"
import { Layout } from "../ui/layout.tsx"

/** The parts of the administration, in the order in which they are linked. */
const ADMIN_SECTIONS = [
  { route: "admin", label: "Overview" },
  { route: "adminAccounts", label: "Accounts" },
  { route: "adminFeedback", label: "Feedback" },
  { route: "adminTerms", label: "Terms" },
] as const satisfies readonly { readonly route: RouteId; readonly label: string }[]

type AdminSection = (typeof ADMIN_SECTIONS)[number]["route"]

type AdminLayoutProps = {
  readonly route: RouteId
  /** The part that the page belongs to. */
  readonly section: AdminSection
  readonly title: string
  readonly user: SignedInUser
  readonly children: ComponentChildren
}

/** A page for admins: beside the bar of every account, links to the parts of the administration. */
export function AdminLayout({ route, section, title, user, children }: AdminLayoutProps) {
  const above = (
    <>
      <AccountBar route={route} user={user} />
      <nav class="sections" aria-label="Administration">
        {ADMIN_SECTIONS.map(({ route: target, label }) => (
          <a key={target} href={ROUTES[target].path} {...ariaCurrent(target, route, section)}>
            {label}
          </a>
        ))}
      </nav>
    </>
  )
  return (
    <Layout route={route} title={title} aboveTitle={above}>
      {children}
    </Layout>
  )
}

/** The page itself is the current page; a page below it is within the current part. */
function ariaCurrent(target: AdminSection, route: RouteId, section: AdminSection) {
  if (target === route) return { "aria-current": "page" as const }
  return target === section ? { "aria-current": true as const } : {}
}

type DescriptionListProps = { readonly items: readonly (readonly [name: string, value: ComponentChildren])[] }

/** What is known of one thing, name by value. */
export function DescriptionList({ items }: DescriptionListProps) {
  return (
    <dl class="facts">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A count with its digits in threes. */
export const formatNumber = (count: number): string => new Intl.NumberFormat("en").format(count)

/** A count with its noun, in one number or the other. */
export const formatCount = (count: number, one: string, many: string): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`
