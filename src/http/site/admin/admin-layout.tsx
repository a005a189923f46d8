/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { AccountBar } from "../dashboard/dashboard-layout.tsx"
import { Layout } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"

/** The parts of the administration, in the order in which they are linked. */
const SECTIONS = [
  { route: "admin", label: "Overview" },
  { route: "adminAccounts", label: "Accounts" },
  { route: "adminFeedback", label: "Feedback" },
  { route: "adminTerms", label: "Terms" },
] as const satisfies readonly { readonly route: RouteId; readonly label: string }[]

type Section = (typeof SECTIONS)[number]["route"]

type Props = {
  readonly route: RouteId
  /** The part that the page belongs to. */
  readonly section: Section
  readonly title: string
  readonly visitor: Visitor
  readonly children: ComponentChildren
}

/** A page for admins: beside the bar of every account, links to the parts of the administration. */
export function AdminLayout({ route, section, title, visitor, children }: Props) {
  const above = (
    <>
      <AccountBar route={route} visitor={visitor} />
      <nav class="sections" aria-label="Administration">
        {SECTIONS.map(({ route: target, label }) => (
          <a key={target} href={ROUTES[target].path} {...current(target, route, section)}>
            {label}
          </a>
        ))}
      </nav>
    </>
  )
  return (
    <Layout route={route} title={title} above={above}>
      {children}
    </Layout>
  )
}

/** The page itself is the current page; a page below it is within the current part. */
function current(target: Section, route: RouteId, section: Section) {
  if (target === route) return { "aria-current": "page" as const }
  return target === section ? { "aria-current": true as const } : {}
}

type FactsProps = { readonly facts: readonly (readonly [name: string, value: ComponentChildren])[] }

/** What is known of one thing, name by value. */
export function Facts({ facts }: FactsProps) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A count with its digits in threes. */
export const grouped = (count: number): string => new Intl.NumberFormat("en").format(count)

/** A count with its noun, in one number or the other. */
export const counted = (count: number, one: string, many: string): string =>
  `${grouped(count)} ${count === 1 ? one : many}`
