import { describe, expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import { LIMITS } from "../../src/contract/limits.ts"
import { API_PROBLEM_CODES, PROBLEMS, type ProblemCode } from "../../src/contract/problems.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { ProblemBody } from "../../src/contract/schemas.ts"
import { STORE_ERRORS, StoreError, type StoreErrorCode } from "../../src/customers/store/core/store-error.ts"
import { type ApiResponse, testApp } from "../support/app.ts"
import { fakeNetwork } from "../support/fake-network.ts"
import { canHave, FLAW_NAMES, FLAWS, type Flaw, flawed, KEYED_ROUTES, type KeyedRoute } from "./flawed-request.ts"
import { visit } from "./visit.ts"

const ROUTE_NAMES = Object.keys(KEYED_ROUTES) as KeyedRoute[]

type Case = readonly [route: KeyedRoute, code: ProblemCode, flaw: Flaw]

/** Every way in which every route is refused. */
const CASES: readonly Case[] = ROUTE_NAMES.flatMap(route =>
  FLAW_NAMES.filter(flaw => canHave(route, [flaw])).map((flaw): Case => [route, FLAWS[flaw].code, flaw]),
)

/** Members that a body has beside those of every problem. */
const MORE: { readonly [C in ProblemCode]?: readonly string[] } = {
  invalid_input: ["errors"],
  payload_too_large: ["limit"],
  batch_too_large: ["limit"],
  rate_limited: ["retry_after", "limit"],
  quota_exceeded: ["retry_after", "limit", "needed", "remaining", "resets_at"],
  overloaded: ["retry_after"],
  idempotency_in_progress: ["retry_after"],
  own_lists_full: ["limit"],
}
const MEMBERS = ["type", "title", "status", "code", "detail", "docs_url", "instance", "request_id"]

/** Codes of the rate step and of those after it: their answers tell what is left of the caller's limits. */
const TELLS_LIMITS: readonly ProblemCode[] = [
  "rate_limited",
  "overloaded",
  "payload_too_large",
  "invalid_input",
  "batch_too_large",
  "unsupported_media_type",
  "idempotency_mismatch",
  "idempotency_in_progress",
  "own_lists_full",
  "too_many_jobs",
  "job_not_ready",
  "range_not_satisfiable",
  "quota_exceeded",
  "internal_error",
]

function expectDocumented({ status, headers, body }: ApiResponse, code: ProblemCode): void {
  const { status: documented, title } = PROBLEMS[code]
  const address = `http://localhost/docs/errors#${code}`
  expect(status).toBe(documented)
  expect(body).toMatchObject({ code, status: documented, title, type: address, docs_url: address })
  expect(Object.keys(body).toSorted()).toEqual([...MEMBERS, ...(MORE[code] ?? [])].toSorted())
  expect(Value.Check(ProblemBody, body)).toBe(true)
  expect(String(body["detail"])).not.toBe("")
  expect(body["request_id"]).toBe(headers.get("x-request-id"))
  expect(body["instance"]).toBe(`urn:mailkind:request:${headers.get("x-request-id")}`)
  expect(headers.get("content-type")).toBe("application/problem+json")
  expect(headers.get("cache-control")).toBe("no-store")
  expect(headers.get("x-content-type-options")).toBe("nosniff")
}

function expectItsHeaders({ status, headers, body }: ApiResponse, code: ProblemCode): void {
  // RFC 9110 §11.6.1 and §15.5.6 want these two; the third says when to come again.
  expect(headers.has("www-authenticate")).toBe(status === 401)
  expect(headers.has("allow")).toBe(status === 405)
  const saysWhen = [429, 503].includes(status) || code === "idempotency_in_progress"
  expect(headers.get("retry-after")).toBe(saysWhen ? String(body["retry_after"]) : null)
  expect([headers.has("ratelimit"), headers.has("ratelimit-policy")]).toEqual(
    TELLS_LIMITS.includes(code) ? [true, true] : [false, false],
  )
}

test("every code of the API is caused by some request", () => {
  const caused = new Set(CASES.map(([, code]) => code))
  expect(API_PROBLEM_CODES.filter(code => !caused.has(code))).toEqual([])
})

test("every route that takes keys says which problems it has, and has these and no others", () => {
  for (const route of ROUTE_NAMES) {
    const caused = new Set<string>(CASES.filter(([on]) => on === route).map(([, code]) => code))
    const reply = new Set<string>(["not_found", "method_not_allowed", ...ROUTES[route].problems])
    expect([route, [...caused].toSorted()]).toEqual([route, [...reply].toSorted()])
  }
  const keyed = Object.entries(ROUTES).filter(([, { kind, access }]) => kind === "api" && access !== "anybody")
  expect(keyed.map(([name]) => name).toSorted()).toEqual([...ROUTE_NAMES].toSorted())
})

describe("status, content type, members and headers are as documented", () => {
  test.each(CASES)("%s %s by %s", async (route, code, flaw) => {
    const answer = await flawed(route, [flaw])
    expectDocumented(answer, code)
    expectItsHeaders(answer, code)
  })

  test.each([
    ["POST", "/v1/health", "method_not_allowed"],
    ["GET", "/v1", "not_found"],
    ["DELETE", "/docs", "method_not_allowed"],
  ] as const)("%s %s without a key is %s", async (method, path, code) => {
    const { ask } = await testApp()
    const response = await ask(`${method} ${path}`, { key: null })
    expectDocumented(response, code)
    expectItsHeaders(response, code)
  })
})

describe("429 says when to come again", () => {
  test("in a second, and how many requests are answered, when a caller is too fast", async () => {
    const { body } = await flawed("getUsage", ["too_fast"])
    expect(body).toMatchObject({ retry_after: 1, limit: 2 })
  })

  test("in a second, and how many are answered at once, when too many are in flight", async () => {
    const { body } = await flawed("getUsage", ["too_many_at_once"])
    expect(body).toMatchObject({ retry_after: 1, limit: 1 })
  })

  test("at 00:00 UTC, and what the day's units are, when they are used up", async () => {
    const { ask, customers, accountId, time } = await testApp({ tier: 0 })
    await customers.units.take(accountId, 1000, 1000)
    for (const [passedMs, retryAfter, resetsAt] of [
      [0, 86_400, "2026-01-02T00:00:00.000Z"],
      [1, 86_400, "2026-01-02T00:00:00.000Z"],
      [86_398_998, 2, "2026-01-02T00:00:00.000Z"],
      [1, 1, "2026-01-02T00:00:00.000Z"],
      [999, 1, "2026-01-02T00:00:00.000Z"],
    ] as const) {
      await time.tick(passedMs)
      const { status, body } = await ask("GET /v1/check?domain=stripe.com")
      expect({ status, ...body }).toMatchObject({
        status: 429,
        retry_after: retryAfter,
        limit: 1000,
        resets_at: resetsAt,
      })
    }
    await time.tick(1)
    expect((await ask("GET /v1/check?domain=stripe.com")).status).toBe(200)
  })

  test("a page's visitor who is too fast is told the limits of the page's key too", async () => {
    const { ask, newKey } = await testApp({ tier: 0 })
    const { text } = await newKey(["https://shop.example"])
    const visit = () =>
      ask("GET /v1/check?domain=stripe.com", { key: text, headers: { Origin: "https://shop.example" } })
    const burst = LIMITS.publishableClientPerSecond * LIMITS.burstFactor
    for (let count = 0; count < burst; count++) expect((await visit()).status).toBe(200)
    const response = await visit()
    expect(response.body).toMatchObject({
      code: "rate_limited",
      limit: LIMITS.publishableClientPerSecond,
      retry_after: 1,
    })
    expect(response.headers.get("access-control-allow-origin")).toBe("https://shop.example")
    expectItsHeaders(response, "rate_limited")
  })
})

test("an account without limits a second and a day gets no header that says nothing", async () => {
  const { ask } = await testApp({ tier: 0, tiers: "0=-/5/-" })
  for (const line of ["GET /v1/usage", "GET /v1/check?domain=", "GET /v1/check?domain=stripe.com"]) {
    const { headers } = await ask(line)
    expect([headers.get("ratelimit"), headers.get("ratelimit-policy")]).toEqual([null, null])
  }
})

describe("a problem", () => {
  test("keeps the caller's own request id, and no other text as one", async () => {
    const { ask } = await testApp()
    const request = async (id: string) =>
      (await ask("GET /v1/nothing", { headers: { "X-Request-Id": id } })).body["request_id"]
    expect(await request(`${"a".repeat(61)}._-`)).toBe(`${"a".repeat(61)}._-`)
    for (const id of ["a".repeat(65), "a b", "a/b", "ä"]) expect(await request(id)).toMatch(/^req_test\d+$/)
  })

  test("has no body when HEAD is asked, and the same status and type", async () => {
    const { ask, app } = await testApp()
    for (const path of ["/v1/usage", "/v1/check?domain=stripe.com", "/v1/feedback"]) {
      const got = await app(new Request(`http://localhost${path}`, { method: "HEAD" }))
      const { status, headers } = await ask(`GET ${path}`, { key: null })
      expect([path, await got.text(), got.status, got.headers.get("content-type")]).toEqual([
        path,
        "",
        status,
        headers.get("content-type"),
      ])
    }
  })

  test("of the input names the place of each fault, in the body by a pointer and in the query by a parameter", async () => {
    for (const route of ["postCheck", "postFeedback"] as const)
      expect((await flawed(route, ["bad_input"])).body["errors"]).toEqual([
        { pointer: "/domain", detail: expect.any(String) },
      ])
    expect((await flawed("getCheck", ["bad_input"])).body["errors"]).toEqual([
      { parameter: "domain", detail: expect.any(String) },
    ])
    for (const flaw of ["not_json", "media_type"] as const)
      expect((await flawed("postFeedback", [flaw])).body["errors"]).toEqual([
        { pointer: "", detail: expect.any(String) },
      ])
  })

  test("of a batch with too many items names how many it has at most", async () => {
    expect((await flawed("postBatch", ["too_many_items"])).body["limit"]).toBe(LIMITS.batchItemsMax)
  })

  test("of the size names the limit in octets", async () => {
    for (const route of ["postCheck", "postFeedback"] as const)
      expect((await flawed(route, ["too_large"])).body["limit"]).toBe(LIMITS.bodyBytesMax)
    expect((await flawed("postBatch", ["too_large"])).body["limit"]).toBe(LIMITS.batchBodyBytesMax)
  })
})

test("our own failure on a route is logged under the request's id, and told without a reason", async () => {
  const harness = await testApp()
  await harness.store.run("DROP TABLE usage")
  const { body } = await harness.ask("GET /v1/usage")
  expect(body["code"]).toBe("internal_error")
  expect(JSON.stringify(body)).not.toMatch(/sql|table|usage/i)
  expect(harness.logged.map(({ fields }) => fields["request_id"])).toContain(String(body["request_id"]))
})

test("a defect in reading a domain's evidence is no failure on any way to check it, and each is logged without the domain", async () => {
  const harness = await testApp({ outside: fakeNetwork().outside })
  const { text: publishable } = await harness.newKey(["https://pages.example"])
  const body = { email: "jane@broken.com" }
  const page = await harness.ask("POST /v1/check", {
    body,
    key: publishable,
    headers: { Origin: "https://pages.example" },
  })
  expect([page.status, page.body["reasons"]]).toEqual([200, ["no_evidence", "dns_unavailable"]])
  expect(await harness.ask("POST /v1/check", { body })).toMatchObject({ status: 200, body: { degraded: true } })
  expect((await visit(harness, { input: body.email })).status).toBe(200)
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  }
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "check", arguments: body, _meta } }
  const agents = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "check" }
  const headers = { ...agents, Accept: "application/json, text/event-stream" }
  const agent = await harness.ask("POST /mcp", { body: call, headers })
  expect(agent.body).toMatchObject({ result: { structuredContent: { degraded: true } } })
  expect(harness.logged.map(({ message }) => message)).toEqual(Array(4).fill("evidence was not read"))
  expect(JSON.stringify(harness.logged)).not.toMatch(/jane|broken\.com/)
})

test("a damaged database is logged with what to do about it, and told without a reason", async () => {
  const harness = await testApp()
  Object.assign(harness.store, { all: () => Promise.reject(new StoreError("damaged", "mailkind.sqlite", "malformed")) })
  const { body } = await harness.ask("GET /v1/usage")
  expect(body["code"]).toBe("internal_error")
  expect(JSON.stringify(body)).not.toMatch(/database|damaged|sqlite/i)
  const { remedy } = STORE_ERRORS.damaged
  expect(harness.logged.map(({ fields }) => fields)).toContainEqual(
    expect.objectContaining({ fault: "damaged", remedy }),
  )
})

/** What a caller is told of each failure of the database: 503 where it passes by itself, and then whether anything may be stored. */
const TOLD_OF_STORE: Readonly<Record<StoreErrorCode, 500 | "503, not stored" | "503, may be stored">> = {
  ...{ not_a_database: 500, foreign_database: 500, altered: 500, shared_tables: 500, shared_schema: 500, newer: 500 },
  ...{
    unwritable: 500,
    damaged: 500,
    failed: 500,
    misnamed: 500,
    untrusted: 500,
    unencrypted: 500,
    pooled: 500,
    outdated: 500,
    elsewhere: 500,
  },
  ...{ refused: 500, rightless: 500, unfit: 500 },
  ...{ full: "503, not stored", busy: "503, not stored", away: "503, not stored", conflict: "503, not stored" },
  ...{
    unknown_host: "503, not stored",
    crowded: "503, not stored",
    clients_full: "503, not stored",
    pool_full: "503, not stored",
    pool_silent: "503, not stored",
    standby: "503, not stored",
  },
  unsure: "503, may be stored",
}

test("each failure of the database has its status, and an outage says whether the request may have been stored", async () => {
  const harness = await testApp()
  await harness.ask("GET /v1/usage")
  const told: Record<string, unknown> = {}
  for (const code of Object.keys(STORE_ERRORS) as StoreErrorCode[]) {
    Object.assign(harness.store, { all: () => Promise.reject(new StoreError(code, "mailkind.sqlite", "why")) })
    const { status, body } = await harness.ask("GET /v1/usage")
    const effect = String(body["detail"]).includes("may have been stored") ? "may be stored" : "not stored"
    told[code] = status === 503 ? `503, ${effect}` : status
  }
  expect(told).toEqual(TOLD_OF_STORE)
})
