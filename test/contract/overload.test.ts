import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { testApp } from "../support/app.ts"
import { addJobs, KEYED_ROUTES } from "./flawed-request.ts"

const MANY = 10
const KEYED = Object.values(KEYED_ROUTES).map(
  row => [row.method, row.good, "body" in row ? { body: row.body } : "list" in row ? { body: row.list } : {}] as const,
)

/** A house in which as many requests are in flight as are served, or so many more. */
async function busy(more = 0, options: Parameters<typeof testApp>[0] = {}) {
  const harness = await testApp({ inFlightMax: MANY, ...options })
  for (let count = 0; count < MANY + more; count++) harness.load.acquire()
  return harness
}

describe("a server with as much to do as it can", () => {
  test.each(KEYED)("refuses %s %s, and serves it again at once when others are done", async (method, path, sent) => {
    const harness = await busy()
    const { ask, load } = harness
    await addJobs(harness, [])
    const { status, headers, body } = await ask(`${method} ${path}`, sent)
    expect([status, body["code"], headers.get("retry-after")]).toEqual([503, "overloaded", "1"])
    for (let count = 0; count < MANY; count++) load.release()
    expect((await ask(`${method} ${path}`, sent)).status).toBeLessThan(300)
    expect(load.inFlight).toBe(0)
  })

  test("still tells a caller of its own limits", async () => {
    const { ask, customers, accountId } = await busy(0, { tier: 0, tiers: "0=1/1/10" })
    customers.inFlight.tryAcquire(accountId, 1)
    const { status, body } = await ask("GET /v1/usage")
    expect([status, body["code"]]).toEqual([429, "rate_limited"])
  })

  test("takes no units for what it refuses", async () => {
    const { ask, load } = await busy(0, { tier: 0, tiers: "0=100/10/10" })
    await ask("GET /v1/check?domain=stripe.com")
    for (let count = 0; count < MANY; count++) load.release()
    const { headers } = await ask("GET /v1/check?domain=stripe.com")
    expect(headers.get("ratelimit")).toContain("r=9")
  })

  test("refuses the keyless test address too, and tells others that they need a key", async () => {
    const { ask } = await busy()
    const keyless = async (query: string) => (await ask(`GET /v1/check?${query}`, { key: null })).body["code"]
    expect(await keyless("email=business@mailkind.test")).toBe("overloaded")
    expect(await keyless("domain=stripe.com")).toBe("unauthorized")
  })

  test("tells how it is, however much there is", async () => {
    const { ask } = await busy(MANY)
    expect((await ask("GET /v1/health", { key: null })).status).toBe(200)
  })

  test.each(["/dashboard", "/admin"])(
    "refuses the page %s as a page, and shows it again when others are done",
    async path => {
      const { app, load } = await busy()
      const shown = () => app(new Request(`http://localhost${path}`))
      const refused = await shown()
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"])
      expect(refused.headers.get("content-type")).toBe("text/html; charset=utf-8")
      for (let count = 0; count < MANY; count++) load.release()
      expect((await shown()).status).toBeLessThan(400)
    },
  )

  test("looks at nobody beyond twice as much", async () => {
    const { ask } = await busy(MANY)
    for (const line of ["GET /v1/check?domain=stripe.com", "GET /nothing", "POST /v1/check/batch", "GET /docs"]) {
      const { status, headers } = await ask(line, { key: "nonsense" })
      expect([line, status, headers.get("retry-after")]).toEqual([line, 503, "1"])
    }
  })
})

describe("what is heavy gives way first", () => {
  test("batches at half of the requests, while single checks are served", async () => {
    const { ask, load } = await busy()
    for (let count = 0; count < MANY / 2; count++) load.release()
    expect((await ask("POST /v1/check/batch", { body: { items: ["stripe.com"] } })).body["code"]).toBe("overloaded")
    expect((await ask("GET /v1/check?domain=stripe.com")).status).toBe(200)
  })

  test("batches when the event loop lasts to be late, and then the rest", async () => {
    const { ask, lag } = await testApp()
    const request = async () => [
      (await ask("POST /v1/check/batch", { body: { items: ["stripe.com"] } })).status,
      (await ask("GET /v1/check?domain=stripe.com")).status,
      (await ask("GET /v1/health")).status,
    ]
    lag.ms = 251
    expect(await request()).toEqual([503, 200, 200])
    lag.ms = 1001
    expect(await request()).toEqual([503, 503, 200])
    lag.ms = 0
    expect(await request()).toEqual([200, 200, 200])
  })
})

describe("long bodies", () => {
  const long = (bytes: number) => JSON.stringify({ domain: "stripe.com" }).padEnd(bytes)
  const sized = (body: string) => ({ body, headers: { "Content-Length": String(body.length) } })

  test("are read as far as there is room, short ones in any case", async () => {
    const { ask, load } = await testApp({ bodyBytesMax: 40_000 })
    load.reserveBody(20_000)
    expect((await ask("POST /v1/check", sized(long(20_000)))).status).toBe(200)
    expect((await ask("POST /v1/check", sized(long(20_001)))).body["code"]).toBe("overloaded")
    load.reserveBody(20_000)
    expect((await ask("POST /v1/check", sized(long(8192)))).status).toBe(200)
    expect((await ask("POST /v1/check", sized(long(8193)))).body["code"]).toBe("overloaded")
    expect(load.bodyBytes).toBe(40_000)
  })

  test("of no told length are counted as they come", async () => {
    const { ask, load } = await testApp({ bodyBytesMax: 30_000 })
    const streamed = (bytes: number) => ({
      body: new ReadableStream({
        start: controller => {
          controller.enqueue(new TextEncoder().encode(long(bytes)))
          controller.close()
        },
      }),
    })
    expect((await ask("POST /v1/check", streamed(30_000))).status).toBe(200)
    expect((await ask("POST /v1/check", streamed(30_001))).body["code"]).toBe("overloaded")
    expect((await ask("POST /v1/check", streamed(LIMITS.bodyBytesMax + 1))).body["code"]).toBe("payload_too_large")
    expect(load.bodyBytes).toBe(0)
  })

  test("that end before they are whole are no fault of ours", async () => {
    const { ask, load, logged } = await testApp()
    const broken = () => ({
      body: new ReadableStream({
        pull: controller => {
          controller.error(new Error("the connection was closed"))
        },
      }),
    })
    for (const line of ["POST /v1/check", "POST /v1/check/batch", "POST /v1/feedback"])
      expect([line, (await ask(line, broken())).status]).toEqual([line, 400])
    expect([load.inFlight, load.bodyBytes, logged]).toEqual([0, 0, []])
  })
})
