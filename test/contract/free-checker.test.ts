import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { CHECKER_CODES, CHECKER_REFUSAL_ORDER, PROBLEMS, type ProblemCode } from "../../src/contract/problems.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { testApp } from "../support/app.ts"
import { spendFreeChecks, type Visiting, visit } from "./visit.ts"

type Harness = Awaited<ReturnType<typeof testApp>>

/** What can be wrong with a visit, in the order of the steps that refuse it. */
const FLAWS = [
  { flaw: "foreign", code: "forbidden_origin" },
  { flaw: "banned", code: "banned" },
  { flaw: "too_fast", code: "rate_limited" },
  { flaw: "too_large", code: "payload_too_large" },
  { flaw: "no_input", code: "invalid_input" },
  { flaw: "no_pass", code: "pass_required" },
  { flaw: "no_budget", code: "busy" },
  { flaw: "broken", code: "internal_error" },
] as const satisfies readonly { readonly flaw: string; readonly code: ProblemCode }[]
type Flaw = (typeof FLAWS)[number]["flaw"]

const BUDGET = 100

async function flawed(flaws: readonly Flaw[], headers: Record<string, string> = {}): Promise<Response> {
  const harness = await testApp({ freeChecksPerDay: String(BUDGET) })
  const has = (flaw: Flaw): boolean => flaws.includes(flaw)
  if (has("no_pass")) await spendFreeChecks(harness)
  await harness.time.tick(60_000)
  if (has("banned")) await banish(harness)
  // Who is banned is not counted any more, and has paid when this is over.
  if (!has("too_fast")) await harness.time.tick(60_000)
  else for (let count = 0; count < LIMITS.freeRequestsBurst; count++) await visit(harness, { input: "" })
  if (has("no_budget"))
    await harness.customers.units.take(
      "free checker",
      BUDGET - (has("no_pass") ? LIMITS.freeChecksPerClientAndDay : 0),
      BUDGET,
    )
  if (has("broken")) await harness.store.run("DROP TABLE own_list_entries")
  harness.customers.ownLists.invalidateAll()
  return await visit(harness, { ...sentWith(flaws), headers: { ...(has("foreign") ? FOREIGN : {}), ...headers } })
}

const FOREIGN = { Origin: "https://elsewhere.example" }

function sentWith(flaws: readonly Flaw[]): Visiting {
  const input = flaws.includes("no_input") ? "" : "jane@gmail.com"
  const body = new URLSearchParams({ input }).toString()
  return flaws.includes("too_large") ? { body: body.padEnd(LIMITS.bodyBytesMax + 1, "+") } : { body }
}

async function banish(harness: Harness): Promise<void> {
  for (let count = 0; count < LIMITS.freeRequestsBurst + LIMITS.strikesMax; count++) await visit(harness, { input: "" })
}

const SETS: readonly (readonly Flaw[])[] = FLAWS.flatMap(({ flaw }, at) => [
  [flaw],
  ...FLAWS.slice(at + 1).map(later => [flaw, later.flaw]),
])

test("the steps of the table are those that refuse here", () => {
  const codes: readonly string[] = CHECKER_REFUSAL_ORDER.flatMap(({ codes: each }) => each)
  expect(codes).toEqual(["not_found", "method_not_allowed", ...FLAWS.map(({ code }) => code)])
  expect(codes.filter(code => !["not_found", "method_not_allowed"].includes(code)).toSorted()).toEqual(
    [...new Set<string>(ROUTES.postHome.problems)].toSorted(),
  )
  for (const code of CHECKER_CODES) expect(codes).toContain(code)
})

test.each(SETS.map(flaws => [flaws.join(" and "), flaws] as const))(
  "%s: the first in the order is told",
  async (_, flaws) => {
    const code = FLAWS.find(({ flaw }) => flaws.includes(flaw))?.code ?? "internal_error"
    const page = await flawed(flaws)
    expect([page.status, page.headers.get("content-type")]).toEqual([PROBLEMS[code].status, "text/html; charset=utf-8"])
  },
)

test.each(FLAWS.map(({ flaw, code }) => [flaw, code] as const))(
  "a script that asks with %s is told %s as JSON",
  async (flaw, code) => {
    const answer = await flawed([flaw], { Accept: "application/json" })
    const isPage = code === "forbidden_origin" || code === "internal_error"
    if (isPage) return expect(answer.status).toBe(PROBLEMS[code].status)
    expect(answer.headers.get("content-type")).toBe("application/problem+json")
    const body = await answer.json()
    expect(body).toMatchObject({ code, status: PROBLEMS[code].status })
    const { retry_after: retryAfter = null } = body
    expect(answer.headers.get("retry-after")).toBe(retryAfter === null ? null : String(retryAfter))
    expect(retryAfter !== null).toBe(["banned", "rate_limited", "busy"].includes(code))
  },
)

test("when it is busy it says until when, to the second", async () => {
  const harness = await testApp({ freeChecksPerDay: "1" })
  await visit(harness)
  for (const [passedMs, seconds] of [
    [0, "86400"],
    [86_398_999, "2"],
    [1, "1"],
    [999, "1"],
  ] as const) {
    await harness.time.tick(passedMs)
    const page = await visit(harness, { client: "192.0.2.2" })
    expect([page.status, page.headers.get("retry-after")]).toEqual([503, seconds])
    const answer = await visit(harness, { client: "192.0.2.3", headers: { Accept: "application/json" } })
    expect(await answer.json()).toMatchObject({ code: "busy", resets_at: "2026-01-02T00:00:00.000Z" })
  }
  await harness.time.tick(1)
  expect((await visit(harness)).status).toBe(200)
})

describe("who sends a key", () => {
  test("is answered while the checker is busy, wants a pass and has banned the network", async () => {
    const harness = await testApp({ tier: 0, freeChecksPerDay: "1" })
    await visit(harness)
    await banish(harness)
    expect((await visit(harness)).status).toBe(403)
    const headers = { "X-Test-Peer": "192.0.2.1" }
    for (const line of ["GET /v1/check?domain=stripe.com", "GET /v1/usage"])
      expect((await harness.ask(line, { headers })).status).toBe(200)
    const keyless = await harness.ask("GET /v1/check?email=business@mailkind.test", { key: null, headers })
    expect(keyless.status).toBe(200)
  })

  test("has used none of its own units by free checks, and pays for none", async () => {
    const harness = await testApp({ tier: 0 })
    for (let count = 0; count < 3; count++)
      await visit(harness, { headers: { Authorization: `Bearer ${harness.key}` } })
    const { body } = await harness.ask("GET /v1/usage")
    expect(body["today"]).toMatchObject({ used: 0, checks: 0, rate_limited: 0 })
  })
})

describe("the challenge of a pass", () => {
  const challenge = ({ app }: Harness, headers: Record<string, string> = {}) =>
    app(new Request("http://localhost/pass/challenge", { headers }))

  test("is JSON that no cache keeps, and each is another", async () => {
    const harness = await testApp()
    const [one, other] = [await challenge(harness), await challenge(harness)]
    expect([one.status, one.headers.get("content-type"), one.headers.get("cache-control")]).toEqual([
      200,
      "application/json",
      "no-store",
    ])
    expect((await one.json()).parameters.nonce).not.toBe((await other.json()).parameters.nonce)
  })

  test("is refused as JSON: to pages of other sites, to who is too fast, and to who is banned", async () => {
    const harness = await testApp()
    for (const site of ["cross-site", "same-site"]) {
      const answer = await challenge(harness, { "Sec-Fetch-Site": site })
      expect([answer.status, (await answer.json()).code]).toEqual([403, "forbidden_origin"])
    }
    const codes: string[] = []
    for (let count = 0; count < LIMITS.freeRequestsBurst + LIMITS.strikesMax + 1; count++) {
      const answer = await challenge(harness, { "Sec-Fetch-Site": "same-origin" })
      if (answer.status === 200) continue
      expect(answer.headers.get("content-type")).toBe("application/problem+json")
      codes.push((await answer.json()).code)
    }
    expect(codes).toEqual([...Array(LIMITS.strikesMax).fill("rate_limited"), "banned"])
  })

  test("pages of other sites have nobody banned", async () => {
    const harness = await testApp()
    for (let count = 0; count < 100; count++) {
      await challenge(harness, { "Sec-Fetch-Site": "cross-site" })
      await visit(harness, { headers: FOREIGN })
    }
    expect((await visit(harness)).status).toBe(200)
  })
})

test("an operator who offers no free checks has a first page without the form, and nothing behind it", async () => {
  const { app, ...harness } = await testApp({ freeChecksPerDay: "off" })
  const page = await (await app(new Request("http://localhost/"))).text()
  expect(page).toContain("/v1/check")
  expect(page).not.toContain("<form")
  expect((await visit({ app, ...harness })).status).toBe(404)
  expect((await app(new Request("http://localhost/pass/challenge"))).status).toBe(404)
})
