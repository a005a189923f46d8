import type { Usage } from "../../contract/usage-schema.ts"
import type { CallerAccount } from "../../customers/keys/key-cache.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { handlers } from "../router.ts"

type UsageRouteDeps = {
  readonly responses: JsonResponses
  readonly usageOf: (account: CallerAccount, day: number | null) => Promise<Usage>
}

/** GET /v1/usage: the limits of the account and its usage. It costs no units. */
export const usageRoute = ({ responses, usageOf }: UsageRouteDeps) =>
  handlers({
    getUsage: async ({ caller, lease, id }) => {
      // The body and the headers tell the same day, also when it ends in between.
      const { headers = null, day = null } = (await lease?.headersOfDay()) ?? {}
      const usage = await usageOf(caller.account, day)
      return responses.serialized(JSON.stringify(usage), id, 200, headers)
    },
  })
