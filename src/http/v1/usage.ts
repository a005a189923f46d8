import { Elysia } from "elysia"
import { ROUTES } from "../../contract/routes.ts"
import type { Usage } from "../../contract/usage-schema.ts"
import type { CallerAccount } from "../../customers/keys/key-cache.ts"
import type { WithSecretKey } from "../admission/admission.ts"
import type { JsonResponses } from "../response/json-responses.ts"

type UsageRouteDeps = {
  readonly responses: JsonResponses
  readonly withSecretKey: WithSecretKey
  readonly usageOf: (account: CallerAccount, day: number | null) => Promise<Usage>
}

/** GET /v1/usage: the limits of the account and its usage. It costs no units. */
export function usageRoute({ responses, withSecretKey, usageOf }: UsageRouteDeps) {
  return new Elysia({ normalize: false }).get(ROUTES.getUsage.path, ({ request }) =>
    withSecretKey(request, async ({ account }, lease) => {
      // The body and the headers tell the same day, also when it ends in between.
      const { headers = null, day = null } = (await lease?.headersOfDay()) ?? {}
      const usage = await usageOf(account, day)
      return responses.serialized(JSON.stringify(usage), responses.requestId(request), 200, headers)
    }),
  )
}
