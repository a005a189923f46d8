import type { CallerAccount, CallerCredentials } from "../../../customers/keys/key-cache.ts"
import { SITE_KEY } from "../../../customers/usage/measures.ts"
import type { RequestLease } from "../../admission/request-lease.ts"
import type { SiteContext } from "../site-context.ts"

/**
 * Does work of a signed-in user as a request with a secret key does it: the account's terms, rate, requests in flight and units
 * apply. The lease is null where nothing limits the account.
 */
export async function withSiteLease<T>(
  { admit }: Pick<SiteContext, "admit">,
  request: Request,
  account: CallerAccount,
  work: (caller: CallerCredentials, lease: RequestLease | null) => T | Promise<T>,
): Promise<T> {
  const caller = { kind: "active", key: { ...SITE_KEY, origins: [] }, account } as const
  const lease = admit(request, caller, false)
  try {
    return await work(caller, lease)
  } catch (error) {
    lease?.attachRefusalHeaders()
    throw error
  } finally {
    lease?.release()
  }
}
