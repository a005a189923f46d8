import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { known, unknown } from "../../../src/base/finding.ts"
import { type IdentityUrls, identityUrls } from "../../../src/check/tenant/identity-endpoint.ts"
import { TENANT_PROBE_BOUNDS, TenantProbe, type TenantProbeBounds } from "../../../src/check/tenant/tenant-probe.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { type Ending, type IdentityTable, identityServer, identityWeb } from "../../support/identity-server.ts"
import { createFakeTime, settled } from "../../support/time.ts"

const ID = "6babcaad-604b-40ac-a9d7-9fd97c0b779f"
const BASE = "https://login.example"
const DAY_MS = 86_400_000

const ACME = { tenant: ID, region: "EU", realm: "Managed" }
const TENANT = known({ id: ID, region: "EU", auth: "managed" as const, identityProvider: null })

type Wanted = { readonly bounds?: Partial<TenantProbeBounds>; readonly urls?: IdentityUrls }

/** A probe over endpoints whose table of domains the test may change. */
function probing(table: IdentityTable, { bounds = {}, urls = identityUrls(BASE) }: Wanted = {}) {
  const time = createFakeTime()
  const rows: Record<string, IdentityTable[string]> = { ...table }
  const { web: fetchUrl, requests: queries } = identityWeb(rows)
  const probe = new TenantProbe(
    { fetchUrl, urls, clock: time.clock, setTimer: time.later },
    { ...TENANT_PROBE_BOUNDS, ...bounds },
  )
  const ask = (domain: string, callerId?: string | null) => probe.lookup(domain, domain, "worldwide", callerId)
  /** How many lookups were made, each of two requests. */
  const lookUps = () => queries.length / 2
  return { time, rows, queries, probe, ask, lookUps }
}

/** A response that the test sends when it wants. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>()
  const ending: Ending = async url => {
    await promise
    return url.pathname === "/getuserrealm.srf" ? new Response("{}") : new Response("{}", { status: 400 })
  }
  return { ending, release: resolve }
}

/** Distinct domain names. */
const many = (count: number, ending: Ending) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`d${n}.com`, ending]))

/** Endpoints that fail for the reserved domain too, so that the failures of others are theirs. */
const down = (count: number, ending: Ending) => ({ ...many(count, ending), "example.com": ending })

test("a result is cached for a day, returned at once, and looked up again after that", async () => {
  const { ask, lookUps, time } = probing({ "acme.com": ACME })
  const freshUntilMs = time.clock() + DAY_MS
  expect(await ask("acme.com")).toEqual({ tenant: TENANT, isCached: false, freshUntilMs })
  await time.tick(DAY_MS - 1)
  expect(ask("acme.com")).toEqual({ tenant: TENANT, isCached: true, freshUntilMs })
  expect(lookUps()).toBe(1)
  await time.tick(1)
  expect(await ask("acme.com")).toMatchObject({ tenant: TENANT, isCached: false })
  expect(lookUps()).toBe(2)
})

test("that a domain has no tenant is cached like a tenant", async () => {
  const { ask, lookUps, time } = probing({})
  expect(await ask("nobody.com")).toMatchObject({ tenant: known(null), isCached: false })
  await time.tick(DAY_MS - 1)
  expect(ask("nobody.com")).toMatchObject({ tenant: known(null), isCached: true })
  expect(lookUps()).toBe(1)
})

test("an incomplete tenant is looked up again after a minute", async () => {
  const { ask, rows, lookUps, time } = probing({ "acme.com": { ...ACME, realm: 500 } })
  expect(await ask("acme.com")).toMatchObject({ tenant: known({ auth: null }), freshUntilMs: time.clock() + 60_000 })
  rows["acme.com"] = ACME
  await time.tick(59_999)
  expect(ask("acme.com")).toMatchObject({ tenant: known({ auth: null }), isCached: true })
  await time.tick(1)
  expect(await ask("acme.com")).toMatchObject({ tenant: TENANT })
  expect(lookUps()).toBe(2)
})

test("a failure is cached for half a minute and never counts as cached", async () => {
  const { ask, rows, lookUps, time } = probing({ "acme.com": 500 })
  const failed = { tenant: unknown("unavailable"), isCached: false, freshUntilMs: time.clock() + 30_000 }
  expect(await ask("acme.com")).toEqual(failed)
  rows["acme.com"] = ACME
  await time.tick(29_999)
  expect(ask("acme.com")).toEqual(failed)
  expect(lookUps()).toBe(1)
  await time.tick(1)
  expect(await ask("acme.com")).toMatchObject({ tenant: TENANT })
})

test("a stale answer is used for a day while the endpoint fails, and is looked up again each half minute", async () => {
  const { ask, rows, lookUps, time } = probing({ "acme.com": ACME })
  await ask("acme.com")
  rows["acme.com"] = 503
  await time.tick(DAY_MS)
  expect(await ask("acme.com")).toEqual({ tenant: TENANT, isCached: true, freshUntilMs: time.clock() + 30_000 })
  await time.tick(29_999)
  expect(ask("acme.com")).toMatchObject({ tenant: TENANT, isCached: true })
  expect(lookUps()).toBe(2)
  await time.tick(DAY_MS - 30_000)
  expect(await ask("acme.com")).toMatchObject({ tenant: TENANT, isCached: true })
  await time.tick(30_000)
  expect(await ask("acme.com")).toMatchObject({ tenant: unknown("unavailable"), isCached: false })
})

test("all callers share one promise while a domain is looked up", async () => {
  const { ask, lookUps } = probing({ "acme.com": ACME })
  const first = ask("acme.com")
  expect(ask("acme.com")).toBe(first)
  expect(await first).toMatchObject({ tenant: TENANT })
  expect(lookUps()).toBe(1)
})

test("a lookup continues without its callers, and the next caller gets its result", async () => {
  const later = held()
  const { ask, lookUps, time } = probing({ "acme.com": later.ending })
  void ask("acme.com")
  await time.tick(3000)
  later.release()
  await time.tick(0)
  expect(await ask("acme.com")).toMatchObject({ tenant: known(null), isCached: true })
  expect(lookUps()).toBe(1)
})

test("a lookup that times out is timed out", async () => {
  const { ask, time } = probing({ "slow.com": "hangs" })
  const result = ask("slow.com")
  await time.tick(5000)
  expect(await result).toMatchObject({ tenant: unknown("timed_out"), isCached: false })
})

test("after five failures in a row, and one of the reserved domain, nothing is queried, and cached answers are used, stale ones too", async () => {
  const { ask, lookUps, time } = probing({ "acme.com": ACME, "late.com": ACME, ...down(5, 500) })
  await ask("late.com")
  await time.tick(DAY_MS)
  await ask("acme.com")
  for (let n = 0; n < 4; n++) await ask(`d${n}.com`)
  const before = lookUps()
  expect(await ask("d4.com")).toMatchObject({ tenant: unknown("unavailable") })
  expect(ask("new.com")).toEqual({ tenant: unknown("unavailable"), isCached: false, freshUntilMs: time.clock() })
  expect(ask("acme.com")).toMatchObject({ tenant: TENANT, isCached: true })
  expect(ask("late.com")).toEqual({ tenant: TENANT, isCached: true, freshUntilMs: time.clock() })
  // The reserved domain is asked about with one request.
  expect(lookUps()).toBe(before + 1.5)
})

test("failures of domains never keep others from the endpoint while it answers for the reserved domain", async () => {
  for (const ending of [500, 429, "hangs", "unreachable", () => new Response("<html>")] as const) {
    const { ask, time, probe } = probing(many(200, ending))
    for (let n = 0; n < 200; n += 10) {
      const failing = Array.from({ length: 10 }, (_, place) => ask(`d${n + place}.com`))
      await time.tick(5000)
      await Promise.all(failing)
      expect(await ask(`new${n}.com`)).toMatchObject({ tenant: known(null) })
    }
    expect(probe.stats().openBreakerCount).toBe(0)
  }
})

test("the reserved domain is asked about once for each five failures", async () => {
  const { ask, queries } = probing(many(50, 500))
  for (let n = 0; n < 50; n++) await ask(`d${n}.com`)
  expect(queries.filter(url => url.includes("/example.com/"))).toHaveLength(10)
})

test("names of one registrable domain count as one failure, however many fail", async () => {
  const names = Array.from({ length: 20 }, (_, n) => `n${n}.d0.com`)
  const rows = { ...down(5, 500), ...Object.fromEntries(names.map(name => [name, 500])) }
  const { ask, probe } = probing(rows)
  for (const name of names) await probe.lookup(name, "d0.com")
  for (let n = 1; n < 4; n++) await ask(`d${n}.com`)
  expect(probe.stats().openBreakerCount).toBe(0)
  await ask("d4.com")
  expect(probe.stats().openBreakerCount).toBe(1)
})

test("a trial that fails for its own domain does not keep the endpoint shut", async () => {
  const { ask, rows, time } = probing(down(6, 500))
  for (let n = 0; n < 5; n++) await ask(`d${n}.com`)
  delete rows["example.com"]
  await time.tick(30_000)
  expect(await ask("d5.com")).toMatchObject({ tenant: unknown("unavailable") })
  expect(await ask("new.com")).toMatchObject({ tenant: known(null) })
})

test("a trial that fails like the reserved domain keeps the endpoint shut for the same time again", async () => {
  const { ask, time } = probing(down(6, 500))
  for (let n = 0; n < 5; n++) await ask(`d${n}.com`)
  await time.tick(30_000)
  await ask("d5.com")
  await time.tick(29_999)
  expect(ask("new.com")).toMatchObject({ tenant: unknown("unavailable") })
  await time.tick(1)
  expect(await ask("new.com")).toMatchObject({ tenant: known(null) })
})

test("after half a minute one lookup is permitted, and its answer closes the breaker", async () => {
  const trial = held()
  const { ask, lookUps, time } = probing({ ...down(5, 500), "trial.com": trial.ending })
  for (let n = 0; n < 5; n++) await ask(`d${n}.com`)
  await time.tick(29_999)
  expect(ask("new.com")).toMatchObject({ tenant: unknown("unavailable") })
  await time.tick(1)
  const tried = ask("trial.com")
  const beside = ask("new.com")
  expect(await beside).toMatchObject({ tenant: unknown("unavailable") })
  expect(lookUps()).toBe(6.5)
  trial.release()
  expect(await tried).toMatchObject({ tenant: known(null) })
  expect(await ask("new.com")).toMatchObject({ tenant: known(null) })
})

test("timeouts open the breaker as refusals do, and a domain without a tenant is no failure", async () => {
  const { ask, time } = probing(down(5, "hangs"))
  for (let n = 0; n < 20; n++) await ask(`nobody${n}.com`)
  const result = Array.from({ length: 5 }, (_, n) => ask(`d${n}.com`))
  // The reserved domain is asked about when the fifth has timed out.
  await time.tick(10_000)
  await Promise.all(result)
  expect(ask("new.com")).toMatchObject({ tenant: unknown("unavailable") })
})

test("an endpoint with a Retry-After is not queried until then", async () => {
  const busy = () => new Response(null, { status: 429, headers: { "retry-after": "120" } })
  const { ask, time } = probing(down(5, busy))
  for (let n = 0; n < 5; n++) await ask(`d${n}.com`)
  await time.tick(119_999)
  expect(ask("new.com")).toMatchObject({ tenant: unknown("unavailable") })
  await time.tick(1)
  expect(await ask("new.com")).toMatchObject({ tenant: known(null) })
})

test("a bounded number of lookups is in flight, a bounded number waits, and one more is unavailable", async () => {
  const { ask, lookUps, time } = probing(many(10, "hangs"), { bounds: { inFlightMax: 2, waitingMax: 1 } })
  const queries = [ask("d0.com"), ask("d1.com"), ask("d2.com")]
  expect(ask("d3.com")).toEqual({ tenant: unknown("unavailable"), isCached: false, freshUntilMs: time.clock() })
  expect(ask("d2.com") === queries[2]).toBe(true)
  await time.tick(0)
  expect(lookUps()).toBe(2)
  await time.tick(5000)
  expect(lookUps()).toBe(3)
  await time.tick(5000)
  for (const result of await Promise.all(queries)) expect(result).toMatchObject({ tenant: unknown("timed_out") })
  expect(await ask("nobody.com")).toMatchObject({ tenant: known(null) })
})

test("a lookup keeps its permit until both requests have ended, even if its result is known before", async () => {
  const realm = Promise.withResolvers<Response>()
  const half: Ending = url =>
    url.pathname === "/getuserrealm.srf" ? realm.promise : new Response("{}", { status: 400 })
  const { ask, lookUps, time } = probing({ "half.com": half }, { bounds: { inFlightMax: 1 } })
  expect(await ask("half.com")).toMatchObject({ tenant: known(null) })
  const next = ask("next.com")
  await time.tick(0)
  expect(lookUps()).toBe(1)
  realm.resolve(new Response("{}"))
  expect(await next).toMatchObject({ tenant: known(null) })
  expect(lookUps()).toBe(2)
})

test("lookups that wait while the breaker opens are not sent", async () => {
  const { ask, lookUps, time } = probing(down(15, "hangs"), { bounds: { inFlightMax: 5, waitingMax: 10 } })
  const queries = Array.from({ length: 15 }, (_, n) => ask(`d${n}.com`))
  await time.tick(15_000)
  const causes = (await Promise.all(queries)).map(({ tenant }) => (tenant.known ? "known" : tenant.cause))
  // The first four failures release their permits; the fifth has the reserved domain asked about, whose failure opens the breaker.
  expect(causes).toEqual([...Array(9).fill("timed_out"), ...Array(6).fill("unavailable")])
  expect(lookUps()).toBe(9.5)
})

test("no more results are cached than allowed, and the least recently used is evicted first", async () => {
  const { ask, lookUps } = probing({}, { bounds: { cache: { ...TENANT_PROBE_BOUNDS.cache, entriesMax: 2 } } })
  await ask("a.com")
  await ask("b.com")
  await ask("a.com")
  await ask("c.com")
  expect(ask("a.com")).not.toBeInstanceOf(Promise)
  expect(ask("c.com")).not.toBeInstanceOf(Promise)
  expect(lookUps()).toBe(3)
  await ask("b.com")
  expect(lookUps()).toBe(4)
})

test("each cloud has its own endpoints, its own cached results and its own breaker", async () => {
  const urls = { worldwide: "https://world.example", gov: "https://gov.example", cn: "https://cn.example" }
  const { probe, queries } = probing({ "acme.cn": ACME, ...down(5, 500) }, { urls })
  for (let n = 0; n < 5; n++) await probe.lookup(`d${n}.com`, `d${n}.com`)
  expect(probe.lookup("acme.cn", "acme.cn")).toMatchObject({ tenant: unknown("unavailable") })
  expect(await probe.lookup("acme.cn", "acme.cn", "cn")).toMatchObject({ tenant: TENANT })
  expect(queries.slice(-2).every(url => url.startsWith("https://cn.example/"))).toBe(true)
})

test("clouds that share a URL share their cached results", async () => {
  const { probe, lookUps } = probing({ "acme.com": ACME })
  await probe.lookup("acme.com", "acme.com")
  expect(probe.lookup("acme.com", "acme.com", "gov")).toMatchObject({ tenant: TENANT, isCached: true })
  expect(lookUps()).toBe(1)
})

describe("the lookups of one caller", () => {
  const callerMax = LIMITS.tenantLookupsPerCallerMax
  const TOLD = { tenant: known(null) }

  test("wait in its own queue beyond a number at the same time, and nobody else waits", async () => {
    const later = held()
    const { ask, lookUps } = probing(many(400, later.ending))
    const all = Array.from({ length: 400 }, (_, n) => ask(`d${n}.com`, "busy"))
    await settled()
    expect(lookUps()).toBe(callerMax)
    for (const callerId of ["other", null, undefined])
      expect(await ask(`${callerId}.com`, callerId)).toMatchObject(TOLD)
    expect(lookUps()).toBe(callerMax + 3)
    later.release()
    for (const result of await Promise.all(all)) expect(result).toMatchObject(TOLD)
    expect(lookUps()).toBe(400 + 3)
  })

  test("are not joined by others while they wait, and take a result that another caller has got meanwhile", async () => {
    const later = held()
    const { ask, lookUps } = probing(many(callerMax, later.ending))
    for (let n = 0; n < callerMax; n++) void ask(`d${n}.com`, "busy")
    const waiting = ask("shared.com", "busy")
    expect(ask("shared.com", "busy")).toBe(waiting)
    expect(await ask("shared.com", "other")).toMatchObject(TOLD)
    expect(ask("shared.com", "busy")).toMatchObject({ ...TOLD, isCached: true })
    later.release()
    expect(await waiting).toMatchObject({ ...TOLD, isCached: true })
    expect(lookUps()).toBe(callerMax + 1)
  })

  test("are unavailable at once if its queue is full, and nobody else is", async () => {
    const { ask } = probing(many(4, "hangs"), { bounds: { inFlightPerCallerMax: 2, waitingMax: 1 } })
    for (let n = 0; n < 3; n++) void ask(`d${n}.com`, "busy")
    expect(ask("d3.com", "busy")).toMatchObject({ tenant: unknown("unavailable") })
    expect(await ask("new.com", "other")).toMatchObject(TOLD)
  })

  test("that wait while the breaker opens are not sent, and give their turns back", async () => {
    const bounds = { inFlightPerCallerMax: 5 }
    const { ask, lookUps, time } = probing(down(15, "hangs"), { bounds })
    const all = Array.from({ length: 15 }, (_, n) => ask(`d${n}.com`, "busy"))
    await time.tick(15_000)
    for (const result of await Promise.all(all)) expect(result).toMatchObject({ tenant: { known: false } })
    await time.tick(30_000)
    expect(lookUps()).toBe(9.5)
    const trial = ask("new.com", "busy")
    expect(await trial).toMatchObject(TOLD)
    void Array.from({ length: 5 }, (_, n) => ask(`d${n}.com`, "busy"))
    await settled()
    expect(lookUps()).toBe(9.5 + 1 + 5)
  })

  const plans = fc.array(
    fc.record({
      caller: fc.constantFrom("a", "b"),
      startMs: fc.nat(3000),
      // A request that takes more than five seconds is cancelled.
      requestMs: fc.tuple(fc.nat(8000), fc.nat(8000)),
      end: fc.constantFrom("answer", "refuse", "break"),
    }),
    { maxLength: 40, size: "max" },
  )

  test("never exceed the number, and every turn is given back however they end", async () => {
    await fc.assert(
      fc.asyncProperty(plans, async all => {
        const rows: Record<string, Ending> = {}
        const running = { a: 0, b: 0 }
        let runningMax = 0
        const { probe, rows: table, time, lookUps } = probing(rows, { bounds: { inFlightPerCallerMax: 3 } })
        for (const [n, { caller, startMs, requestMs, end }] of all.entries()) {
          table[`p${n}.com`] = async url => {
            const isRealm = url.pathname === "/getuserrealm.srf"
            if (!isRealm) {
              runningMax = Math.max(runningMax, ++running[caller])
              // A millisecond before the request is cancelled, since that starts the next one.
              time.later(Math.min(4999, Math.max(...requestMs)), () => void running[caller]--)
            }
            await new Promise<void>(resolve => void time.later(requestMs[isRealm ? 1 : 0], resolve))
            if (end === "break") throw new Error("the connection broke")
            return new Response("{}", { status: end === "refuse" ? 503 : 400 })
          }
          time.later(startMs, () => void probe.lookup(`p${n}.com`, `p${n}.com`, "worldwide", caller))
        }
        await time.tick(200_000)
        expect([runningMax <= 3, running, time.waiting()]).toEqual([true, { a: 0, b: 0 }, 0])
        const before = lookUps()
        for (const caller of ["a", "b"]) {
          for (let n = 0; n < 4; n++) {
            table[`${caller}${n}.com`] = "hangs"
            void probe.lookup(`${caller}${n}.com`, `${caller}${n}.com`, "worldwide", caller)
          }
        }
        await settled()
        expect(lookUps()).toBe(before + 6)
      }),
      { numRuns: 40 },
    )
  })
})

test("the real endpoints use https, each cloud at a host of its own", () => {
  const urls = Object.values(identityUrls(null))
  expect(new Set(urls).size).toBe(3)
  for (const url of urls) expect(url).toMatch(/^https:\/\/[a-z.]+[a-z]$/)
})

test("over real sockets the result is the same, and a connection that hangs is closed at the deadline", async () => {
  const server = identityServer({ "acme.com": ACME, "slow.com": "hangs", "gone.com": "unreachable" })
  const { clock, later: setTimer, tick } = createFakeTime()
  // The preload disables the global fetch in tests.
  const fetchUrl = (url: string, options: RequestInit) => Bun.fetch(url, { ...options, redirect: "manual" })
  const probe = new TenantProbe({ fetchUrl, urls: identityUrls(server.url), clock, setTimer }, TENANT_PROBE_BOUNDS)
  try {
    expect(await probe.lookup("acme.com", "acme.com")).toMatchObject({ tenant: TENANT })
    expect(await probe.lookup("nobody.com", "nobody.com")).toMatchObject({ tenant: known(null) })
    expect(await probe.lookup("gone.com", "gone.com")).toMatchObject({ tenant: unknown("unavailable") })
    const slow = probe.lookup("slow.com", "slow.com")
    await tick(5000)
    expect(await slow).toMatchObject({ tenant: unknown("timed_out") })
    expect(server.requests.slice(0, 2)).toEqual([
      `${server.url}/acme.com/v2.0/.well-known/openid-configuration`,
      `${server.url}/getuserrealm.srf?login=x@acme.com&json=1`,
    ])
  } finally {
    await server.stop()
  }
})
