import { exampleDomain } from "../../response/example-responses.ts"
import type { SiteContext } from "../site-context.ts"
import type { Example, Examples } from "./examples.ts"
import { domainSourceCount } from "./lists-overview.tsx"

/** What the operator offers, and to whom one turns for more. */
type OfferedTiers = Pick<SiteContext, "tiers" | "defaultTier" | "pricing" | "securityContacts">

/** What the home page tells about this server. */
export type HomeFacts = OfferedTiers & {
  readonly baseUrl: string
  readonly testDomain: string
  /** False: the operator offers no free checks. */
  readonly hasChecker: boolean
  /** Whether test addresses need no key. */
  readonly hasTestAddresses: boolean
  readonly examples: readonly Example[]
  readonly domainsCount: number
  readonly listsCount: number
}

/** What the home page is made with. */
export type HomeSite = OfferedTiers &
  Pick<SiteContext, "baseUrl" | "testDomain" | "freeChecks" | "lists"> & { readonly examples: Examples }

/** What the home page tells about a server. */
export async function homeFacts({
  baseUrl,
  testDomain,
  freeChecks,
  examples,
  lists,
  ...site
}: HomeSite): Promise<HomeFacts> {
  const { sets, sources } = lists()
  const { tiers, defaultTier, pricing, securityContacts } = site
  return {
    ...{ tiers, defaultTier, pricing, securityContacts },
    baseUrl: baseUrl(),
    testDomain: exampleDomain(testDomain),
    hasTestAddresses: testDomain !== "",
    hasChecker: freeChecks !== null,
    examples: await examples.list(),
    domainsCount: sets.reduce((sum, { entryCount }) => sum + entryCount, 0),
    listsCount: domainSourceCount({ sources }),
  }
}
