import { describe, expect, test } from "bun:test"
import { METRIC_LABELS } from "../../src/contract/metrics.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { testApp } from "../support/app.ts"
import { samplesOf } from "../support/prometheus.ts"
import { KEYED_ROUTES } from "./flawed-request.ts"

type Harness = Awaited<ReturnType<typeof testApp>>

const samples = async (harness: Harness) => samplesOf(await harness.metrics())

test("metrics are not beside the API", async () => {
  const own = await testApp()
  for (const method of ["GET", "POST"])
    expect([method, (await own.ask(`${method} /metrics`)).status]).toEqual([method, 404])
})

describe("an answer is counted once", () => {
  const paths = Object.values(ROUTES).map(
    ({ method, path }) => [method, path.replace(":name", "none.css"), path] as const,
  )

  test("by its route and status, on every route", async () => {
    const own = await testApp()
    let before = await samples(own)
    for (const [method, input, path] of paths) {
      const known = Object.values(KEYED_ROUTES).find(row => row.method === method && row.good.split("?")[0] === path)
      const body = known !== undefined && "body" in known ? { body: JSON.stringify(known.body) } : {}
      const headers = { Authorization: `Bearer ${own.key}`, "Content-Type": "application/json" }
      const { status } = await own.app(
        new Request(`http://localhost${known?.good ?? input}`, { method, headers, ...body }),
      )
      const after = await samples(own)
      const counted = [...after].flatMap(([name, value]) => {
        const count = value - (before.get(name) ?? 0)
        return /^mailkind_http_request(?:s_total|_duration_seconds_count)\{/.test(name) && count !== 0
          ? [[name, count]]
          : []
      })
      const route = `route="${method} ${path}"`
      expect(counted).toEqual([
        [`mailkind_http_requests_total{${route},code="${status}"}`, 1],
        [`mailkind_http_request_duration_seconds_count{${route}}`, 1],
      ])
      before = after
    }
  })

  test.each([
    ["GET", "/nothing", "elsewhere", 404],
    ["PUT", "/v1/check", "elsewhere", 405],
    ["OPTIONS", "/v1/health", "elsewhere", 204],
    ["HEAD", "/v1/health", "GET /v1/health", 200],
    ["HEAD", "/nothing", "elsewhere", 404],
    ["GET", "/v1/check", "GET /v1/check", 401],
  ])("%s %s as %s", async (method, path, route, status) => {
    const own = await testApp()
    await own.app(new Request(`http://localhost${path}`, { method }))
    const counted = [...(await samples(own))].filter(
      ([name, value]) => name.startsWith("mailkind_http_requests_total{") && value > 0,
    )
    expect(counted).toEqual([[`mailkind_http_requests_total{route="${route}",code="${status}"}`, 1]])
  })
})

describe("a verdict is counted", () => {
  test("by category and decisive reason, of a check and of each item of a batch, and not of test addresses", async () => {
    const own = await testApp()
    await own.ask("POST /v1/check", { body: { email: "jane@gmail.com" } })
    await own.ask("GET /v1/check?domain=mailinator.com")
    await own.ask("POST /v1/check/batch", { body: { items: ["a@gmail.com", "b@gmail.com", "business@mailkind.test"] } })
    await own.ask("POST /v1/check", { body: { email: "business@mailkind.test" } })
    const counted = [...(await samples(own))].filter(([name]) => name.startsWith("mailkind_verdicts_total{"))
    expect(Object.fromEntries(counted)).toEqual({
      'mailkind_verdicts_total{category="personal",reason="free_provider"}': 3,
      'mailkind_verdicts_total{category="disposable",reason="disposable_domain"}': 1,
    })
    expect((await samples(own)).get("mailkind_verdicts_degraded_total")).toBe(4)
  })
})

describe("a caller over a limit is counted by its tier alone", () => {
  const limited = async (own: Harness, tier: string, limit: string) =>
    (await samples(own)).get(`mailkind_limited_total{tier="${tier}",limit="${limit}"}`)

  test("for its requests a second", async () => {
    const own = await testApp({ tier: 1, tiers: "1=1/5/100" })
    for (let count = 0; count < 5; count++) await own.ask("GET /v1/usage")
    expect(await limited(own, "1", "rate")).toBe(3)
    expect((await samples(own)).get('mailkind_problems_total{problem="rate_limited"}')).toBe(3)
  })

  test("for its units of the day", async () => {
    const own = await testApp({ tier: 0, tiers: "0=100/5/1" })
    for (let count = 0; count < 3; count++) await own.ask("GET /v1/check?domain=stripe.com")
    expect(await limited(own, "0", "units")).toBe(2)
  })

  test("of a publishable key as such", async () => {
    const own = await testApp()
    const { text } = await own.newKey(["https://shop.example"])
    const headers = { Origin: "https://shop.example" }
    for (let count = 0; count < 6; count++) await own.ask("GET /v1/check?domain=stripe.com", { key: text, headers })
    expect(await limited(own, "publishable", "rate")).toBe(2)
  })
})

test("after a mixed load neither metrics nor the log name an address, a key or a client, and metrics no account", async () => {
  const own = await testApp({
    tier: 0,
    tiers: "0=40/5/20",
    logsEveryResponse: true,
  })
  const secrets = ["jane.private", "secret-host", "203.0.113.77", own.key, "owner@localhost"]
  const headers = { "x-test-peer": "203.0.113.77", "User-Agent": "secret-host" }
  const email = "jane.private@secret-host.example"
  for (const line of [
    `GET /v1/check?email=${email}`,
    `GET /v1/${email}`,
    `GET /docs/lists?domain=${email}`,
    "GET /v1/usage",
  ])
    for (const key of [own.key, null, "nonsense", email]) await own.app(request(line, key, headers))
  for (let count = 0; count < 60; count++) await own.ask("POST /v1/check", { body: { email }, headers })
  await own.ask("POST /v1/check/batch", { body: { items: [email] }, headers })
  await own.ask("POST /v1/feedback", { body: { email, expected_category: "personal" }, headers })
  await own.store.run("DROP TABLE usage")
  await own.ask("GET /v1/usage", { headers })
  const metrics = await own.metrics()
  for (const id of [own.keyId, own.accountId]) expect(metrics).not.toContain(id)
  const text = `${metrics}\n${own.logged.map(line => JSON.stringify(line)).join("\n")}`
  expect(own.logged.length).toBeGreaterThan(20)
  for (const secret of secrets) expect([secret, text.includes(secret)]).toEqual([secret, false])
  for (const [, label = "", value = ""] of text.matchAll(/[{,](\w+)="([^"]*)"/g)) {
    if (["le", "worker", "version", "commit", "bun"].includes(label)) continue
    expect<readonly string[]>(METRIC_LABELS[label as keyof typeof METRIC_LABELS]).toContain(value)
  }
})

function request(line: string, key: string | null, headers: Record<string, string>): Request {
  const [method = "GET", path = "/"] = line.split(" ")
  const sent = key === null ? headers : { ...headers, Authorization: `Bearer ${key}` }
  return new Request(`http://localhost${path}`, { method, headers: sent })
}
