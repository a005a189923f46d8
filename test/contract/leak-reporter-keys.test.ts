import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { KEYS_TTL_MS } from "../../src/http/hooks/reporter-keys.ts"
import { type ApiResponse, testApp } from "../support/app.ts"
import { keyServer, keysDocument, type Signer, signer } from "../support/leak-reporter.ts"
import { askLoopback } from "../support/loopback.ts"
import { inTime } from "../support/test-check.ts"
import { type ServerProcess, serverProcess } from "./server-process.ts"

setDefaultTimeout(120_000)

const [one, two] = [signer("one"), signer("two")]
const NOTHING = "[]"

/** A house whose reporter publishes its keys here, and a report of nothing, which tells by its status whether it is believed. */
async function harness(keys = keyServer(one)) {
  const app = await testApp({ keysUrl: keys.url })
  const report = (by: Signer): Promise<ApiResponse> =>
    app.ask("POST /hooks/secret-scanning", { body: NOTHING, key: null, headers: by.headers(NOTHING) })
  return { ...app, keys, report, statusOf: async (by: Signer) => (await report(by)).status }
}

describe("the reporter's keys", () => {
  test("are asked for by the first report, once, and are changed without a pause", async () => {
    const { keys, statusOf } = await harness()
    expect(keys.askedCount()).toBe(0)
    expect([await statusOf(one), await statusOf(one), keys.askedCount()]).toEqual([200, 200, 1])
    keys.publish(two)
    expect([await statusOf(two), await statusOf(one), keys.askedCount()]).toEqual([200, 401, 3])
  })

  test("serve on while nobody gives newer ones, and another's report is to come again then", async () => {
    const { keys, statusOf, report, time, logged } = await harness()
    await statusOf(one)
    keys.answerWith(() => new Response("busy", { status: 503 }))
    await time.tick(KEYS_TTL_MS)
    expect(await statusOf(one)).toBe(200)
    const { status, body } = await report(two)
    expect([status, body["code"]]).toEqual([500, "internal_error"])
    expect(logged.find(({ level }) => level === "warn")).toEqual({
      level: "warn",
      message: "the leak reporter's public keys were not fetched",
      fields: {
        where: expect.stringMatching(/^https?:\/\/[^/]+$/),
        why: "The server answered 503 (Service Unavailable).",
        remedy: expect.stringContaining("doctor --only leak_keys"),
      },
    })
  })

  test("are asked for a few times for made-up identifiers; then a report by a new key is to come again, not refused", async () => {
    const { keys, report, statusOf, time } = await harness()
    await statusOf(one)
    const madeUp = []
    for (let at = 0; at < 20; at++)
      madeUp.push(
        await statusOf({
          ...two,
          headers: body => ({ ...two.headers(body), "Github-Public-Key-Identifier": `made-up-${at}` }),
        }),
      )
    expect(madeUp).toEqual([...Array(3).fill(401), ...Array(17).fill(500)])
    keys.publish(one, two)
    const { status, body } = await report(two)
    expect([status, body["code"]]).toEqual([500, "internal_error"])
    expect(await statusOf(one)).toBe(200)
    await time.tick(120_000)
    expect(await statusOf(two)).toBe(200)
  })

  test("are waited for ten seconds", async () => {
    const { keys, report, time } = await harness()
    keys.answerWith(() => new Promise<never>(() => undefined))
    const { value, tookMs } = await inTime(time, report(one))
    expect([value.status, tookMs <= 10_000]).toEqual([500, true])
    keys.publish(one)
    await time.tick(120_000)
    expect((await report(one)).status).toBe(200)
  })

  test("serve on after their hour while the server that has newer ones is silent", async () => {
    const { keys, report, time } = await harness()
    await report(one)
    keys.answerWith(() => new Promise<never>(() => undefined))
    await time.tick(KEYS_TTL_MS)
    const { value, tookMs } = await inTime(time, report(one))
    expect([value.status, tookMs <= 10_000]).toEqual([200, true])
  })

  test("are taken from a document of 65 536 octets, and not from a longer one, an endless one, a page or garbage", async () => {
    const document = keysDocument(one)
    const endless = (): Response =>
      new Response(new ReadableStream({ pull: parts => parts.enqueue(new Uint8Array(65_536).fill(0x20)) }))
    const elsewhere = (to: string) => (): Response => new Response(null, { status: 302, headers: { Location: to } })
    for (const [status, answer] of [
      [200, () => new Response(document.padEnd(65_536))],
      [500, () => new Response(document.padEnd(65_537))],
      [500, endless],
      [500, () => new Response(document, { headers: { "Content-Type": "text/html" } })],
      [500, () => new Response("garbage")],
      [500, () => new Response(Buffer.from([0xff, 0xfe]))],
      [500, () => new Response("")],
      [500, () => new Response(document, { status: 404 })],
      [500, elsewhere("http://keys.example/")],
      [500, elsewhere("file:///etc/passwd")],
      [500, elsewhere("?again")],
    ] as const) {
      const { keys, statusOf } = await harness()
      keys.answerWith(answer)
      expect([await statusOf(one), String(answer)]).toEqual([status, String(answer)])
    }
  })

  test("are not asked for in the clear beyond this machine, nor where nobody listens", async () => {
    for (const keysUrl of ["http://keys.example", "http://127.0.0.1:1"]) {
      const { ask, logged } = await testApp({ keysUrl })
      const response = await ask("POST /hooks/secret-scanning", {
        body: NOTHING,
        key: null,
        headers: one.headers(NOTHING),
      })
      expect(response.status).toBe(500)
      expect(logged.map(({ level, message }) => `${level} ${message}`)).toEqual([
        "warn the leak reporter's public keys were not fetched",
        "info a request failed",
      ])
    }
  })
})

describe("a server as a user starts it", () => {
  const keys = keyServer(one)
  let server: ServerProcess
  beforeAll(async () => {
    server = await serverProcess({ MAILKIND_SECRET_SCANNING_KEYS_URL: keys.url })
  })
  afterAll(async () => {
    const { code, log } = await server.stop()
    expect([code, log.includes(server.firstKey), log.includes("code.example")]).toEqual([0, false, false])
  })

  test("revokes the key in a report that comes over a socket, for good", async () => {
    const { url, firstKey, ask, run } = server
    expect((await ask("GET /v1/usage", { key: firstKey })).status).toBe(200)
    const body = JSON.stringify([
      { token: firstKey, type: "mailkind_key", url: "https://code.example/", source: "commit" },
    ])
    const headers = { ...one.headers(body), "Content-Type": "application/json" }
    const answered = await askLoopback(`${url}/hooks/secret-scanning`, { method: "POST", headers, body })
    expect([answered.status, JSON.parse(answered.body)]).toEqual([
      200,
      [
        {
          token_hash: new Bun.CryptoHasher("sha256").update(firstKey).digest("hex"),
          token_type: "mailkind_key",
          label: "true_positive",
        },
      ],
    ])
    expect((await ask("GET /v1/usage", { key: firstKey })).body["code"]).toBe("key_revoked")
    expect(JSON.stringify(await run("key", "list", "--account", "owner@localhost"))).toContain('"revoked_at":"2')
  })

  test("refuses a megabyte and goes on", async () => {
    const body = NOTHING.padEnd(1_000_000)
    const headers = { ...one.headers(body), "Content-Type": "application/json" }
    const { status } = await askLoopback(`${server.url}/hooks/secret-scanning`, { method: "POST", headers, body })
    expect([status, (await server.ask("GET /v1/health")).status]).toEqual([413, 200])
  })
})
