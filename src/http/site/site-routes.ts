import { Elysia } from "elysia"
import { adminAccountFormRoutes } from "./admin/account-form-routes.tsx"
import { adminAccountsRoutes } from "./admin/accounts-routes.tsx"
import { adminActsRoutes } from "./admin/acts.tsx"
import { adminFeedbackRoutes } from "./admin/feedback-routes.tsx"
import { adminOverviewRoutes } from "./admin/overview.tsx"
import { adminSourcesRoutes } from "./admin/sources.tsx"
import { adminTermsRoutes } from "./admin/terms-routes.tsx"
import { accountDataRoutes, accountPageRoutes, termsAcceptanceRoutes } from "./dashboard/account-routes.tsx"
import { feedbackPageRoutes } from "./dashboard/feedback-routes.tsx"
import { listsPageRoutes } from "./dashboard/jobs/lists-routes.tsx"
import { keysPageRoutes } from "./dashboard/keys/keys-routes.tsx"
import { mailSwitchesRoutes } from "./dashboard/mail-switches.tsx"
import { overviewRoutes } from "./dashboard/overview/overview-routes.tsx"
import { requestsPageRoutes } from "./dashboard/requests/requests-routes.tsx"
import { tryPageRoutes } from "./dashboard/try-it.tsx"
import { guideRoutes } from "./docs/guide-routes.tsx"
import { ownListPageRoutes } from "./own-lists/own-list-routes.tsx"
import { ACCOUNT_LISTS, OPERATOR_LISTS } from "./own-lists/own-list-scope.tsx"
import { freeCheckRoutes } from "./public/free-check-routes.tsx"
import { publicRoutes } from "./public/public-routes.tsx"
import { signInRoutes } from "./sign-in/sign-in-routes.tsx"
import { createSiteContext, type SiteContext, type SiteDeps } from "./site-context.ts"

/** Every page for people: documentation, the free checker, the sign-in, the dashboard and the administration. */
export function siteRoutes(deps: SiteDeps) {
  const site = createSiteContext(deps)
  return new Elysia({ normalize: false })
    .use(publicRoutes(site))
    .use(guideRoutes({ ...site, files: site.assets }))
    .use(freeCheckRoutes(site))
    .use(signInRoutes(site))
    .use(dashboardRoutes(site))
    .use(adminRoutes(site))
}

/** The pages for people who are signed in. */
function dashboardRoutes(site: SiteContext) {
  return new Elysia({ normalize: false })
    .use(overviewRoutes(site))
    .use(keysPageRoutes(site))
    .use(requestsPageRoutes(site))
    .use(tryPageRoutes(site))
    .use(listsPageRoutes(site))
    .use(ownListPageRoutes(site, ACCOUNT_LISTS))
    .use(ownListPageRoutes(site, OPERATOR_LISTS))
    .use(feedbackPageRoutes(site))
    .use(accountPageRoutes(site))
    .use(mailSwitchesRoutes(site))
    .use(accountDataRoutes(site))
    .use(termsAcceptanceRoutes(site))
}

/** The pages for administrators. Other people get `not_found`. */
function adminRoutes(site: SiteContext) {
  return new Elysia({ normalize: false })
    .use(adminOverviewRoutes(site))
    .use(adminAccountsRoutes(site))
    .use(adminAccountFormRoutes(site))
    .use(adminActsRoutes(site))
    .use(adminFeedbackRoutes(site))
    .use(adminSourcesRoutes(site))
    .use(adminTermsRoutes(site))
}
