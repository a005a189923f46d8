import { Elysia } from "elysia"
import { type AccountsNeeds, accountsRoutes } from "./accounts-routes.tsx"
import { type FeedbackNeeds, feedbackRoutes } from "./feedback-routes.tsx"
import { type OverviewNeeds, overviewRoute } from "./overview-route.tsx"
import { type TermsNeeds, termsRoutes } from "./terms-routes.tsx"

type Needs = OverviewNeeds & AccountsNeeds & FeedbackNeeds & TermsNeeds

/** The pages for admins. To others they do not exist. */
export function adminRoutes(needs: Needs) {
  return new Elysia({ normalize: false })
    .use(overviewRoute(needs))
    .use(accountsRoutes(needs))
    .use(feedbackRoutes(needs))
    .use(termsRoutes(needs))
}
