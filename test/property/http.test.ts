import { expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { testApp } from "../support/app.ts"

setDefaultTimeout(300_000)

const { app, key, logged } = await testApp()

/** Text of every kind: letters of any script, controls, half surrogates, and what addresses, URLs and JSON are made of. */
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ unit: fc.constantFrom(...'@.+-_"\\[](),:;<> /?#%&=\u0000\u202e\ud800éß。x'), maxLength: 80 }),
  fc.emailAddress(),
  fc.webUrl(),
  fc.domain(),
)

const value: fc.Arbitrary<unknown> = fc.oneof(hostile, fc.jsonValue({ maxDepth: 3 }))

const body = fc.oneof(
  fc
    .record(
      { email: value, domain: value, url: value, policy: value, deep: value, workspace: value },
      { requiredKeys: [] },
    )
    .map(members => JSON.stringify(members)),
  hostile,
  fc.json(),
)

const STATUSES = [200, 400, 401, 413, 429]

async function answered(request: Request): Promise<{ status: number; text: string }> {
  const { status, headers, ...answer } = await Promise.resolve(app(request)).then(async one => ({
    status: one.status,
    headers: one.headers,
    text: await one.text(),
  }))
  expect(STATUSES).toContain(status)
  expect(headers.get("content-type")).toBe(status === 200 ? "application/json" : "application/problem+json")
  expect(() => JSON.parse(answer.text)).not.toThrow()
  return { status, ...answer }
}

test("whatever the body, the answer is a result or a problem of the table, never our failure", async () => {
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), async (text, isKeyed) => {
      const headers: Record<string, string> = {
        "Content-Type": "application/json",
        ...(isKeyed ? { "X-API-Key": key } : {}),
      }
      await answered(new Request("http://localhost/v1/check", { method: "POST", headers, body: text }))
    }),
    { numRuns: 3_000 },
  )
})

test("whatever the query, the answer is a result or a problem of the table, never our failure", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom("email", "domain", "url", "policy", "deep", "workspace", "other"), hostile), {
        maxLength: 4,
      }),
      fc.string({ maxLength: 40 }),
      async (pairs, raw) => {
        const query = pairs.map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`).join("&")
        await answered(
          new Request(`http://localhost/v1/check?${query}&${raw.replaceAll("#", "")}`, {
            headers: { "X-API-Key": key },
          }),
        )
      },
    ),
    { numRuns: 2000 },
  )
})

test("nothing was logged: no request is our fault, and none of its text reaches a log", () => {
  expect(logged).toEqual([])
})
