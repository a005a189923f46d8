import { expect, test } from "bun:test"
import { inspect } from "node:util"
import { createClient } from "../../src/client/client.ts"
import type { MailkindOptions } from "../../src/client/options.ts"
import { answers, FAULTS, type FaultReply, faultServer, problemOf, says, verdictOf } from "./fault-server.ts"
import { loopbackPlatform } from "./loopback-platform.ts"

const KEY = "svc_live_secretsecretsecretsecretsecretse"
const TIMEOUT_MS = 999_999

/** A client of a server that replies so, in turn. */
async function clientOf(replies: readonly FaultReply[], options: Partial<MailkindOptions> = {}) {
  const server = await faultServer(...replies)
  const fake = loopbackPlatform()
  const client = createClient({ url: server.url, key: KEY, timeoutMs: TIMEOUT_MS, ...options }, fake.platform)
  return { client, server, ...fake }
}

test("a check gives the result and the id by which the server logged it", async () => {
  const { client, server } = await clientOf([answers])
  const outcome = await client.checkEmail("jane@stripe.com", { policy: "strict" })
  expect(outcome).toMatchObject({ outcome: "checked", result: { category: "business" }, requestId: "id-0" })
  expect(server.seen).toMatchObject([{ url: "/v1/check", id: "id-0", authorization: `Bearer ${KEY}` }])
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ email: "jane@stripe.com", policy: "strict" })
  expect(client.stats()).toMatchObject({ checked: 1, unchecked: 0, requests: 1, retries: 0 })
})

for (const [fault, { reply, because, isRetried }] of Object.entries(FAULTS)) {
  test(`${fault} leaves a check unchecked: it is counted and told, and nobody waits`, async () => {
    const told: unknown[] = []
    const { client, server, waits } = await clientOf([reply], { onUnchecked: unchecked => told.push(unchecked) })
    const outcome = await client.check({ email: "jane@stripe.com" })
    expect(outcome).toMatchObject({ outcome: "unchecked", because })
    expect([server.seen.length, waits]).toEqual([1, []])
    expect(client.stats()).toMatchObject({ unchecked: 1, uncheckedBecause: { [because]: 1 } })
    expect(told).toMatchObject([{ because }])
    expect(JSON.stringify(told)).not.toContain("jane")
  })

  test(`${fault} is ${isRetried ? "tried again, with one request id" : "not tried again"} where retries are wanted`, async () => {
    const { client, server } = await clientOf([reply, reply, answers], { retries: 2 })
    expect((await client.check({ email: "a@b.co" })).outcome).toBe(isRetried ? "checked" : "unchecked")
    expect(server.seen.map(({ id }) => id)).toEqual(isRetried ? ["id-0", "id-0", "id-0"] : ["id-0"])
  })
}

test("a subject is sent without white space around it, and what is missing, empty, no text or too long is refused and not sent", async () => {
  const { client, server } = await clientOf([answers])
  const email = "jane@stripe.com"
  for (const sent of [email, `${email}${" ".repeat(70_000)}`, `\u00a0\u2028${email}\n`])
    expect((await client.checkEmail(sent)).outcome).toBe("checked")
  expect(server.seen.map(({ body }) => JSON.parse(body).email)).toEqual([email, email, email])
  const texts = ["", " \t\u3000", `${"a".repeat(2036)}@mailinator.com`]
  for (const input of [...texts, undefined, null, 7, [email], { toString: () => email }, new String(email)])
    expect(await client.checkEmail(input as string)).toMatchObject({ because: "invalid_subject" })
  expect(server.seen.length).toBe(3)
  // It is longest in UTF-16 units, and as long as the API takes in characters.
  expect((await client.check({ url: "\u{1f600}".repeat(2048) })).outcome).toBe("checked")
})

test("two subjects and a policy without end are mistakes of the program and not of the person", async () => {
  const about = (pointer: string) => problemOf(400, "invalid_input", { errors: [{ pointer, detail: "x" }] })
  const { client } = await clientOf([says(400, about("/domain")), says(413, problemOf(413, "payload_too_large"))])
  const both = { email: "jane@stripe.com", domain: "stripe.com" } as unknown as { email: string }
  expect(await client.check(both)).toMatchObject({ because: "refused" })
  const policy = "x".repeat(70_000) as "b2b"
  expect(await client.checkEmail("jane@stripe.com", { policy })).toMatchObject({ because: "refused" })
})

test("a body that a proxy refused as too large is told as such", async () => {
  const { client } = await clientOf([says(413, "<h1>413 Request Entity Too Large</h1>")])
  const message = "A proxy in front of the server refused the body as too large (413)."
  expect(await client.check({ email: "a@b.co" })).toMatchObject({ because: "invalid_subject", status: 413, message })
  expect(await client.batch(["a@b.co"])).toMatchObject([{ because: "refused", status: 413, message }])
})

test("a server that is dead leaves a check unchecked", async () => {
  const { client, server } = await clientOf([answers])
  server.close()
  expect(await client.check({ email: "a@b.co" })).toMatchObject({ outcome: "unchecked", because: "unreachable" })
})

test("a server that is silent leaves a check unchecked when its time is over", async () => {
  const silent = Promise.withResolvers<void>()
  const { client, expire } = await clientOf([() => silent.resolve()])
  const outcome = client.check({ email: "a@b.co" })
  await silent.promise
  expire()
  expect(await outcome).toMatchObject({ outcome: "unchecked", because: "timeout" })
})

test("a check whose signal is aborted ends at once, before and while it is sent", async () => {
  const controller = new AbortController()
  const { client, server } = await clientOf([() => controller.abort()])
  const call = { signal: controller.signal }
  expect(await client.check({ email: "a@b.co" }, call)).toMatchObject({ because: "aborted" })
  expect(await client.check({ email: "a@b.co" }, call)).toMatchObject({ because: "aborted" })
  expect(server.seen.length).toBe(1)
})

test("a check whose signal is aborted while it waits for its next try says so", async () => {
  const controller = new AbortController()
  const server = await faultServer(FAULTS["a server error"].reply)
  const { platform } = loopbackPlatform()
  const after: typeof platform.after = (ms, call) => {
    if (ms >= TIMEOUT_MS) return platform.after(ms, call)
    queueMicrotask(() => controller.abort())
    return () => undefined
  }
  const client = createClient({ url: server.url, timeoutMs: TIMEOUT_MS, retries: 3 }, { ...platform, after })
  const outcome = await client.check({ email: "a@b.co" }, { signal: controller.signal })
  expect(outcome).toMatchObject({ because: "aborted", requestId: "id-0" })
  expect(server.seen.length).toBe(1)
})

test("waits double and keep Retry-After, with jitter on top", async () => {
  const limited = FAULTS["a rate limit of a second"].reply
  const failing = FAULTS["a server error"].reply
  const { client, waits } = await clientOf([failing, failing, failing, limited, answers], { retries: 4 })
  expect((await client.check({ email: "a@b.co" })).outcome).toBe("checked")
  expect(waits).toEqual([500, 1000, 2000, 1000])
})

test("a Retry-After that is neither seconds nor a date is none", async () => {
  const replies = ["1.5", "-5", "soon", ""].map(value =>
    says(503, problemOf(503, "overloaded"), { "Retry-After": value }),
  )
  const { client, waits } = await clientOf([...replies, answers], { retries: 4 })
  expect((await client.check({ email: "a@b.co" })).outcome).toBe("checked")
  expect(waits).toEqual([500, 1000, 2000, 4000])
})

test("a Retry-After over the cap is not waited for, and the caller learns it", async () => {
  const { client, server, waits } = await clientOf([FAULTS["a quota of three hours"].reply], { retries: 9 })
  expect(await client.check({ email: "a@b.co" })).toMatchObject({
    because: "quota_exceeded",
    retryAfterMs: 10_984_000,
    problem: { code: "quota_exceeded", remaining: 0 },
  })
  expect([server.seen.length, waits]).toEqual([1, []])
  // Nor where the check would have the time.
  const patient = await clientOf([FAULTS["a rate limit of a second"].reply], { retries: 9, retryWaitMaxMs: 999 })
  expect(await patient.client.check({ email: "a@b.co" })).toMatchObject({ because: "rate_limited", retryAfterMs: 1000 })
  expect([patient.server.seen.length, patient.waits]).toEqual([1, []])
})

test("a wait that would end after the deadline of a check is not begun", async () => {
  const server = await faultServer(FAULTS["an overloaded server"].reply)
  const { platform, waits } = loopbackPlatform({ waitsMaxMs: 1000 })
  const client = createClient({ url: server.url, timeoutMs: 1500, retries: 5 }, platform)
  expect((await client.check({ email: "a@b.co" })).outcome).toBe("unchecked")
  expect([server.seen.length, waits]).toEqual([1, []])
})

test("only an answer whose Cache-Control allows it is kept, for its age, and a degraded one never", async () => {
  const kept = says(200, JSON.stringify(verdictOf("a@b.co")), { "Cache-Control": "private, max-age=60" })
  const { client, server, platform } = await clientOf([kept])
  const first = await client.checkEmail("a@b.co")
  // What a caller does with a result changes nothing for the next one.
  if (first.outcome === "checked") first.result.category = "changed"
  expect(await client.checkEmail("a@b.co")).toMatchObject({ result: { category: "business" }, requestId: "id-0" })
  expect([server.seen.length, client.stats().cached, client.stats().checked]).toEqual([1, 1, 2])
  await client.checkEmail("a@b.co", { policy: "strict" })
  expect(server.seen.length).toBe(2)
  for (const [passedMs, seen] of [
    [59_999, 2],
    [1, 3],
  ] as const) {
    platform.after(passedMs, () => undefined)
    await client.checkEmail("a@b.co")
    expect(server.seen.length).toBe(seen)
  }

  const degraded = says(200, JSON.stringify({ ...verdictOf("a@b.co"), degraded: true }), {
    "Cache-Control": "max-age=60",
  })
  for (const reply of [
    degraded,
    answers,
    says(200, JSON.stringify(verdictOf("a@b.co")), { "Cache-Control": "no-store, max-age=9" }),
  ]) {
    const other = await clientOf([reply])
    await other.client.checkEmail("a@b.co")
    await other.client.checkEmail("a@b.co")
    expect(other.server.seen.length).toBe(2)
  }
})

test("a verdict is a result although the server leaves out other members", async () => {
  const { workspace, ...verdict } = verdictOf("a@b.co")
  const replies = [verdict, { ...verdict, workspace: null }].map(each => says(200, JSON.stringify(each)))
  const { client } = await clientOf(replies)
  for (const _ of replies) expect((await client.check({ email: "a@b.co" })).outcome).toBe("checked")
})

test("an async callback may fail: onUnchecked keeps nobody out, and onProgress ends its batch", async () => {
  const fails = async () => {
    throw new Error("the log is down")
  }
  const { client } = await clientOf([FAULTS["a revoked key"].reply], { onUnchecked: fails })
  expect((await client.check({ email: "a@b.co" })).outcome).toBe("unchecked")
  expect((await client.batch(["a@b.co"])).length).toBe(1)
  const batch = Promise.resolve(client.batch(["a@b.co"], { onProgress: fails }))
  expect(await batch.catch(String)).toBe("Error: the log is down")
})

test("the key is in no outcome, no error and no text of the client", async () => {
  const { client, server } = await clientOf([says(401, problemOf(401, "invalid_key"))])
  server.close()
  const outcome = await client.checkEmail("a@b.co")
  const texts = [outcome, client].flatMap(each => [
    inspect(each, { depth: 9, showHidden: true }),
    JSON.stringify(each),
    String(each),
  ])
  for (const text of texts) expect(text).not.toContain("secret")
  const { platform } = loopbackPlatform()
  for (const key of ["svc_live_secret\nx", "svc_live_secret é"])
    expect(() => createClient({ url: "http://127.0.0.1", key }, platform)).toThrow(/^(?!.*secret).*no key has/)
})

test("a secret key in a page is refused when the client is made, and a publishable one is not", () => {
  const platform = { ...loopbackPlatform().platform, isPage: () => true }
  expect(() => createClient({ url: "http://127.0.0.1", key: KEY }, platform)).toThrow("publishableKey")
  expect(() => createClient({ url: "http://127.0.0.1", publishableKey: "svc_pub_x" }, platform)).not.toThrow()
})

test("an address that is none, and counts that are none, are refused when the client is made", () => {
  const { platform } = loopbackPlatform()
  for (const url of ["", "mailkind.example.com", "ftp://x.test", "http://a:b@x.test"])
    expect(() => createClient({ url }, platform)).toThrow("`url`")
  for (const timeoutMs of [0, -1, 1.5, Number.NaN])
    expect(() => createClient({ url: "http://x.test", timeoutMs }, platform)).toThrow("`timeoutMs`")
})

test("an empty key is none: the request is refused, and nobody is kept out", async () => {
  const { client, server } = await clientOf([says(401, problemOf(401, "unauthorized"))], { key: " \n" })
  expect(await client.checkEmail("a@b.co")).toMatchObject({ because: "refused", problem: { code: "unauthorized" } })
  expect(server.seen[0]?.authorization).toBe("")
})

test("rules are asked for and replaced", async () => {
  const { client, server } = await clientOf([
    says(200, '{"rules":{"personal":null}}'),
    says(200, '{"rules":{"personal":"block"}}'),
  ])
  expect(await client.rules()).toMatchObject({ outcome: "answered", result: { rules: { personal: null } } })
  expect(await client.setRules({ personal: "block" })).toMatchObject({ result: { rules: { personal: "block" } } })
  expect(server.seen.map(({ url, method, body }) => [method, url, body])).toEqual([
    ["GET", "/v1/rules", ""],
    ["PUT", "/v1/rules", '{"rules":{"personal":"block"}}'],
  ])
})

test("feedback, usage and health give the answer, or why there is none", async () => {
  const { client, server } = await clientOf([
    says(202, '{"id":"fb_1"}'),
    says(200, '{"tier":1}'),
    says(200, '{"status":"ok"}'),
    says(503, ""),
  ])
  expect(await client.feedback({ domain: "x.com", expected_category: "business" })).toMatchObject({
    result: { id: "fb_1" },
  })
  expect(await client.usage()).toMatchObject({ outcome: "answered", result: { tier: 1 } })
  expect(await client.health()).toMatchObject({ outcome: "answered", result: { status: "ok" } })
  expect(await client.usage()).toMatchObject({ outcome: "unanswered", because: "server_error", status: 503 })
  expect(server.seen.map(({ url }) => url)).toEqual(["/v1/feedback", "/v1/usage", "/v1/health", "/v1/usage"])
})

test("a signal that many calls share has one listener, and none when they have ended", async () => {
  const listeners = new Set<unknown>()
  let most = 0
  const { client } = await clientOf([answers])
  const { signal } = new AbortController()
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    add(...given)
    most = Math.max(most, listeners.add(given[1]).size)
  }
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    remove(...given)
    listeners.delete(given[1])
  }
  const checks = Array.from({ length: 20 }, () => client.check({ email: "a@b.co" }, { signal }))
  await Promise.all([...checks, client.batch(["a@b.co"], { signal })])
  expect([most, listeners.size]).toEqual([1, 0])
})
