import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { unitSubject } from "../../src/customers/accounts/unit-subjects.ts"
import { revokeKey } from "../../src/customers/keys/keys.ts"
import { type ApiResponse, testApp } from "../support/app.ts"

const PAGE = "https://app.example.com"
const OTHER = "https://evil.example"

/** Headers of CORS in an answer, by their names in lower case without `access-control-`. */
const corsOf = ({ headers }: ApiResponse): Record<string, string> =>
  Object.fromEntries(
    [...headers]
      .filter(([name]) => name.startsWith("access-control-"))
      .map(([name, value]) => [name.slice("access-control-".length), value]),
  )
const words = (list: string | null | undefined): string[] =>
  (list ?? "")
    .toLowerCase()
    .split(",")
    .map(word => word.trim())
    .sort()

/** What a browser sends before a page's request. */
const asking = (origin: string, method = "POST") => ({
  Origin: origin,
  "Access-Control-Request-Method": method,
  "Access-Control-Request-Headers": "authorization,content-type",
})

describe("a preflight", async () => {
  const harness = await testApp()
  const preflight = (path: string, headers: Record<string, string>) =>
    harness.ask(`OPTIONS ${path}`, { key: null, headers })
  const key = await harness.newKey([PAGE, "http://localhost:3000"])

  test.each([PAGE, "http://localhost:3000", "https://app.example.com:443"])(
    "from %s, which a key allows, tells what the page may send",
    async origin => {
      for (const method of ["GET", "POST"]) {
        const query = await preflight("/v1/check", asking(origin, method))
        expect(query.status).toBe(204)
        const cors = corsOf(query)
        expect(cors["allow-origin"]).toBe(origin)
        expect(words(cors["allow-methods"])).toContain(method.toLowerCase())
        for (const name of ["authorization", "x-api-key", "content-type", "x-request-id"])
          expect(words(cors["allow-headers"])).toContain(name)
        expect(Number(cors["max-age"])).toBeGreaterThan(0)
        expect(words(query.headers.get("vary"))).toContain("origin")
      }
    },
  )

  test("of a request without a key is allowed from any origin, since only a test address is answered then", async () => {
    const headers = { ...asking(OTHER), "Access-Control-Request-Headers": "content-type" }
    expect(corsOf(await preflight("/v1/check", headers))).toMatchObject({ "allow-origin": OTHER })
    for (const name of ["X-API-Key", "content-type, authorization"])
      expect(corsOf(await preflight("/v1/check", { ...headers, "Access-Control-Request-Headers": name }))).toEqual({})
  })

  test("never allows credentials or every origin", async () => {
    for (const origin of [PAGE, OTHER, "null", "*"]) {
      const cors = corsOf(await preflight("/v1/check", asking(origin)))
      expect(cors["allow-credentials"]).toBeUndefined()
      expect(cors["allow-origin"]).not.toBe("*")
    }
  })

  test.each([OTHER, "null", "", "http://app.example.com", "https://app.example.com:8443", `${PAGE}/path`, "*"])(
    "from %j, which no key allows, is told nothing",
    async origin => {
      const response = await preflight("/v1/check", asking(origin))
      expect({ status: response.status, cors: corsOf(response) }).toEqual({ status: 204, cors: {} })
      expect(words(response.headers.get("vary"))).toContain("origin")
    },
  )

  test("without an origin is OPTIONS like any other", async () => {
    const response = await preflight("/v1/check", {})
    expect({ status: response.status, cors: corsOf(response) }).toEqual({ status: 204, cors: {} })
    expect(response.headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS")
    expect(words(response.headers.get("vary"))).toContain("origin")
  })

  test("of any other path is told nothing, also from an origin that a key allows", async () => {
    const others = Object.values(ROUTES).filter(({ path }) => path !== ROUTES.postCheck.path && !path.includes(":"))
    for (const { path } of others) {
      const reply = await preflight(path, asking(PAGE))
      expect({ path, status: reply.status, cors: corsOf(reply) }).toEqual({ path, status: 204, cors: {} })
    }
    for (const path of ["/v1/checks", "/v1/check/", "/nothing", "/metrics"]) {
      const answer = await preflight(path, asking(PAGE))
      expect({ path, status: answer.status, cors: corsOf(answer) }).toEqual({ path, status: 404, cors: {} })
    }
  })

  test("costs nothing, however many there are", async () => {
    for (let at = 0; at < 100; at++) expect((await preflight("/v1/check", asking(PAGE))).status).toBe(204)
    const requests = await harness.ask("GET /v1/check?domain=stripe.com", { key: key.text, headers: { Origin: PAGE } })
    expect(requests.status).toBe(200)
    expect(requests.headers.get("ratelimit")).toContain(`r=${LIMITS.publishableUnitsPerDay - 1}`)
  })

  test("of an origin whose only key was revoked is told nothing", async () => {
    const own = await testApp()
    const gone = await own.newKey([PAGE])
    await revokeKey(own.changes, gone.id, "owner")
    expect(corsOf(await own.ask("OPTIONS /v1/check", { key: null, headers: asking(PAGE) }))).toEqual({})
  })
})

describe("an answer", async () => {
  const harness = await testApp({ tier: 0 })
  const page = await harness.newKey([PAGE])

  /** Asks as a page does; a second passes first, so that no limit is met. */
  const fromPage = async (
    line: string,
    origin: string | null = PAGE,
    body?: unknown,
    key: string | null = page.text,
  ) => {
    await harness.time.tick(1000)
    const headers = origin === null ? undefined : { Origin: origin }
    return await harness.ask(line, { key, ...(headers && { headers }), ...(body !== undefined && { body }) })
  }

  /** Holds that the page may read the answer and the headers that it needs. */
  const expectReadable = (requests: ApiResponse, origin = PAGE): void => {
    const cors = corsOf(requests)
    expect(cors["allow-origin"]).toBe(origin)
    expect(words(cors["expose-headers"])).toEqual([
      "link",
      "ratelimit",
      "ratelimit-policy",
      "retry-after",
      "warning",
      "x-request-id",
    ])
    expect(words(requests.headers.get("vary"))).toContain("origin")
  }
  const expectUnreadable = (requests: ApiResponse): void => expect(corsOf(requests)).toEqual({})

  test("to an allowed origin is the page's to read, and repeats the origin as it was sent", async () => {
    for (const origin of [PAGE, `${PAGE}:443`, "HTTPS://APP.EXAMPLE.COM"]) {
      expectReadable(await fromPage("GET /v1/check?domain=stripe.com", origin), origin)
      expectReadable(await fromPage("POST /v1/check", origin, { email: "business@mailkind.test" }), origin)
      expectReadable(await fromPage("HEAD /v1/check?domain=stripe.com", origin), origin)
    }
  })

  test("that refuses after the origin was found good is the page's to read too", async () => {
    const invalid = await fromPage("POST /v1/check", PAGE, {})
    const tooLarge = await fromPage("POST /v1/check", PAGE, "x".repeat(LIMITS.bodyBytesMax + 1))
    const failed = await fromPage("GET /v1/check?email=error-500%40mailkind.test")
    const facts = await fromPage("GET /v1/check?email=error-quota%40mailkind.test")
    expect([invalid, tooLarge, failed, facts].map(({ status }) => status)).toEqual([400, 413, 500, 429])
    for (const requests of [invalid, tooLarge, failed, facts]) expectReadable(requests)
  })

  test("that refuses one visitor, or all of them, for coming too often is the page's to read", async () => {
    await harness.time.tick(10_000)
    const asks = (peer: string) =>
      harness.ask("GET /v1/check?email=business%40mailkind.test", {
        key: page.text,
        headers: { Origin: PAGE, "x-test-peer": peer },
      })
    const visitor = await Promise.all(Array.from({ length: 5 }, () => asks("192.0.2.7")))
    expect(visitor.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429])
    const all = await Promise.all(Array.from({ length: 17 }, (_, at) => asks(`198.51.100.${at}`)))
    expect(all.at(-1)?.body["code"]).toBe("rate_limited")
    for (const requests of [...visitor, ...all]) {
      expectReadable(requests)
      if (requests.status === 429) expect(requests.headers.get("retry-after")).toMatch(/^[1-9]\d*$/)
    }
  })

  test("that refuses for the quota of the day is the page's to read", async () => {
    await harness.time.tick(86_400_000)
    const subject = unitSubject(harness.accountId, "publishable")
    await harness.customers.units.take(subject, LIMITS.publishableUnitsPerDay, LIMITS.publishableUnitsPerDay)
    const requests = await fromPage("GET /v1/check?domain=stripe.com")
    expect(requests.body["code"]).toBe("quota_exceeded")
    expectReadable(requests)
  })

  test("that refuses an origin that no key allows is nobody's to read, and says that it differs by origin", async () => {
    for (const origin of [OTHER, "null", "http://app.example.com", `${PAGE}.evil.example`, null]) {
      const requests = await fromPage("GET /v1/check?domain=stripe.com", origin)
      expect(requests.body["code"]).toBe("forbidden_origin")
      expectUnreadable(requests)
      if (origin !== null) expect(words(requests.headers.get("vary"))).toContain("origin")
    }
    for (const [line, key] of [
      ["GET /v1/check?domain=stripe.com", null],
      ["GET /v1/check?domain=stripe.com", "svc_pub_nonsense"],
      ["GET /v1/check?domain=stripe.com", harness.key],
      ["GET /v1/nothing", null],
      ["GET /v1/usage", page.text],
    ] as const)
      expectUnreadable(await harness.ask(line, { key, headers: { Origin: OTHER } }))
  })

  test("of every kind is the page's to read where any key allows its origin: of each status, with any key and with none", async () => {
    const elsewhere = await harness.newKey(["https://elsewhere.example"])
    const gone = await harness.newKey([PAGE])
    await revokeKey(harness.changes, gone.id, "owner")
    for (const [line, key, status] of [
      ["GET /v1/check?domain=stripe.com", null, 401],
      ["GET /v1/check?domain=stripe.com", "svc_pub_nonsense", 401],
      ["GET /v1/check?domain=stripe.com", gone.text, 401],
      ["GET /v1/usage", page.text, 401],
      ["POST /v1/check/batch", page.text, 401],
      ["POST /v1/feedback", page.text, 401],
      ["GET /v1/check?domain=stripe.com", elsewhere.text, 403],
      ["GET /v1/nothing", null, 404],
      ["GET /nothing", null, 404],
      ["HEAD /v1/nothing", null, 404],
      ["DELETE /v1/check", page.text, 405],
      ["GET /v1/check/batch", null, 405],
      ["POST /v1/check", harness.key, 400],
      ["GET /v1/check?domain=stripe.com", harness.key, 200],
      ["GET /v1/usage", harness.key, 200],
      ["GET /v1/health", null, 200],
    ] as const) {
      const answer = await fromPage(line, PAGE, line.startsWith("POST") ? {} : undefined, key)
      expect({ line, status: answer.status }).toEqual({ line, status })
      expectReadable(answer)
    }
  })

  test("about a test address without a key is any page's to read, refusals too", async () => {
    const own = await testApp()
    const asks = (email: string, origin = OTHER) =>
      own.ask(`GET /v1/check?email=${email}%40mailkind.test`, { key: null, headers: { Origin: origin } })
    for (const origin of [OTHER, PAGE, "null"]) expectReadable(await asks("business", origin), origin)
    expectReadable(await asks("error-429"), OTHER)
    const posted = await own.ask("POST /v1/check", {
      key: null,
      headers: { Origin: OTHER },
      body: { email: "business@mailkind.test" },
    })
    expectReadable(posted, OTHER)
    const tooFast = await asks("business")
    expect([tooFast.status, tooFast.headers.get("ratelimit")]).toEqual([429, '"client";r=0;t=1'])
    expectReadable(tooFast, OTHER)
    expectUnreadable(await own.ask("GET /v1/check?email=jane%40gmail.com", { key: null, headers: { Origin: OTHER } }))
  })

  test("to no page is what it was, and a database that is away leaves it unread", async () => {
    const own = await testApp()
    expect((await own.ask("GET /v1/nothing", { key: null })).headers.get("vary")).toBeNull()
    await own.store.run("ALTER TABLE key_origins RENAME TO gone")
    const refused = await own.ask("GET /v1/nothing", { key: null, headers: { Origin: PAGE } })
    expect(refused.status).toBe(404)
    expectUnreadable(refused)
  })
})
