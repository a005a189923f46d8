import { Elysia } from "elysia"
import { ROUTES } from "../../contract/routes.ts"
import type { Usage } from "../../contract/usage-schema.ts"
import type { CallerAccount } from "../../customers/keys/key-cache.ts"
import type { WithSecretKey } from "../admission/admission.ts"
import type { JsonResponses } from "../response/json-responses.ts"

type UsageRouteDeps = {
  readonly responses: JsonResponses
  readonly withSecretKey: WithSecretKey
  readonly usageOf: (account: CallerAccount) => Promise<Usage>
}

/** GET /v1/usage: the limits of the account and its usage. It costs no units. */
export function usageRoute({ responses, withSecretKey, usageOf }: UsageRouteDeps) {
  return new Elysia({ normalize: false }).get(ROUTES.getUsage.path, ({ request }) =>
    withSecretKey(request, async ({ account }, lease) =>
      responses.serialized(JSON.stringify(await usageOf(account)), responses.requestId(request), 200, lease?.headers()),
    ),
  )
}
