import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { exampleDomain } from "../../response/example-responses.ts"
import type { SiteContext } from "../site-context.ts"
import type { Example, Examples } from "./examples.ts"
import { domainSourceCount } from "./lists-overview.tsx"

/** What the home page tells about this server. */
export type HomeFacts = {
  readonly baseUrl: string
  readonly testDomain: string
  /** False: the operator offers no free checks. */
  readonly hasChecker: boolean
  /** Whether test addresses need no key. */
  readonly hasTestAddresses: boolean
  readonly examples: readonly Example[]
  readonly domainsCount: number
  readonly listsCount: number
  readonly tiers: readonly TierLimits[]
  /** The tier of a new account. */
  readonly defaultTier: number
  /** What the operator says about prices. Null: nothing. */
  readonly pricing: string | null
  /** Whom the operator names for questions, as URIs. */
  readonly contacts: readonly string[]
}

/** What the home page is made with. */
export type HomeSite = Pick<
  SiteContext,
  "baseUrl" | "testDomain" | "freeChecks" | "tiers" | "defaultTier" | "pricing" | "securityContacts" | "lists"
> & { readonly examples: Examples }

/** What the home page tells about a server. */
export async function homeFacts(site: HomeSite): Promise<HomeFacts> {
  const {
    baseUrl,
    testDomain,
    freeChecks,
    tiers,
    defaultTier,
    pricing,
    examples,
    lists,
    securityContacts: contacts,
  } = site
  const { sets, sources } = lists()
  return {
    baseUrl: baseUrl(),
    testDomain: exampleDomain(testDomain),
    hasTestAddresses: testDomain !== "",
    hasChecker: freeChecks !== null,
    examples: await examples.list(),
    domainsCount: sets.reduce((sum, { entryCount }) => sum + entryCount, 0),
    listsCount: domainSourceCount({ sources }),
    ...{ tiers, defaultTier, pricing, contacts },
  }
}
