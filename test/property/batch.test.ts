import { expect, test } from "bun:test"
import fc from "fast-check"
import { detectSubjectKind } from "../../src/check/address/parse-subject.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { testApp } from "../support/app.ts"

const { ask, logged } = await testApp()

/** Text of every kind: letters of any script, controls, half surrogates, and what addresses, URLs and JSON are made of. */
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ unit: fc.constantFrom(...'@.+-_"\\[](),:;<> /?#%&=\u0000\u2028\ud800éß。x'), maxLength: 80 }),
  fc.emailAddress(),
  fc.webUrl(),
  fc.domain(),
  fc.constantFrom("jane@gmail.com", "__proto__", "error-500@mailkind.test", "co.uk", "", " ", "{", "\ufeff"),
)

/** What a check of the item says; null: a check refuses it. */
async function checked(item: string): Promise<Record<string, unknown> | null> {
  const { status, body } = await ask("POST /v1/check", { body: { [detectSubjectKind(item)]: item } })
  if (status === 200) return body
  // What a test address asks for in a check, a batch does not do.
  expect(status).toBe(item.startsWith("error-500@") ? 500 : 400)
  return null
}

test("whatever the items are, each is answered in its place as a check of it is, or is invalid where that is refused", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 20 }), async items => {
      const { status, body } = await ask("POST /v1/check/batch", { body: { items } })
      expect(status).toBe(200)
      const results = body["results"] as readonly Record<string, unknown>[] // its schema is checked by contract
      expect(results).toHaveLength(items.length)
      for (const [at, item] of items.entries()) {
        const alone = await checked(item)
        const place = {
          request_id: body["request_id"],
          index: at,
          ...(alone?.["domain"] === null ? { input: item } : {}),
        }
        if (alone !== null) expect(results[at]).toEqual({ ...alone, ...place })
        else if (item.startsWith("error-500@")) expect(results[at]).toMatchObject({ category: "unknown" })
        else expect(["invalid_syntax", "too_long"]).toContain(String(results[at]?.["reasons"]))
      }
    }),
    { numRuns: 500 },
  )
})

test("whatever the body is, the answer is results or a problem of the input, and as many results as items", async () => {
  const item = fc.oneof({ weight: 9, arbitrary: hostile }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) })
  const sent = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ items: fc.array(item, { maxLength: 110 }), policy: item }, { requiredKeys: [] }),
    },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  )
  await fc.assert(
    fc.asyncProperty(sent, async members => {
      const { status, body } = await ask("POST /v1/check/batch", { body: JSON.stringify(members) })
      expect([200, 400, 413]).toContain(status)
      if (status === 413) expect(body["limit"]).toBe(LIMITS.batchItemsMax)
      if (status !== 200) return
      const { results } = body
      const items: unknown =
        typeof members === "object" && members !== null && "items" in members ? members.items : null
      expect(Array.isArray(results) && results.length).toBe(Array.isArray(items) && items.length)
    }),
    { numRuns: 2000 },
  )
})

test("nothing was logged but what a test address asked for", () => {
  expect(logged.filter(({ message, fields }) => message !== "a request failed" || "fault" in fields)).toEqual([])
})
