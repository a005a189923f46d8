import type { Log } from "../../base/log.ts"
import type { Clock, Random, Stopwatch } from "../../base/outside-world.ts"
import type { Check } from "../../check/check.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { Health } from "../../contract/schemas.ts"
import type { Usage } from "../../contract/usage-schema.ts"
import type { FreeChecks } from "../../customers/free-checks/free-checks.ts"
import type { Passes } from "../../customers/free-checks/passes.ts"
import type { CallerAccount } from "../../customers/keys/key-cache.ts"
import type { OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import type { RateLimiter } from "../../customers/quota/rate/rate-limiter.ts"
import type { TierLimits } from "../../customers/quota/tier-limits.ts"
import type { UnitQuota } from "../../customers/quota/units/unit-quota.ts"
import type { RequestLog } from "../../customers/request-log/request-log.ts"
import { findSession } from "../../customers/sign-in/sessions.ts"
import type { SignInDeps } from "../../customers/sign-in/sign-in.ts"
import type { SignInMails } from "../../customers/sign-in/sign-in-mails.ts"
import type { ChangeLog } from "../../customers/store/change-log/change-log.ts"
import type { TermsCache } from "../../customers/terms/terms-cache.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import type { Admit } from "../admission/admission.ts"
import type { LoadShedder } from "../admission/load-shedder.ts"
import type { Meter } from "../metrics/meter.ts"
import type { UploadDeps } from "../request/upload.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import type { ToProblemResponse } from "../response/problem-response.ts"
import type { FeedbackDeps } from "../v1/feedback.ts"
import type { JobsAccess } from "../v1/jobs.ts"
import { type Assets, createAssets, type ReadEmbeddedAsset } from "./assets.ts"
import { type Cookies, createCookies } from "./cookies.ts"
import type { GuideFacts } from "./docs/guide-facts.ts"
import { createErrorPageRenderer } from "./error-page.tsx"
import { createGuards, type Guards } from "./guards.ts"
import { createPageResponses, type PageResponses } from "./page-responses.ts"
import type { ListsOverview } from "./public/lists-overview.tsx"
import type { SignUpCheck } from "./sign-in/sign-up-check.ts"
import type { ServerOffer } from "./ui/visitor.tsx"

/** What the pages need from the rest of the server. */
export type SiteDeps = FeedbackDeps &
  UploadDeps & {
    readonly responses: JsonResponses
    readonly toProblemResponse: ToProblemResponse
    readonly admit: Admit
    readonly loadShedder: LoadShedder
    readonly meter: Meter
    readonly log: Log
    readonly stopwatch: Stopwatch
    /** Null: the operator keeps no request logs. */
    readonly requestLog: RequestLog | null

    readonly clock: Clock
    readonly random: Random
    /** The public base address. It is a function because the port may be picked at the start. */
    readonly baseUrl: () => string
    readonly isHttps: boolean
    readonly testDomain: string
    readonly asset: ReadEmbeddedAsset
    readonly guide: GuideFacts
    readonly clientOf: (request: Request) => string
    /** Whether the operator named the email in `MAILKIND_ADMINS`. */
    readonly isAdmin: (email: string) => boolean
    /** Whether mails have a server to be sent by. */
    readonly hasMailServer: boolean
    /** What the operator says about prices, in Markdown. Null: nothing. */
    readonly pricing: string | null
    /** Whom to tell about security holes (`MAILKIND_SECURITY_CONTACT`), as URIs. Empty: the operator names nobody. */
    readonly securityContacts: readonly string[]
    /** Whether checks ask no DNS, because the operator switched it off. */
    readonly isDnsOff: boolean

    readonly check: Check
    /** The same check without the network. */
    readonly listsCheck: Check
    /** Finds what is wrong with an address that signs in. */
    readonly signUpCheck: SignUpCheck
    readonly ownLists: OwnListCache
    /** Whole lists that are checked in the background. */
    readonly jobs: JobsAccess
    readonly units: UnitQuota
    /** Whether this server stops, or another one takes its place: streams end then. */
    readonly isDraining: () => boolean
    /** The lists in use now. Each page reads them anew, so that a swap shows at once. */
    readonly lists: () => ListsOverview
    readonly health: () => Health
    /** How many servers share the database, this one included. */
    readonly nodesCount: () => number
    /** Null: the operator offers no free checks. */
    readonly freeChecks: FreeChecks | null

    readonly changes: ChangeLog
    readonly terms: TermsCache
    readonly tiers: readonly TierLimits[]
    readonly defaultTier: number
    readonly usage: UsageMeter
    readonly usageOf: (account: CallerAccount) => Promise<Usage>
    readonly rates: RateLimiter
    /** Rates of callers without a key, which people are who sign in. */
    readonly keyless: RateLimiter
    readonly signIn: SignInDeps & {
      readonly mails: Pick<SignInMails, "send" | "isLogged">
      readonly passes: Passes
      /** Whether everybody can sign up. */
      readonly isSignUpOpen: boolean
      readonly mailInvitation: (to: string, link: string) => Promise<boolean>
    }
  }

/** What every page is made with: the dependencies, and the parts that are built from them once. */
export type SiteContext = SiteDeps & {
  readonly pages: PageResponses
  readonly assets: Assets
  readonly cookies: Cookies
  readonly guards: Guards
}

type OfferFacts = Pick<SiteDeps, "pricing" | "tiers"> & { readonly signIn: Pick<SiteDeps["signIn"], "isSignUpOpen"> }

/** What the header says of a server. One with a single tier and no prices has nothing to tell. */
const serverOffer = ({ signIn, pricing, tiers }: OfferFacts): ServerOffer => ({
  isSignUpOpen: signIn.isSignUpOpen,
  hasPricing: signIn.isSignUpOpen && (pricing !== null || tiers.length > 1),
})

/** Builds the parts that all pages share. */
export function createSiteContext(deps: SiteDeps): SiteContext {
  const { toProblemResponse, isHttps, baseUrl, isAdmin, terms, changes, loadShedder, clientOf } = deps
  const pages = createPageResponses(isHttps, baseUrl, serverOffer(deps))
  const cookies = createCookies(isHttps)
  const guards = createGuards({
    pages,
    cookies,
    baseUrl,
    findSession: secret => findSession(changes.store, changes.clock, secret),
    isAdmin,
    termsStateOf: account => terms.stateOf(account),
    renderErrorPage: createErrorPageRenderer(pages, toProblemResponse),
    loadShedder,
    clientOf,
    signInPath: path => `${ROUTES.signIn.path}?next=${encodeURIComponent(path)}`,
  })
  return { ...deps, pages, assets: createAssets(deps.asset), cookies, guards }
}
