import { Elysia } from "elysia"
import { ROUTES } from "../../contract/routes.ts"
import type { Usage } from "../../contract/usage-schema.ts"
import type { HeldAccount } from "../../customers/keys/held-keys.ts"
import type { Answers } from "../answer.ts"
import type { Keyed } from "../keyed.ts"

type Needs = {
  readonly answers: Answers
  readonly keyed: Keyed
  readonly usageOf: (account: HeldAccount) => Promise<Usage>
}

/** GET /v1/usage: what the account may do, and what it did. It costs no unit. */
export function usageRoute({ answers, keyed, usageOf }: Needs) {
  return new Elysia({ normalize: false }).get(ROUTES.getUsage.path, ({ request }) =>
    keyed(request, async ({ account }, pass) =>
      answers.written(JSON.stringify(await usageOf(account)), answers.requestId(request), 200, pass?.told()),
    ),
  )
}
