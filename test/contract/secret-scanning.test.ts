import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { PROBLEMS, type ProblemCode } from "../../src/contract/problems.ts"
import { generateKey } from "../../src/customers/keys/key-format.ts"
import { findKey, revokeKey } from "../../src/customers/keys/keys.ts"
import { random } from "../customers/temp-store.ts"
import { type ApiResponse, testApp } from "../support/app.ts"
import { keyServer, type Signer, signer } from "../support/leak-reporter.ts"

const HOOK = "POST /hooks/secret-scanning"
const FOUND_AT = "https://code.example/acme/app/blob/0123abc/.env"
const own = signer("5f0c")

type Sent = { readonly by?: Signer | null; readonly headers?: Record<string, string>; readonly peer?: string }

/** A house that believes the reporter's one key, and what reports it. */
async function reported() {
  const keys = keyServer(own)
  const harness = await testApp({ keysUrl: keys.url })
  const send = (
    body: string | Uint8Array,
    { by = own, headers = {}, peer = "192.0.2.1" }: Sent = {},
  ): Promise<ApiResponse> =>
    harness.ask(HOOK, { body, key: null, headers: { ...by?.headers(body), "x-test-peer": peer, ...headers } })
  const report = (...tokens: readonly string[]): Promise<ApiResponse> => send(reportOf(...tokens))
  const isActive = async (id = harness.keyId): Promise<boolean> =>
    (await findKey(harness.store, id))?.revokedAtMs === null
  return { ...harness, keys, send, report, isActive }
}

const reportOf = (...tokens: readonly string[]): string =>
  JSON.stringify(tokens.map(token => ({ token, type: "mailkind_key", url: FOUND_AT, source: "content" })))

const hashOf = (token: string): string => new Bun.CryptoHasher("sha256").update(token).digest("hex")

/** What the answer says of each token, and that it says nothing else. */
function expectLabels(
  { status, body }: ApiResponse,
  labels: readonly (readonly [token: string, isReal: boolean])[],
): void {
  const items = labels.map(([token, isReal]) => ({
    token_hash: hashOf(token),
    token_type: "mailkind_key",
    label: isReal ? "true_positive" : "false_positive",
  }))
  expect({ status, items: Object.values(body) }).toEqual({ status: 200, items })
}

const mistyped = (key: string): string => key.replace(/.$/, last => (last === "a" ? "b" : "a"))

describe("200: a secret key in a signed report", () => {
  test("is revoked before the answer comes, also where it was in use the moment before", async () => {
    const { ask, report, key, keyId, store } = await reported()
    expect((await ask("GET /v1/usage")).status).toBe(200)
    expectLabels(await report(key), [[key, true]])
    const refused = await ask("GET /v1/usage")
    expect([refused.status, refused.body["code"]]).toEqual([401, "key_revoked"])
    expect(await findKey(store, keyId)).toMatchObject({ revokedBy: "leak" })
  })

  test("has the same label when the report comes again, and nothing else changes", async () => {
    const { send, key, keyId, store, time } = await reported()
    const body = reportOf(key)
    const first = await send(body)
    const revoked = await findKey(store, keyId)
    await time.tick(86_400_000)
    expect((await send(body)).body).toEqual(first.body)
    expect(await findKey(store, keyId)).toEqual(revoked)
  })

  test("that its owner has revoked is a true positive too, and stays revoked by its owner", async () => {
    const { report, changes, key, keyId, store } = await reported()
    await revokeKey(changes, keyId, "owner")
    expectLabels(await report(key), [[key, true]])
    expect(await findKey(store, keyId)).toMatchObject({ revokedBy: "owner" })
  })

  test("is revoked among whatever else the report holds, and each item has its label in its place", async () => {
    const { report, newKey: anotherKey, ask, key, isActive } = await reported()
    const page = await anotherKey(["https://shop.example"])
    const second = await anotherKey()
    const spared = await anotherKey()
    const stranger = generateKey("secret", random)
    expectLabels(await report(page.text, key, mistyped(second.text), stranger, "", "some_token", key, second.text), [
      [page.text, false],
      [key, true],
      [mistyped(second.text), false],
      [stranger, false],
      ["", false],
      ["some_token", false],
      [key, true],
      [second.text, true],
    ])
    expect([await isActive(), await isActive(second.id)]).toEqual([false, false])
    expect([await isActive(page.id), await isActive(spared.id)]).toEqual([true, true])
    const ofPage = { key: page.text, headers: { Origin: "https://shop.example" } }
    expect((await ask("GET /v1/check?domain=stripe.com", ofPage)).status).toBe(200)
    expect((await ask("GET /v1/usage", { key: spared.text })).status).toBe(200)
  })

  test("is revoked beside items that cannot be read, which have no label", async () => {
    const { send, key, isActive } = await reported()
    const items = [null, 1, "text", [], {}, { token: null }, { token: [key] }, { type: "mailkind_key" }]
    const query = await send(JSON.stringify([...items, { token: key, type: 7, url: {} }, ...items]))
    expect(Object.values(query.body)).toEqual([{ token_hash: hashOf(key), token_type: "", label: "true_positive" }])
    expect(await isActive()).toBe(false)
  })

  test("is revoked among two hundred", async () => {
    const { report, newKey: anotherKey, key, isActive } = await reported()
    const keys = [key, (await anotherKey()).text, (await anotherKey()).text, (await anotherKey()).text]
    const tokens = Array.from({ length: 200 }, (_, at) => keys[at / 50] ?? generateKey("secret", random))
    expectLabels(
      await report(...tokens),
      tokens.map(token => [token, keys.includes(token)]),
    )
    expect(await isActive()).toBe(false)
  })

  test("is revoked whatever the media type, with spaces about the JSON, and after a byte order mark", async () => {
    const { send, newKey: anotherKey, isActive } = await reported()
    for (const [before, type] of [
      ["", "text/plain"],
      [" \n", "application/json; charset=utf-8"],
      ["\uFEFF", "application/json"],
    ] as const) {
      const { id, text } = await anotherKey()
      const response = await send(before + reportOf(text), { headers: { "Content-Type": type } })
      expect([response.status, await isActive(id)]).toEqual([200, false])
    }
  })

  test("once, however often it is reported at one moment", async () => {
    const { report, key } = await reported()
    for (const response of await Promise.all(Array.from({ length: 50 }, () => report(key))))
      expectLabels(response, [[key, true]])
  })
})

test("200: a report of nothing has no labels", async () => {
  const reply = await (await reported()).send("[]")
  expect([reply.status, Object.values(reply.body)]).toEqual([200, []])
  expect(reply.headers.get("content-type")).toBe("application/json")
  expect(reply.headers.get("cache-control")).toBe("no-store")
})

/** The refusal as it is documented. */
function expectProblem({ status, headers, body }: ApiResponse, code: ProblemCode): void {
  expect({ status, code: body["code"] }).toEqual({ status: PROBLEMS[code].status, code })
  expect(headers.get("content-type")).toBe("application/problem+json")
  expect(headers.has("www-authenticate")).toBe(status === 401)
}

describe("401: a report that the reporter has not signed", () => {
  const stranger = signer(own.identifier)
  const garbage = Buffer.alloc(70, 0x30).toString("base64")
  const signatureBy = (body: string, by = own): string => by.headers(body)["Github-Public-Key-Signature"] ?? ""

  test.each<[string, (body: string) => Sent]>([
    ["has neither header", () => ({ by: null })],
    ["names no key", () => ({ headers: { "Github-Public-Key-Identifier": "" } })],
    ["has no signature", () => ({ headers: { "Github-Public-Key-Signature": "" } })],
    ["names an unknown key", () => ({ headers: { "Github-Public-Key-Identifier": "0000" } })],
    ["names a member that every object has", () => ({ headers: { "Github-Public-Key-Identifier": "constructor" } })],
    ["is signed by another's key under the reporter's name", () => ({ by: stranger })],
    [
      "has the signature of another body",
      body => ({ headers: { "Github-Public-Key-Signature": signatureBy(`${body} `) } }),
    ],
    ["has a signature that is no DER", () => ({ headers: { "Github-Public-Key-Signature": garbage } })],
    ["has a signature that is no base64", () => ({ headers: { "Github-Public-Key-Signature": "%%%" } })],
    [
      "has two signatures",
      body => ({ headers: { "Github-Public-Key-Signature": `${garbage}, ${signatureBy(body)}` } }),
    ],
    [
      "sends an API key instead",
      () => ({ by: null, headers: { Authorization: `Bearer ${generateKey("secret", random)}` } }),
    ],
  ])("that %s revokes nothing, and is told the same whether the key exists", async (_, sent) => {
    const { send, key, isActive } = await reported()
    const answers: unknown[] = []
    for (const token of [key, generateKey("secret", random), "some_token"]) {
      const body = reportOf(token)
      const answer = await send(body, sent(body))
      expectProblem(answer, "unauthorized")
      answers.push([answer.body["detail"], [...answer.headers.keys()]])
    }
    expect(answers).toEqual([answers[0], answers[0], answers[0]])
    expect(await isActive()).toBe(true)
  })

  test("is told so before its JSON is looked at", async () => {
    const { send } = await reported()
    for (const body of ["", "nonsense", "[".repeat(60_000)])
      expectProblem(await send(body, { by: stranger }), "unauthorized")
  })

  test("on another curve revokes nothing, though its key is published", async () => {
    const { send, keys, key, isActive } = await reported()
    for (const curve of ["P-224", "P-384", "P-521"]) {
      const other = signer("other", curve)
      keys.publish(own, other)
      expectProblem(await send(reportOf(key), { by: other }), "unauthorized")
    }
    expect(await isActive()).toBe(true)
  })
})

describe("400: a signed report", () => {
  test.each([
    ["that is empty", ""],
    ["that is no JSON", "[{]"],
    ["that is no UTF-8", Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d])],
    ["that is nested past all measure", "[".repeat(60_000)],
    ["that is an object", '{"token":"some_token"}'],
    ["that is null", "null"],
    ["of 501 items", JSON.stringify(Array(LIMITS.leakReportItemsMax + 1).fill({}))],
  ])("%s is no report", async (_, body) => {
    const requests = await (await reported()).send(body)
    expectProblem(requests, "invalid_input")
    expect(requests.body["errors"]).toEqual([{ pointer: "", detail: expect.any(String) }])
  })

  test("of 500 items is one", async () => {
    const body = JSON.stringify(Array(LIMITS.leakReportItemsMax).fill({ token: "some_token" }))
    expect(Object.values((await (await reported()).send(body)).body)).toHaveLength(LIMITS.leakReportItemsMax)
  })
})

describe("413: a body", () => {
  const padded = (key: string, bytes: number): string => reportOf(key).padEnd(bytes)
  const streamed = (body: string): ReadableStream<Uint8Array> => new Blob([body]).stream()

  test("of 65 536 octets is read, and one more is too many, by its length or by count", async () => {
    const { send, ask, key, isActive } = await reported()
    const large = padded(key, LIMITS.bodyBytesMax + 1)
    const facts = await send(large, { headers: { "Content-Length": String(large.length) } })
    const counted = await ask(HOOK, { body: streamed(large), key: null, headers: own.headers(large) })
    for (const requests of [facts, counted]) {
      expectProblem(requests, "payload_too_large")
      expect(requests.body["limit"]).toBe(LIMITS.bodyBytesMax)
    }
    expect(await isActive()).toBe(true)
    const fits = padded(key, LIMITS.bodyBytesMax)
    expectLabels(await ask(HOOK, { body: streamed(fits), key: null, headers: own.headers(fits) }), [[key, true]])
  })

  test("is not read when its length alone is too much, or when nobody known has sent it", async () => {
    const { send, ask, key } = await reported()
    const huge = padded(key, 1_000_000)
    expectProblem(await send(huge), "payload_too_large")
    let isRead = false
    const pull = (): void => {
      isRead = true
    }
    for (const [by, length, code] of [
      [own, { "Content-Length": String(LIMITS.bodyBytesMax + 1) }, "payload_too_large"],
      [signer("unknown"), {}, "unauthorized"],
    ] as const) {
      const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 })
      expectProblem(await ask(HOOK, { body, key: null, headers: { ...by.headers(huge), ...length } }), code)
    }
    expect(isRead).toBe(false)
  })
})

describe("429: reports", () => {
  const burst = LIMITS.leakReportsPerSecond * LIMITS.burstFactor

  test("of one client address are taken up to its limit, and another's then still", async () => {
    const { send, key, time } = await reported()
    for (let count = 0; count < burst; count++) expectProblem(await send("[]", { by: null }), "unauthorized")
    const requests = await send(reportOf(key))
    expectProblem(requests, "rate_limited")
    expect(requests.body).toMatchObject({ retry_after: 1, limit: LIMITS.leakReportsPerSecond })
    expect(requests.headers.get("retry-after")).toBe("1")
    expectLabels(await send(reportOf(key), { peer: "192.0.2.2" }), [[key, true]])
    await time.tick(1000)
    expectLabels(await send(reportOf(key)), [[key, true]])
  })

  test("of all client addresses have their signatures checked up to a limit", async () => {
    const { send, key, time } = await reported()
    const burstOfAll = LIMITS.leakReportsGlobalPerSecond * LIMITS.burstFactor
    const statuses: number[] = []
    for (let count = 0; count <= burstOfAll; count++) {
      const peer = `198.51.100.${Math.floor(count / burst)}`
      statuses.push((await send("[]", { peer, by: null, headers: own.headers("[ ]") })).status)
    }
    expect(statuses.filter(status => status === 401)).toHaveLength(burstOfAll)
    const requests = await send(reportOf(key))
    expectProblem(requests, "rate_limited")
    expect(requests.body["limit"]).toBe(LIMITS.leakReportsGlobalPerSecond)
    await time.tick(1000)
    expectLabels(await send(reportOf(key)), [[key, true]])
  })

  test("take nothing from those who try test addresses from the same client address", async () => {
    const { send, ask } = await reported()
    for (let count = 0; count <= burst; count++) await send("[]", { by: null })
    expect((await ask("GET /v1/check?email=business@mailkind.test", { key: null })).status).toBe(200)
  })
})

describe("405: the path", () => {
  test.each(["GET", "HEAD", "PUT", "DELETE", "PATCH"])("takes no %s", async method => {
    const requests = await (await reported()).ask(`${method} /hooks/secret-scanning`, { key: null })
    expect([requests.status, requests.headers.get("allow")]).toEqual([405, "POST, OPTIONS"])
  })

  test("tells its method to OPTIONS, and its neighbours are no paths", async () => {
    const { ask } = await reported()
    expect((await ask("OPTIONS /hooks/secret-scanning", { key: null })).headers.get("allow")).toBe("POST, OPTIONS")
    for (const path of ["/hooks", "/hooks/", "/hooks/secret-scanning/", "/v1/hooks/secret-scanning"])
      expect((await ask(`POST ${path}`, { key: null })).status).toBe(404)
  })
})

describe("500: a failure of ours", () => {
  test("to revoke one key keeps no other from being revoked, and the report may come again", async () => {
    const { report, newKey: anotherKey, store, key, keyId, isActive, logged } = await reported()
    const [second, third] = [await anotherKey(), await anotherKey()]
    await report(third.text)
    // Of the two keys one may be revoked by a leak, and it was.
    await store.run(`CREATE UNIQUE INDEX broken ON keys (revoked_by) WHERE id IN ('${keyId}', '${third.id}')`)
    expectProblem(await report(key, second.text), "internal_error")
    expect([await isActive(), await isActive(second.id)]).toEqual([true, false])
    expect(logged.map(({ fields }) => fields["failed"])).toContain(1)
    await store.run("DROP INDEX broken")
    expectLabels(await report(key, second.text), [
      [key, true],
      [second.text, true],
    ])
  })
})

test("the log counts what was reported, and holds no token, no URL, no hash and no identifier", async () => {
  const { send, report, newKey: anotherKey, key, logged } = await reported()
  const page = await anotherKey(["https://shop.example"])
  await report(key, page.text, key)
  await send(JSON.stringify([{ token: key }, null]))
  await send(reportOf(key), { by: null })
  await send(reportOf(key), { by: signer("unknown") })
  await send("[{]")
  const none = { keys_revoked: 0, keys_revoked_before: 0, no_secret_keys: 0, unreadable: 0, failed: 0 }
  const one = { ...none, request_id: expect.stringMatching(/^req_/) }
  expect(logged.map(({ fields }) => fields)).toEqual([
    { ...one, items: 3, keys_revoked: 1, no_secret_keys: 1 },
    { ...one, items: 2, keys_revoked_before: 1, unreadable: 1 },
  ])
  const text = JSON.stringify(logged)
  for (const secret of [key, page.text, FOUND_AT, "code.example", hashOf(key), own.identifier, "mailkind_key"])
    expect(text).not.toContain(secret)
})
