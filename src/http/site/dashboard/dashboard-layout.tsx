/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import type { TermsState } from "../../../customers/terms/terms-cache.ts"
import type { SignedInUser } from "../guards.ts"
import { ActionButton, Timestamp } from "../ui/forms.tsx"
import { ariaCurrentPage, Layout, type PageLink } from "../ui/layout.tsx"

/** The pages of an account by what they are for, in the order of the links. */
const WORK_PAGES: readonly PageLink[] = [
  { route: "dashboard", label: "Overview" },
  { route: "tryIt", label: "Check one" },
  { route: "dashboardJobs", label: "Check a list" },
  { route: "requests", label: "Requests" },
]
const SETTINGS_PAGES: readonly PageLink[] = [
  { route: "keys", label: "Keys" },
  { route: "ownLists", label: "Block & allow" },
  { route: "rules", label: "Rules" },
  { route: "feedback", label: "Reports" },
  { route: "account", label: "Account" },
]

type DashboardLayoutProps = {
  readonly route: RouteId
  readonly title: string
  readonly user: SignedInUser
  /** Paths of the page's scripts. */
  readonly scripts?: readonly string[]
  /** Displayed beside the title, such as a button. */
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

/** A page for signed-in users, with the navigation and the account menu, and the banner for terms to accept. */
export function DashboardLayout({ route, title, user, scripts = [], action, children }: DashboardLayoutProps) {
  return (
    <Layout
      route={route}
      title={title}
      scripts={scripts}
      action={action}
      parent={[...WORK_PAGES, ...SETTINGS_PAGES].find(page => isBelow(route, page.route))}
      navigation={<AccountNavigation route={route} user={user} />}
      aboveTitle={
        <>
          <SuspensionBanner account={user.account} />
          <TermsBanner terms={user.terms} />
        </>
      }
    >
      {children}
    </Layout>
  )
}

/** Whether a page belongs to one that lists it. */
const isBelow = (route: RouteId, target: RouteId): boolean =>
  target !== "dashboard" && ROUTES[route].path.startsWith(`${ROUTES[target].path}/`)

/** Marks the link to the current page, or to the one that lists it, such as the keys on the page of a key. */
function ariaCurrent(target: RouteId, route: RouteId) {
  if (isBelow(route, target)) return { "aria-current": true } as const
  return ariaCurrentPage(target === route)
}

/** The links to the pages of the account, and for administrators the link to their pages. */
function AccountNavigation({ route, user }: Pick<DashboardLayoutProps, "route" | "user">) {
  const linkTo = ({ route: target, label }: PageLink) => (
    <a key={target} href={ROUTES[target].path} {...ariaCurrent(target, route)}>
      {label}
    </a>
  )
  return (
    <nav class="section-links" aria-label="Your account">
      {WORK_PAGES.map(linkTo)}
      <p>Settings</p>
      {SETTINGS_PAGES.map(linkTo)}
      {user.isAdmin ? (
        <a class="apart" href={ROUTES.admin.path}>
          Administration
        </a>
      ) : null}
    </nav>
  )
}

/** Says that the account is suspended, since when and why. Nothing when it is not. */
function SuspensionBanner({ account: { suspendedAtMs, suspensionReason = "" } }: Pick<SignedInUser, "account">) {
  if (suspendedAtMs === undefined) return null
  return (
    <section class="fault boxed" aria-label="Suspended account">
      <p>
        <strong>Your account is suspended</strong>, since <Timestamp atMs={suspendedAtMs} />. We refuse all requests
        with your keys. You can still sign in, read everything here and download your data.
      </p>
      {suspensionReason === "" ? null : (
        <p>
          The operator says: <bdi class="any">{suspensionReason}</bdi>
        </p>
      )}
      <p>Ask the operator of this server if you think that this is a mistake.</p>
    </section>
  )
}

/** The terms to accept, with the end of the grace period, and the button. Nothing when all are accepted. */
function TermsBanner({ terms }: { readonly terms: TermsState }) {
  if (terms.kind === "accepted") return null
  return (
    <section class={terms.kind === "grace" ? "told" : "fault boxed"} aria-label="Terms to accept">
      <p>
        {terms.kind === "grace" ? (
          <>
            <strong>The terms have changed.</strong> Please read version {terms.version} and accept it before{" "}
            <Timestamp atMs={terms.endsAtMs} />. Until then your keys work unchanged; after that, requests with your
            keys are refused.
          </>
        ) : (
          <>
            <strong>Requests with your keys are refused</strong>, since <Timestamp atMs={terms.sinceMs} />: the terms of
            version {terms.version} have not been accepted. They work again as soon as you accept.
          </>
        )}
      </p>
      <div class="actions">
        <a class="button small" href={terms.url} rel="noopener noreferrer" target="_blank">
          Read version {terms.version}
          <span class="unseen"> (opens in another tab)</span>
        </a>
        <ActionButton path={ROUTES.postTermsAcceptance.path} fields={{ version: terms.version }} label="I accept" />
      </div>
    </section>
  )
}
