import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { testApp } from "../support/app.ts"

const { ask, key, app } = await testApp()
const test_ = "business@mailkind.test"

describe("404 and 405", () => {
  test.each([
    "/v1",
    "/v1/",
    "/v1/check/",
    "/v2/check",
    "/check",
    "/V1/check",
    "/v1/checks",
    "/v1/%63heck",
    "//v1/check",
  ])("%s does not exist", async path => {
    for (const method of ["GET", "POST", "OPTIONS", "DELETE"]) {
      expect((await ask(`${method} ${path}`, { key: null })).body["code"]).toBe("not_found")
    }
  })

  test("a path is found under any host, however short its name", async () => {
    for (const host of ["x", "mk:80", "a.b", "[::1]:8080", "localhost", "a-long-host-name.example.com:65535"]) {
      expect((await app(new Request(`http://${host}/v1/health`))).status).toBe(200)
      expect((await app(new Request(`http://${host}/v1/nothing`))).status).toBe(404)
    }
  })

  test("a path without the method names the methods it has", async () => {
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const { status, body, headers } = await ask(`${method} /v1/check`, { key: null })
      expect({ status, code: body["code"], allow: headers.get("allow") }).toEqual({
        status: 405,
        code: "method_not_allowed",
        allow: "GET, HEAD, POST, OPTIONS",
      })
    }
    expect((await ask("POST /v1/health", { body: {} })).headers.get("allow")).toBe("GET, HEAD, OPTIONS")
  })

  test("OPTIONS is answered without a key and names the methods", async () => {
    const { status, headers } = await ask("OPTIONS /v1/check", { key: null })
    expect({ status, allow: headers.get("allow") }).toEqual({ status: 204, allow: "GET, HEAD, POST, OPTIONS" })
  })

  test("HEAD is GET without a body, refusals included", async () => {
    const got = await app(new Request("http://localhost/v1/health", { method: "HEAD" }))
    expect({ status: got.status, text: await got.text(), type: got.headers.get("content-type") }).toEqual({
      status: 200,
      text: "",
      type: "application/json",
    })
    expect((await ask("HEAD /v1/check?domain=stripe.com", { key: null })).status).toBe(401)
    expect((await ask("HEAD /v1/nothing")).status).toBe(404)
  })
})

describe("401", () => {
  test("without a key everything but a readable test address is unauthorized, a bad body too", async () => {
    for (const body of [
      { email: "jane@gmail.com" },
      { domain: "mailkind.test" },
      { url: "https://mailkind.test/" },
      {},
      "{",
      "[]",
      { email: 7 },
      "x".repeat(LIMITS.bodyBytesMax + 1),
    ]) {
      const { status, body: problem, headers } = await ask("POST /v1/check", { body, key: null })
      expect({ status, code: problem["code"] }).toEqual({ status: 401, code: "unauthorized" })
      expect(headers.get("www-authenticate")).toContain("Bearer")
    }
    expect(
      (await ask("POST /v1/check", { body: { email: test_ }, key: null, headers: { "Content-Type": "text/plain" } }))
        .status,
    ).toBe(401)
  })

  test("a key in the query string is not read, and the refusal says where keys go", async () => {
    const { status, body } = await ask(
      `GET /v1/check?email=jane%40gmail.com&api_key=${key}&key=${key}&access_token=${key}`,
      { key: null },
    )
    expect(status).toBe(401)
    expect(String(body["detail"])).toContain("X-API-Key")
  })

  test("a key is taken from either header, and the same key from both", async () => {
    const body = { domain: "stripe.com" }
    expect((await ask("POST /v1/check", { body, key: null, headers: { "X-API-Key": key } })).status).toBe(200)
    expect(
      (await ask("POST /v1/check", { body, key: null, headers: { Authorization: `bearer  ${key} ` } })).status,
    ).toBe(200)
    expect((await ask("POST /v1/check", { body, headers: { "X-API-Key": key } })).status).toBe(200)
  })

  test.each([
    ["two different keys", { Authorization: `Bearer ${key}`, "X-API-Key": `${key}x` }],
    ["an empty bearer", { Authorization: "Bearer" }],
    ["no key of ours", { "X-API-Key": "sk_live_123" }],
    ["a cut key", { "X-API-Key": key.slice(0, -1) }],
    ["a mistyped key", { "X-API-Key": key.replace(/.$/, last => (last === "a" ? "b" : "a")) }],
    ["a key of a megabyte", { "X-API-Key": "svc_live_".padEnd(1_000_000, "a") }],
  ])("%s is an invalid key, also beside a test address", async (_, headers) => {
    const { status, body } = await ask("POST /v1/check", { body: { email: test_ }, key: null, headers })
    expect({ status, code: body["code"] }).toEqual({ status: 401, code: "invalid_key" })
  })

  test("an empty header is no key, and the other one counts", async () => {
    for (const headers of [
      { "X-API-Key": "" },
      { "X-API-Key": " " },
      { Authorization: "" },
      { Authorization: "", "X-API-Key": "" },
    ]) {
      const refused = await ask("POST /v1/check", { body: { email: "jane@gmail.com" }, key: null, headers })
      expect([headers, refused.status, refused.body["code"]]).toEqual([headers, 401, "unauthorized"])
      expect((await ask("POST /v1/check", { body: { email: test_ }, key: null, headers })).status).toBe(200)
    }
    for (const headers of [
      { Authorization: `Bearer ${key}`, "X-API-Key": "" },
      { Authorization: "", "X-API-Key": key },
    ])
      expect((await ask("GET /v1/usage", { key: null, headers })).status).toBe(200)
  })

  test("a key without its scheme is told so, and nobody else is", async () => {
    for (const [headers, isTold] of [
      [{ Authorization: key }, true],
      [{ Authorization: `Token ${key}` }, true],
      [{ Authorization: "Basic amFuZTpkb2U=" }, false],
      [{}, false],
    ] as const)
      for (const path of ["GET /v1/usage", "GET /v1/check?domain=gmail.com"]) {
        const { body } = await ask(path, { key: null, headers })
        expect([body["code"], String(body["detail"]).includes("missing before it")]).toEqual(["unauthorized", isTold])
      }
  })

  test("a revoked key is refused from the moment its revocation is acknowledged", async () => {
    const own = await testApp()
    expect((await own.ask("GET /v1/check?domain=stripe.com")).status).toBe(200)
    await own.revoke()
    expect((await own.ask("GET /v1/check?domain=stripe.com")).body["code"]).toBe("key_revoked")
  })
})

describe("429", () => {
  test("without a key a client address has five requests a second", async () => {
    const own = await testApp()
    const keyless = (peer: string) =>
      own.ask(`GET /v1/check?email=${test_}`, { key: null, headers: { "x-test-peer": peer } })
    for (let at = 0; at < LIMITS.keylessPerSecond; at++) expect((await keyless("192.0.2.1")).status).toBe(200)
    const { status, body, headers } = await keyless("192.0.2.1")
    expect({ status, code: body["code"], retry: headers.get("retry-after") }).toEqual({
      status: 429,
      code: "rate_limited",
      retry: "1",
    })
    expect((await keyless("192.0.2.2")).status).toBe(200)
    await own.time.tick(1000)
    expect((await keyless("192.0.2.1")).status).toBe(200)
  })
})
