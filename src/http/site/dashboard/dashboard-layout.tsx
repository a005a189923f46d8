/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { ActionButton } from "../fields.tsx"
import { currentPage, Layout } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"
import { TermsBanner } from "./terms-banner.tsx"

/** The pages of an account, in the order in which they are linked. */
const PAGES = [
  { route: "dashboard", label: "Keys" },
  { route: "usage", label: "Usage" },
  { route: "tryIt", label: "Try it" },
  { route: "ownLists", label: "Block and allow" },
  { route: "feedback", label: "Feedback" },
  { route: "account", label: "Account" },
] as const satisfies readonly { readonly route: RouteId; readonly label: string }[]

type Props = {
  readonly route: RouteId
  readonly title: string
  readonly visitor: Visitor
  /** Paths of the scripts that the page runs. */
  readonly scripts?: readonly string[]
  readonly children: ComponentChildren
}

/** A page for somebody who is signed in: links to all such pages, who it is, and the way out. */
export function DashboardLayout({ route, title, visitor, scripts = [], children }: Props) {
  return (
    <Layout
      route={route}
      title={title}
      scripts={scripts}
      above={
        <>
          <AccountBar route={route} visitor={visitor} />
          <TermsBanner terms={visitor.terms} />
        </>
      }
    >
      {children}
    </Layout>
  )
}

/** The links to the pages of an account, who it is, and the way out; for admins, the way to their pages too. */
export function AccountBar({ route, visitor }: Pick<Props, "route" | "visitor">) {
  return (
    <div class="account-bar">
      <nav aria-label="Your account">
        {PAGES.map(page => (
          <a key={page.route} href={ROUTES[page.route].path} {...currentPage(page.route === route)}>
            {page.label}
          </a>
        ))}
        {visitor.isAdmin ? (
          <a href={ROUTES.admin.path} {...(ROUTES[route].asks === "admin" ? { "aria-current": true as const } : {})}>
            Admin
          </a>
        ) : null}
      </nav>
      <div class="who">
        <span class="email">{visitor.account.email}</span>
        <ActionButton path={ROUTES.postSignOut.path} label="Sign out" />
      </div>
    </div>
  )
}
