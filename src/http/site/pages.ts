import { Elysia } from "elysia"
import { ROUTES } from "../../contract/routes.ts"
import { findSession } from "../../customers/sign-in/sessions.ts"
import type { HeldTerms } from "../../customers/terms/held-terms.ts"
import type { Answers } from "../answer.ts"
import type { Refuse } from "../errors.ts"
import type { Load } from "../load.ts"
import { adminRoutes } from "./admin/admin-routes.ts"
import { assets, type Embedded } from "./assets.ts"
import { checkerRoutes } from "./checker/checker-routes.tsx"
import { cookies } from "./cookies.ts"
import { accountLeavingRoutes } from "./dashboard/account-leaving-routes.tsx"
import { type AccountRoutesNeeds, accountRoutes } from "./dashboard/account-routes.tsx"
import { feedbackPageRoutes } from "./dashboard/feedback-routes.tsx"
import { keysRoutes } from "./dashboard/keys-routes.tsx"
import { ownListRoutes } from "./dashboard/own-list-routes.tsx"
import { termsRoutes } from "./dashboard/terms-routes.tsx"
import { tryRoutes } from "./dashboard/try-routes.tsx"
import { usageRoutes } from "./dashboard/usage-routes.tsx"
import { guideRoutes } from "./docs/guide-routes.tsx"
import { pageAnswers } from "./page-answers.ts"
import { refusedAsPage } from "./refused-page.tsx"
import { signInRoutes } from "./sign-in/sign-in-routes.tsx"
import { entrances } from "./signed-in.ts"
import { siteRoutes } from "./site.tsx"

/** What all pages are made with is made from these. */
type PartsNeeds = {
  readonly answers: Answers
  readonly refuse: Refuse
  readonly isHttps: boolean
  readonly asset: Embedded
  readonly baseUrl: () => string
  readonly isAdmin: (email: string) => boolean
  readonly terms: HeldTerms
  readonly changes: AccountRoutesNeeds["changes"]
  readonly load: Load
}

type RoutesNeeds = Parameters<typeof siteRoutes>[0] &
  Parameters<typeof guideRoutes>[0] &
  Parameters<typeof checkerRoutes>[0] &
  Parameters<typeof signInRoutes>[0] &
  Parameters<typeof keysRoutes>[0] &
  Parameters<typeof usageRoutes>[0] &
  Parameters<typeof tryRoutes>[0] &
  Parameters<typeof ownListRoutes>[0] &
  Parameters<typeof feedbackPageRoutes>[0] &
  Parameters<typeof accountRoutes>[0] &
  Parameters<typeof accountLeavingRoutes>[0] &
  Parameters<typeof termsRoutes>[0] &
  Parameters<typeof adminRoutes>[0]

/** What every page of the server is built from. */
export type PagesNeeds = PartsNeeds & Omit<RoutesNeeds, keyof ReturnType<typeof partsOf>>

/** Every page for people: documentation, the free checker, the sign-in, the dashboard and the administration. */
export function pageRoutes(given: PagesNeeds) {
  const needs = { ...given, ...partsOf(given) }
  return new Elysia({ normalize: false })
    .use(siteRoutes(needs))
    .use(guideRoutes(needs))
    .use(checkerRoutes(needs))
    .use(signInRoutes(needs))
    .use(keysRoutes(needs))
    .use(usageRoutes(needs))
    .use(tryRoutes(needs))
    .use(ownListRoutes(needs))
    .use(feedbackPageRoutes(needs))
    .use(accountRoutes(needs))
    .use(accountLeavingRoutes(needs))
    .use(termsRoutes(needs))
    .use(adminRoutes(needs))
}

function partsOf({ answers, refuse, isHttps, asset, baseUrl, isAdmin, terms, changes, load }: PartsNeeds) {
  const pages = pageAnswers(answers.requestId, isHttps)
  const ownCookies = cookies(isHttps)
  const enter = entrances({
    pages,
    cookies: ownCookies,
    baseUrl,
    sessionOf: secret => findSession(changes.store, changes.clock, secret),
    isAdmin,
    termsOf: account => terms.stateOf(account),
    refused: refusedAsPage(pages, refuse),
    load,
    signInFor: path => `${ROUTES.signIn.path}?next=${encodeURIComponent(path)}`,
  })
  return { pages, files: assets(asset), cookies: ownCookies, enter }
}
