import { expect, test } from "bun:test"
import type { Fetch, FetchOptions } from "../../../src/base/fetch.ts"
import { known, unknown } from "../../../src/base/finding.ts"
import { createTenantLookup } from "../../../src/check/tenant/tenant-lookup.ts"
import { type IdentityTable, identityWeb } from "../../support/identity-server.ts"
import { createFakeTime, settled } from "../../support/time.ts"

const ID = "6babcaad-604b-40ac-a9d7-9fd97c0b779f"
const BASE = "https://login.example"

function lookingUp(table: IdentityTable) {
  const time = createFakeTime()
  const { web, requests: queries } = identityWeb(table)
  const lookUp = createTenantLookup(web, time.clock, time.later)
  return { time, queries, lookUp: (domain: string) => lookUp(BASE, domain, domain) }
}

/** The result with endpoints that answer at once. */
const foundIn = (table: IdentityTable, domain: string) => lookingUp(table).lookUp(domain).result

const managed = (id: string, region: string | null = null) =>
  known({ id, region, auth: "managed" as const, identityProvider: null })

test("a managed tenant is found with its region", async () => {
  const found = await foundIn({ "acme.com": { tenant: ID, region: "EU", realm: "Managed" } }, "acme.com")
  expect(found).toEqual({ tenant: managed(ID, "EU"), isComplete: true, retryAfterMs: null })
})

test("a federated tenant is found with its identity provider", async () => {
  const authUrl = "https://sts.acme.com/adfs/ls/"
  const { tenant } = await foundIn({ "acme.com": { tenant: ID, realm: "Federated", authUrl } }, "acme.com")
  expect(tenant).toEqual(known({ id: ID, region: null, auth: "federated", identityProvider: "adfs" }))
})

test("a domain without a tenant is known to have none", async () => {
  expect(await foundIn({}, "nobody.com")).toEqual({ tenant: known(null), isComplete: true, retryAfterMs: null })
})

test("a tenant without a realm is known, but not complete", async () => {
  for (const realm of [400, 404, 429, 500, "unreachable", () => new Response("<html>")] as const) {
    const found = await foundIn({ "acme.com": { tenant: ID, realm } }, "acme.com")
    const tenant = known({ id: ID, region: null, auth: null, identityProvider: null })
    expect([realm, found]).toEqual([realm, { tenant, isComplete: false, retryAfterMs: null }])
  }
})

test("both endpoints are queried at the same time, with the domain and nothing else", async () => {
  const { web, requests: queries } = identityWeb({})
  const sent: FetchOptions["headers"][] = []
  const noting: Fetch = (url, options) => {
    sent.push(options.headers)
    return web(url, options)
  }
  const { clock, later: setTimer } = createFakeTime()
  createTenantLookup(noting, clock, setTimer)(BASE, "xn--bcher-kva.example", "xn--bcher-kva.example")
  expect(queries).toEqual([
    `${BASE}/xn--bcher-kva.example/v2.0/.well-known/openid-configuration`,
    `${BASE}/getuserrealm.srf?login=x@xn--bcher-kva.example&json=1`,
  ])
  const headers = { accept: "application/json", "accept-encoding": "identity", "user-agent": "mailkind" }
  expect(sent).toEqual([headers, headers])
})

test("if the OpenID endpoint fails the tenant is unavailable, whatever the realm is", async () => {
  for (const ending of [301, 403, 404, 429, 500, 502, 503, "unreachable"] as const) {
    const found = await foundIn({ "acme.com": ending }, "acme.com")
    expect([ending, found]).toEqual([ending, { tenant: unknown("unavailable"), isComplete: false, retryAfterMs: null }])
  }
})

test("a redirect is a failure, not followed", async () => {
  const { lookUp, queries } = lookingUp({
    "acme.com": () => Response.redirect("https://elsewhere.example/", 302),
  })
  expect((await lookUp("acme.com").result).tenant).toEqual(unknown("unavailable"))
  expect(queries.every(url => url.startsWith(BASE))).toBe(true)
})

test("the Retry-After of a refusal is returned", async () => {
  const busy = () => new Response(null, { status: 503, headers: { "retry-after": "120" } })
  expect((await foundIn({ "acme.com": busy }, "acme.com")).retryAfterMs).toBe(120_000)
})

test("a silent endpoint times out after five seconds", async () => {
  const { lookUp, time } = lookingUp({ "slow.com": "hangs" })
  let found: unknown = null
  const { finished } = lookUp("slow.com")
  void lookUp("slow.com").result.then(result => {
    found = result
  })
  await time.tick(4999)
  expect(found).toBeNull()
  await time.tick(1)
  expect(found).toEqual({ tenant: unknown("timed_out"), isComplete: false, retryAfterMs: null })
  await finished
})

test("a silent realm leaves the tenant known after five seconds", async () => {
  const { lookUp, time } = lookingUp({ "acme.com": { tenant: ID, realm: "hangs" } })
  const { result: found } = lookUp("acme.com")
  await time.tick(5000)
  expect(await found).toMatchObject({ tenant: known({ id: ID, auth: null }), isComplete: false })
})

test("a domain without a tenant does not wait for its realm, whose request ends by itself", async () => {
  const realm = Promise.withResolvers<Response>()
  const { lookUp, time } = lookingUp({
    "acme.com": url => (url.pathname === "/getuserrealm.srf" ? realm.promise : new Response("{}", { status: 400 })),
  })
  const { result: found, finished } = lookUp("acme.com")
  expect((await found).tenant).toEqual(known(null))
  let isEnded = false
  void finished.then(() => {
    isEnded = true
  })
  await settled()
  expect(isEnded).toBe(false)
  realm.resolve(Response.json({}))
  await finished
  expect(time.waiting()).toBe(0)
})

test("a fetch that ignores its signal is not awaited", async () => {
  const { clock, later: setTimer, tick } = createFakeTime()
  const deaf: Fetch = () => new Promise<never>(() => undefined)
  const { result: found, finished } = createTenantLookup(deaf, clock, setTimer)(BASE, "acme.com", "acme.com")
  await tick(5000)
  expect((await found).tenant).toEqual(unknown("timed_out"))
  await finished
})

test("a fetch that throws instead of rejecting is unavailable", async () => {
  const { clock, later: setTimer } = createFakeTime()
  const broken: Fetch = () => {
    throw new Error("no web")
  }
  const { result: found, finished } = createTenantLookup(broken, clock, setTimer)(BASE, "acme.com", "acme.com")
  expect((await found).tenant).toEqual(unknown("unavailable"))
  await finished
})

/** An endless body. `chunks` counts what was read of it. */
function endless() {
  const state = { chunks: 0 }
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    state.chunks++
    controller.enqueue(new Uint8Array(4096).fill(32))
  }
  return { state, response: () => new Response(new ReadableStream({ pull })) }
}

test("hostile bodies cost a bounded read and are unavailable", async () => {
  const { state, response } = endless()
  const nested = "[".repeat(60_000)
  const json = JSON.stringify({ issuer: `https://login.example/${ID}/v2.0` })
  const bodies: readonly (() => Response)[] = [
    () => new Response(`${json}${" ".repeat(1_000_000)}`),
    response,
    () => new Response(""),
    () => new Response("{"),
    () => new Response("not JSON"),
    () => new Response(nested),
    () => new Response(`${nested}${"]".repeat(5000)}`),
    () => new Response(new Uint8Array([0xff, 0xfe, 0x00])),
    () => new Response("null"),
    () => Response.json([json]),
  ]
  for (const body of bodies) {
    expect((await foundIn({ "acme.com": body }, "acme.com")).tenant).toEqual(unknown("unavailable"))
  }
  expect(state.chunks).toBeLessThan(2 * 40)
})

test("a body of the greatest length is read", async () => {
  const json = JSON.stringify({ issuer: `https://login.example/${ID}/v2.0` })
  const padded = (length: number) => () => new Response(json.padEnd(length))
  expect((await foundIn({ "acme.com": padded(65_536) }, "acme.com")).tenant).toMatchObject(known({ id: ID }))
  expect((await foundIn({ "acme.com": padded(65_537) }, "acme.com")).tenant).toEqual(unknown("unavailable"))
})

test("an endless slow body times out", async () => {
  const stuck = new ReadableStream<Uint8Array>({ start: controller => controller.enqueue(new Uint8Array([123])) })
  const { lookUp, time } = lookingUp({ "acme.com": { tenant: ID, realm: () => new Response(stuck) } })
  const { result: found, finished } = lookUp("acme.com")
  await time.tick(5000)
  expect(await found).toMatchObject({ isComplete: false })
  await finished
})

test("a refusal counts by its status, however long its body", async () => {
  const refusal = () => new Response("x".repeat(1_000_000), { status: 400 })
  expect((await foundIn({ "acme.com": refusal }, "acme.com")).tenant).toEqual(known(null))
})
