import type { CallerAccount } from "../../../customers/keys/key-cache.ts"
import { SITE_KEY } from "../../../customers/usage/measures.ts"
import type { Exchange } from "../../exchange.ts"
import { Problem } from "../../response/problem.ts"
import type { SiteContext } from "../site-context.ts"

/**
 * Does work of a signed-in user as a request with a secret key does it: the account's terms, rate, requests in flight and units
 * apply.
 */
export async function withSiteLease<T>(
  { admit }: Pick<SiteContext, "admit">,
  exchange: Exchange,
  account: CallerAccount,
  work: () => T | Promise<T>,
): Promise<T> {
  exchange.caller = { kind: "active", key: { ...SITE_KEY, origins: [] }, account }
  try {
    admit(exchange, false)
    return await work()
  } catch (error) {
    // A page may show the problem in its own words, without a problem response.
    if (error instanceof Problem) exchange.refusal = error.code
    throw error
  }
}
