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

const TAGGED = { ...REQUEST, subject: parseSubject("email", "jane+news@acme.com", "mailkind.test") }

/** What is written of the answer of a server. */
async function written(answer: object, request = REQUEST): Promise<object> {
  const client = { batch: async () => [{ outcome: "checked", result: answer }] } as unknown as Mailkind
  const outcome = await createServerCheck(client, check)(request)
  return JSON.parse(fullResultJson(outcome, "req_1"))
}

test("the result of a server is written as it came, whatever members its version has", async () => {
  const own = fullResult(await check(REQUEST), "req_1")
  expect(await written(own)).toEqual(own)
  expect(await written({ ...own, index: 0, of_tomorrow: [1] })).toEqual({ ...own, of_tomorrow: [1] })
  const { shared_inbox: _, group: __, ...former } = own
  expect(await written(former)).toMatchObject({ ...former, shared_inbox: { confidence: 0, match: null } })
})

test("the mailbox that a server found behind an address is written, also where a suite runs the mail", async () => {
  const own = fullResult(await check(TAGGED), "req_1")
  const answer = { ...own, canonical_email: "jane@acme.com" }
  expect(await written(own, TAGGED)).toMatchObject({ canonical_email: "jane+news@acme.com" })
  expect(await written(answer, TAGGED)).toMatchObject({ canonical_email: "jane@acme.com" })
})
