import { expect, test } from "bun:test"
import { parseSubject } from "../../src/check/address/parse-subject.ts"
import { NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { fullResult, fullResultJson } from "../../src/check/result/result.ts"
import { createServerCheck } from "../../src/cli/server-check.ts"
import type { Mailkind } from "../../src/client/client.ts"
import { check } from "../support/app.ts"

const REQUEST = {
  subject: parseSubject("email", "sales@acme.com", "mailkind.test"),
  ...({ policy: "b2b", isDeep: false, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH } as const),
}

/** What is written of the answer of a server. */
async function written(answer: object): Promise<object> {
  const client = { batch: async () => [{ outcome: "checked", result: answer }] } as unknown as Mailkind
  const outcome = await createServerCheck(client, check)(REQUEST)
  return JSON.parse(fullResultJson(outcome, "req_1"))
}

test("the result of a server is written as it came, whatever members its version has", async () => {
  const own = fullResult(await check(REQUEST), "req_1")
  expect(await written(own)).toEqual(own)
  expect(await written({ ...own, index: 0, of_tomorrow: [1] })).toEqual({ ...own, of_tomorrow: [1] })
  const { shared_inbox: _, group: __, ...former } = own
  expect(await written(former)).toMatchObject({ ...former, shared_inbox: { confidence: 0, match: null } })
})
