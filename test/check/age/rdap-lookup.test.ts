import { expect, test } from "bun:test"
import type { Fetch } from "../../../src/base/fetch.ts"
import { known, unknown } from "../../../src/base/finding.ts"
import { AGE_PROBE_BOUNDS } from "../../../src/check/age/age-probe.ts"
import { createRdapLookup, type ServerLimiterBounds } from "../../../src/check/age/rdap-lookup.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { createFakeTime } from "../../support/time.ts"
import { loopbackFetch, webServer } from "../fetch/loopback-web.ts"
import { REGISTRY_ANSWERS } from "./registry-answers.ts"

const MINUTE_MS = 60_000
const REGISTERED_AT_MS = Date.UTC(2020, 5, 1)
const FOUND = { registration: known({ registeredAtMs: REGISTERED_AT_MS }), wasQueried: true }
const FAILED = { registration: unknown("unavailable"), wasQueried: true }
const NOT_ASKED = { registration: unknown("unavailable"), wasQueried: false }

type Answer = (url: URL) => Response | Promise<Response>

/** A lookup over servers without sockets, whose responses the test may change, and the URL of every request. */
function lookingUp(answers: Record<string, Answer>, changes: Partial<ServerLimiterBounds> = {}, isOwn = false) {
  const time = createFakeTime()
  const queries: string[] = []
  const byGuard: string[] = []
  const webTo =
    (list: string[]): Fetch =>
    async (url, { signal }) => {
      list.push(url)
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true })
      })
      const to = new URL(url)
      return await Promise.race([
        Promise.resolve(answers[to.origin]?.(to) ?? Promise.reject(new Error("nobody"))),
        aborted,
      ])
    }
  const { clock, later } = time
  const needs = {
    fetchUrl: webTo(queries),
    fetchPublicUrl: webTo(byGuard),
    clock,
    setTimer: later,
    userAgent: "mailkind",
    isOperatorUrl: isOwn,
  }
  const lookUp = createRdapLookup(needs, { ...AGE_PROBE_BOUNDS.server, ...changes })
  return { time, queries, byGuard, lookUp, answers }
}

const facts: Answer = url =>
  Response.json({
    ldhName: url.pathname.split("/").at(-1),
    events: [{ eventAction: "registration", eventDate: "2020-06-01T00:00:00Z" }],
  })
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  () =>
    new Response(null, { status: code, headers })
const redirect = (location: string): Answer => status(302, { location })
const hangs: Answer = () => new Promise<never>(() => undefined)

const ONE = "https://rdap.one.net"
const TWO = "https://rdap.two.net"

test("the domain is queried under the base URL, once", async () => {
  const { lookUp, queries } = lookingUp({ [ONE]: facts })
  expect(await lookUp(`${ONE}/v1/`, "acme.com")).toEqual(FOUND)
  expect(await lookUp(`${ONE}/v1/`, "xn--bcher-kva.com")).toEqual(FOUND)
  expect(queries).toEqual([`${ONE}/v1/domain/acme.com`, `${ONE}/v1/domain/xn--bcher-kva.com`])
})

test("an unknown domain, and one without a registration date, have no registration", async () => {
  const { lookUp, answers } = lookingUp({ [ONE]: status(404) })
  const none = { registration: known(null), wasQueried: true }
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(none)
  answers[ONE] = () => Response.json({ ldhName: "acme.com", events: [] })
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(none)
})

test("an unreadable response, one of another domain and a refusal are unavailable", async () => {
  const { lookUp, answers } = lookingUp({})
  for (const answer of [
    status(500),
    status(400),
    () => new Response("<html>"),
    () => Response.json({ ldhName: "other.com" }),
    () => Response.json({ errorCode: 500 }),
    redirect("http://rdap.two.net/"),
  ]) {
    answers[ONE] = answer
    expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(FAILED)
    answers[ONE] = facts
    await lookUp(`${ONE}/`, "acme.com")
  }
})

test("a lookup times out after three seconds, its redirect included", async () => {
  const { lookUp, time, answers, byGuard } = lookingUp({ [ONE]: hangs, [TWO]: hangs })
  const slow = lookUp(`${ONE}/`, "acme.com")
  await time.tick(2999)
  expect(time.waiting()).toBe(1)
  await time.tick(1)
  expect(await slow).toEqual({ registration: unknown("timed_out"), wasQueried: true })
  answers[ONE] = redirect(`${TWO}/domain/acme.com`)
  const late = lookUp(`${ONE}/`, "acme.com")
  await time.tick(3000)
  expect(await late).toEqual({ registration: unknown("timed_out"), wasQueried: true })
  expect(byGuard).toHaveLength(1)
  expect(time.waiting()).toBe(0)
})

test("one redirect is followed, to another server at public addresses only; a second is not", async () => {
  const { lookUp, queries, byGuard, answers } = lookingUp({ [ONE]: redirect(`${TWO}/x/domain/acme.com`), [TWO]: facts })
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(FOUND)
  expect([queries, byGuard]).toEqual([[`${ONE}/domain/acme.com`], [`${TWO}/x/domain/acme.com`]])
  answers[ONE] = url => (url.pathname.startsWith("/v2/") ? facts(url) : redirect(`/v2${url.pathname}`)(url))
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(FOUND)
  expect([queries.at(-1), byGuard.length]).toEqual([`${ONE}/v2/domain/acme.com`, 1])
  answers[ONE] = redirect("/domain/acme.com")
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(FAILED)
  expect(queries).toHaveLength(5)
  answers[ONE] = redirect(`${TWO}/domain/acme.com`)
  answers[TWO] = redirect(`${ONE}/domain/acme.com`)
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(FAILED)
  expect([queries.length, byGuard.length]).toEqual([6, 2])
})

for (const code of [429, 503])
  test(`after ${code} with Retry-After the registry is not asked until then, and others are`, async () => {
    const { lookUp, queries, time, answers } = lookingUp({
      [ONE]: status(code, { "retry-after": "120" }),
      [TWO]: facts,
    })
    expect(await lookUp(`${ONE}/`, "acme.com")).toEqual({ registration: unknown("unavailable"), wasQueried: false })
    answers[ONE] = facts
    await time.tick(2 * MINUTE_MS - 1)
    expect(await lookUp(`${ONE}/`, "other.com")).toEqual(NOT_ASKED)
    expect(await lookUp(`${TWO}/`, "acme.net")).toEqual(FOUND)
    expect(queries).toEqual([`${ONE}/domain/acme.com`, `${TWO}/domain/acme.net`])
    await time.tick(1)
    expect(await lookUp(`${ONE}/`, "other.com")).toEqual(FOUND)
  })

test("a Retry-After with a date counts until then, but never longer than an hour", async () => {
  const date = "Thu, 01 Jan 2026 00:05:00 GMT"
  const { lookUp, time, answers } = lookingUp({ [ONE]: status(429, { "retry-after": date }) })
  await lookUp(`${ONE}/`, "acme.com")
  answers[ONE] = facts
  await time.tick(5 * MINUTE_MS - 1)
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(NOT_ASKED)
  await time.tick(1)
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(FOUND)
  answers[ONE] = status(429, { "retry-after": "86400" })
  await lookUp(`${ONE}/`, "acme.com")
  answers[ONE] = facts
  await time.tick(60 * MINUTE_MS - 1)
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(NOT_ASKED)
  await time.tick(1)
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(FOUND)
})

test("the target of a redirect has a limiter of its own", async () => {
  const { lookUp, byGuard, time, answers } = lookingUp({
    [ONE]: redirect(`${TWO}/domain/acme.com`),
    [TWO]: status(429, { "retry-after": "60" }),
  })
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(NOT_ASKED)
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(FAILED)
  expect(byGuard).toHaveLength(1)
  answers[ONE] = facts
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(FOUND)
  await time.tick(MINUTE_MS)
  answers[ONE] = redirect(`${TWO}/domain/acme.com`)
  answers[TWO] = status(500)
  for (let n = 0; n < 7; n++) await lookUp(`${ONE}/`, "acme.com")
  expect(byGuard).toHaveLength(6)
  answers[ONE] = facts
  expect(await lookUp(`${ONE}/`, "acme.com")).toEqual(FOUND)
})

test("four lookups are in flight at a registry, a bounded number waits, and one more is refused", async () => {
  const { lookUp, queries, time, answers } = lookingUp({ [ONE]: hangs, [TWO]: facts }, { waitingMax: 3 })
  const all = Array.from({ length: 8 }, (_, n) => lookUp(`${ONE}/`, `d${n}.com`))
  await time.tick(0)
  expect(queries).toHaveLength(4)
  expect(await all[7]).toEqual(NOT_ASKED)
  expect(await lookUp(`${TWO}/`, "acme.net")).toEqual(FOUND)
  answers[ONE] = facts
  await time.tick(3000)
  expect((await Promise.all(all.slice(4, 7))).map(({ registration }) => registration.known)).toEqual([true, true, true])
  expect(time.waiting()).toBe(0)
})

test("lookups that wait while the registry fails or throttles us end at once, without a request", async () => {
  const dead = lookingUp({ [ONE]: hangs }, { breaker: { ...AGE_PROBE_BOUNDS.server.breaker, failuresMax: 4 } })
  const waiting = Array.from({ length: 100 }, (_, n) => dead.lookUp(`${ONE}/`, `d${n}.com`))
  // The first timeouts release their permits to others before the breaker opens.
  await dead.time.tick(6000)
  expect((await Promise.all(waiting)).filter(({ wasQueried }) => wasQueried)).toHaveLength(7)
  expect(dead.queries).toHaveLength(7)
  const busy = lookingUp({ [ONE]: status(429) })
  const all = Array.from({ length: 100 }, (_, n) => busy.lookUp(`${ONE}/`, `d${n}.com`))
  expect((await Promise.all(all)).every(({ wasQueried }) => !wasQueried)).toBe(true)
  expect(busy.queries).toHaveLength(4)
})

test("over sockets the responses of all registries are read, at a server on loopback that redirects to another", async () => {
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  onTestEnd(resolve)
  const registry = webServer(({ url }) => {
    const name = new URL(url).pathname.replace("/rdap/domain/", "")
    const row = REGISTRY_ANSWERS.find(({ domain }) => domain === name)
    return row === undefined ? new Response(null, { status: 404 }) : Response.json(row.answer)
  })
  const first = webServer(({ url }) => {
    const location = `${registry.url}rdap${new URL(url).pathname}`
    return new Response("moved", { status: 301, headers: { location } })
  })
  const slow = webServer(async () => {
    await stopped
    return new Response("{}")
  })
  const { clock, later, tick } = createFakeTime()
  const { fetchUrl } = loopbackFetch()
  const needs = {
    fetchUrl: fetchUrl,
    fetchPublicUrl: () => Promise.reject(new Error("beyond loopback")),
    clock,
    setTimer: later,
    userAgent: "mailkind",
    isOperatorUrl: true,
  }
  const lookUp = createRdapLookup(needs, AGE_PROBE_BOUNDS.server)
  for (const { domain, registered } of REGISTRY_ANSWERS) {
    const value = registered === null ? null : { registeredAtMs: Date.parse(registered) }
    expect([domain, await lookUp(first.url, domain)]).toEqual([
      domain,
      { registration: known(value), wasQueried: true },
    ])
  }
  expect(await lookUp(first.url, "nobody.com")).toEqual({ registration: known(null), wasQueried: true })
  const late = lookUp(slow.url, "acme.com")
  await tick(3000)
  expect((await late).registration).toEqual(unknown("timed_out"))
})
