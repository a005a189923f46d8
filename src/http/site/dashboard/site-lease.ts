import type { CallerAccount, CallerCredentials } from "../../../customers/keys/key-cache.ts"
import { SITE_KEY } from "../../../customers/usage/measures.ts"
import type { RequestLease } from "../../admission/request-lease.ts"
import { Problem } from "../../response/problem.ts"
import type { SiteContext } from "../site-context.ts"

/**
 * Does work of a signed-in user as a request with a secret key does it: the account's terms, rate, requests in flight and units
 * apply. The lease is null where nothing limits the account.
 */
export async function withSiteLease<T>(
  { admit, observer, refusals }: Pick<SiteContext, "admit" | "observer" | "refusals">,
  request: Request,
  account: CallerAccount,
  work: (caller: CallerCredentials, lease: RequestLease | null) => T | Promise<T>,
): Promise<T> {
  const caller = { kind: "active", key: { ...SITE_KEY, origins: [] }, account } as const
  observer.setCaller(request, caller)
  let lease: RequestLease | null = null
  try {
    lease = admit(request, caller, false)
    return await work(caller, lease)
  } catch (error) {
    lease?.attachRefusalHeaders()
    // A page may show the problem in its own words, without a problem response.
    if (error instanceof Problem) refusals.setCode(request, error.code)
    throw error
  } finally {
    lease?.release()
  }
}
