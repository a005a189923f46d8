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
      const question = await preflight("/v1/check", asking(origin))
      expect({ status: question.status, cors: corsOf(question) }).toEqual({ status: 204, cors: {} })
      expect(words(question.headers.get("vary"))).toContain("origin")
    },
  )

  test("without an origin is OPTIONS like any other", async () => {
    const response = await preflight("/v1/check", {})
    expect({ status: response.status, cors: corsOf(response) }).toEqual({ status: 204, cors: {} })
    expect(response.headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS")
    expect(words(response.headers.get("vary"))).toContain("origin")
  })

  test("of any other path is told nothing, also from an origin that a key allows", async () => {
    const others = Object.values(ROUTES).filter(
      ({ path, access }) => path !== ROUTES.postCheck.path && access !== "operator" && !path.includes(":"),
    )
    for (const { path } of others) {
      const reply = await preflight(path, asking(PAGE))
      expect({ path, status: reply.status, cors: corsOf(reply) }).toEqual({ path, status: 204, cors: {} })
    }
    for (const path of ["/v1/checks", "/v1/check/", "/nothing", ROUTES.metrics.path]) {
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
  const fromPage = async (line: string, origin: string | null = PAGE, body?: unknown, key = page.text) => {
    await harness.time.tick(1000)
    const headers = origin === null ? undefined : { Origin: origin }
    return await harness.ask(line, { key, ...(headers && { headers }), ...(body !== undefined && { body }) })
  }

  /** Holds that the page may read the answer and the headers that it needs. */
  const expectReadable = (requests: ApiResponse, origin = PAGE): void => {
    const cors = corsOf(requests)
    expect(cors["allow-origin"]).toBe(origin)
    expect(words(cors["expose-headers"])).toEqual(["ratelimit", "ratelimit-policy", "retry-after", "x-request-id"])
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

  test("that refuses the origin is nobody's to read", async () => {
    for (const origin of [OTHER, "null", "http://app.example.com", `${PAGE}.evil.example`, null]) {
      const requests = await fromPage("GET /v1/check?domain=stripe.com", origin)
      expect(requests.body["code"]).toBe("forbidden_origin")
      expectUnreadable(requests)
    }
  })

  test("that refuses the key, or the kind of key, is nobody's to read", async () => {
    for (const [line, key, code] of [
      ["GET /v1/check?domain=stripe.com", "svc_pub_nonsense", "invalid_key"],
      ["GET /v1/usage", page.text, "invalid_key"],
      ["POST /v1/check/batch", page.text, "invalid_key"],
      ["POST /v1/feedback", page.text, "invalid_key"],
    ] as const) {
      const requests = await fromPage(line, PAGE, line.startsWith("POST") ? {} : undefined, key)
      expect(requests.body["code"]).toBe(code)
      expectUnreadable(requests)
    }
    const own = await harness.newKey([PAGE])
    await revokeKey(harness.changes, own.id, "owner")
    const revoked = await fromPage("GET /v1/check?domain=stripe.com", PAGE, undefined, own.text)
    expect(revoked.body["code"]).toBe("key_revoked")
    expectUnreadable(revoked)
  })

  test("to a secret key, or to no key, is no page's to read", async () => {
    const answered = await fromPage("GET /v1/check?domain=stripe.com", PAGE, undefined, harness.key)
    const refused = await fromPage("POST /v1/check", PAGE, {}, harness.key)
    const usage = await fromPage("GET /v1/usage", PAGE, undefined, harness.key)
    const test_ = await harness.ask("GET /v1/check?email=business%40mailkind.test", {
      key: null,
      headers: { Origin: PAGE },
    })
    const health = await harness.ask("GET /v1/health", { key: null, headers: { Origin: PAGE } })
    expect([answered, refused, usage, test_, health].map(({ status }) => status)).toEqual([200, 400, 200, 200, 200])
    for (const requests of [answered, refused, usage, test_, health]) expectUnreadable(requests)
  })
})
