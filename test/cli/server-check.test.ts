import { expect, test } from "bun:test"
import { parseSubject } from "../../src/check/address/parse-subject.ts"
import { NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { fullResult, fullResultJson } from "../../src/check/result/result.ts"
import { ANSWER_PARTS } from "../../src/check/verdict/evidence-need.ts"
import { createServerCheck } from "../../src/cli/server-check.ts"
import type { Mailkind } from "../../src/client/client.ts"
import { RESULT_COLUMN_NAMES } from "../../src/contract/result-columns.ts"
import { SINGLE_COLUMN } from "../../src/rows/reading-plan.ts"
import { NO_EXTRAS, RESULT_FORMATS } from "../../src/rows/result-format.ts"
import { check } from "../support/app.ts"

const REQUEST = {
  subject: parseSubject("email", "sales@acme.com", "mailkind.test"),
  ...({ policy: "b2b", isDeep: false, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH } as const),
}

const TAGGED = { ...REQUEST, subject: parseSubject("email", "jane+news@acme.com", "mailkind.test") }

/** The check that a server answers so; `asked` receives what it is asked for. */
const answeredBy = (answer: object, asked: (options: object) => void = () => undefined) => {
  const batch = async (_: unknown, options: object) => {
    asked(options)
    return [{ outcome: "checked", result: answer }]
  }
  return createServerCheck({ batch } as unknown as Mailkind, check)
}

/** What is written of the answer of a server. */
const written = async (answer: object, request = REQUEST): Promise<object> =>
  JSON.parse(fullResultJson(await answeredBy(answer)(request), "req_1"))

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

test("every column of CSV tells of the answer of a server what it tells of an own one", async () => {
  const extras = { ...NO_EXTRAS, columns: RESULT_COLUMN_NAMES }
  const { format } = RESULT_FORMATS.csv(SINGLE_COLUMN, { extras, hasSafeCells: false, tellsCached: false })
  const row = { input: REQUEST.subject.sent, kind: null, fault: null, cells: null, json: null, cleaned: null } as const
  const own = await check(REQUEST)
  const served = await answeredBy(fullResult(own, "req_1"))(REQUEST)
  expect(format(row, served, 1)).toBe(format(row, own, 1))
})

test.each([
  ["nothing beside the verdict", 0, false],
  ["the mailbox", ANSWER_PARTS.mailbox, false],
  ["the mail", ANSWER_PARTS.mail, true],
  ["the suites", ANSWER_PARTS.workspace, true],
  ["who takes the mail", ANSWER_PARTS.hosts, true],
])("the mail is asked for only where a row shows what rests on it: %s", async (_, parts, mail) => {
  const asked: object[] = []
  await answeredBy(fullResult(await check(REQUEST), "req_1"), options => asked.push(options))({ ...REQUEST, parts })
  expect(asked).toEqual([expect.objectContaining({ mail })])
})
