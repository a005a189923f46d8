import { adminAccountRoutes } from "./admin/account-routes.tsx"
import { adminAccountsRoutes } from "./admin/accounts-routes.tsx"
import { adminActsRoutes } from "./admin/acts.tsx"
import { adminFeedbackRoutes } from "./admin/feedback-routes.tsx"
import { adminOverviewRoutes } from "./admin/overview.tsx"
import { adminSourcesRoutes } from "./admin/sources.tsx"
import { adminTermsRoutes } from "./admin/terms-routes.tsx"
import { accountRoutes } from "./dashboard/account-routes.tsx"
import { feedbackPageRoutes } from "./dashboard/feedback-routes.tsx"
import { listsPageRoutes } from "./dashboard/jobs/lists-routes.tsx"
import { keysPageRoutes } from "./dashboard/keys/keys-routes.tsx"
import { overviewRoutes } from "./dashboard/overview/overview-routes.tsx"
import { requestsPageRoutes } from "./dashboard/requests/requests-routes.tsx"
import { rulesPageRoutes } from "./dashboard/rules-page.tsx"
import { tryPageRoutes } from "./dashboard/try-it.tsx"
import { guideRoutes } from "./docs/guide-routes.tsx"
import { ownListPageRoutes } from "./own-lists/own-list-routes.tsx"
import { createExamples } from "./public/examples.ts"
import { freeCheckRoutes } from "./public/free-check-routes.tsx"
import { createHomePage } from "./public/home-page.tsx"
import { publicRoutes } from "./public/public-routes.tsx"
import { referenceRoutes } from "./reference/reference-routes.tsx"
import { signInRoutes } from "./sign-in/sign-in-routes.tsx"
import type { SiteContext } from "./site-context.ts"

/** Every page for people: documentation, the free checker, the sign-in, the dashboard and the administration. */
export function siteRoutes(site: SiteContext) {
  const examples = createExamples(site)
  const homePage = createHomePage({ ...site, examples })
  return {
    ...publicRoutes({ ...site, homePage }),
    ...referenceRoutes(site),
    ...guideRoutes({ ...site, files: site.assets }),
    ...freeCheckRoutes({ ...site, examples, homePage }),
    ...signInRoutes(site),
    ...dashboardRoutes(site),
    ...adminRoutes(site),
  }
}

/** The pages for people who are signed in. */
const dashboardRoutes = (site: SiteContext) => ({
  ...overviewRoutes(site),
  ...keysPageRoutes(site),
  ...requestsPageRoutes(site),
  ...tryPageRoutes(site),
  ...listsPageRoutes(site),
  ...ownListPageRoutes(site),
  ...rulesPageRoutes(site),
  ...feedbackPageRoutes(site),
  ...accountRoutes(site),
})

/** The pages for administrators. Other people get `not_found`. */
const adminRoutes = (site: SiteContext) => ({
  ...adminOverviewRoutes(site),
  ...adminAccountsRoutes(site),
  ...adminAccountRoutes(site),
  ...adminActsRoutes(site),
  ...adminFeedbackRoutes(site),
  ...adminSourcesRoutes(site),
  ...adminTermsRoutes(site),
})
