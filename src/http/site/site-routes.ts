import { Elysia } from "elysia"
import { ROUTES } from "../../contract/routes.ts"
import { findSession } from "../../customers/sign-in/sessions.ts"
import type { TermsCache } from "../../customers/terms/terms-cache.ts"
import type { LoadShedder } from "../admission/load-shedder.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import type { ToProblemResponse } from "../response/problem-response.ts"
import { type AdminAccountsRoutesDeps, adminAccountsRoutes } from "./admin/accounts-routes.tsx"
import { type AdminFeedbackRoutesDeps, adminFeedbackRoutes } from "./admin/feedback-routes.tsx"
import { adminOverviewRoutes, type OverviewRouteDeps } from "./admin/overview.tsx"
import { type AdminTermsRoutesDeps, adminTermsRoutes } from "./admin/terms-routes.tsx"
import { createAssets, type ReadEmbeddedAsset } from "./assets.ts"
import { createCookies } from "./cookies.ts"
import {
  type AccountRoutesDeps,
  accountDataRoutes,
  accountPageRoutes,
  termsAcceptanceRoutes,
} from "./dashboard/account-routes.tsx"
import { feedbackPageRoutes } from "./dashboard/feedback-routes.tsx"
import { keysPageRoutes } from "./dashboard/keys/keys-routes.tsx"
import { ownListPageRoutes } from "./dashboard/own-lists/own-list-routes.tsx"
import { tryPageRoutes } from "./dashboard/try-it.tsx"
import { usagePageRoutes } from "./dashboard/usage.tsx"
import { guideRoutes } from "./docs/guide-routes.tsx"
import { createErrorPageRenderer } from "./error-page.tsx"
import { createGuards } from "./guards.ts"
import { createPageResponses } from "./page-responses.ts"
import { freeCheckRoutes } from "./public/free-check-routes.tsx"
import { publicRoutes } from "./public/public-routes.tsx"
import { signInRoutes } from "./sign-in/sign-in-routes.tsx"

/** What all pages are made with is made from these. */
type SiteContextDeps = {
  readonly responses: JsonResponses
  readonly toProblemResponse: ToProblemResponse
  readonly isHttps: boolean
  readonly asset: ReadEmbeddedAsset
  readonly baseUrl: () => string
  readonly isAdmin: (email: string) => boolean
  readonly terms: TermsCache
  readonly changes: AccountRoutesDeps["changes"]
  readonly loadShedder: LoadShedder
}

type SiteRoutesDeps = Parameters<typeof publicRoutes>[0] &
  Parameters<typeof guideRoutes>[0] &
  Parameters<typeof freeCheckRoutes>[0] &
  Parameters<typeof signInRoutes>[0] &
  Parameters<typeof keysPageRoutes>[0] &
  Parameters<typeof usagePageRoutes>[0] &
  Parameters<typeof tryPageRoutes>[0] &
  Parameters<typeof ownListPageRoutes>[0] &
  Parameters<typeof feedbackPageRoutes>[0] &
  Parameters<typeof accountPageRoutes>[0] &
  Parameters<typeof accountDataRoutes>[0] &
  Parameters<typeof termsAcceptanceRoutes>[0] &
  Parameters<typeof adminRoutes>[0]

/** What every page of the server is built from. */
export type SiteDeps = SiteContextDeps & Omit<SiteRoutesDeps, keyof ReturnType<typeof createSiteContext>>

/** Every page for people: documentation, the free checker, the sign-in, the dashboard and the administration. */
export function siteRoutes(given: SiteDeps) {
  const needs = { ...given, ...createSiteContext(given) }
  return new Elysia({ normalize: false })
    .use(publicRoutes(needs))
    .use(guideRoutes(needs))
    .use(freeCheckRoutes(needs))
    .use(signInRoutes(needs))
    .use(keysPageRoutes(needs))
    .use(usagePageRoutes(needs))
    .use(tryPageRoutes(needs))
    .use(ownListPageRoutes(needs))
    .use(feedbackPageRoutes(needs))
    .use(accountPageRoutes(needs))
    .use(accountDataRoutes(needs))
    .use(termsAcceptanceRoutes(needs))
    .use(adminRoutes(needs))
}

function createSiteContext({
  responses,
  toProblemResponse,
  isHttps,
  asset,
  baseUrl,
  isAdmin,
  terms,
  changes,
  loadShedder,
}: SiteContextDeps) {
  const pages = createPageResponses(responses.requestId, isHttps)
  const ownCookies = createCookies(isHttps)
  const enter = createGuards({
    pages,
    cookies: ownCookies,
    baseUrl,
    findSession: secret => findSession(changes.store, changes.clock, secret),
    isAdmin,
    termsStateOf: account => terms.stateOf(account),
    renderErrorPage: createErrorPageRenderer(pages, toProblemResponse),
    loadShedder,
    signInPath: path => `${ROUTES.signIn.path}?next=${encodeURIComponent(path)}`,
  })
  return { pages, files: createAssets(asset), cookies: ownCookies, enter }
}

type AdminRoutesDeps = OverviewRouteDeps & AdminAccountsRoutesDeps & AdminFeedbackRoutesDeps & AdminTermsRoutesDeps

/** The pages for admins. To others they do not exist. */
function adminRoutes(needs: AdminRoutesDeps) {
  return new Elysia({ normalize: false })
    .use(adminOverviewRoutes(needs))
    .use(adminAccountsRoutes(needs))
    .use(adminFeedbackRoutes(needs))
    .use(adminTermsRoutes(needs))
}
