import { describe, expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import { LIMITS } from "../../src/contract/limits.ts"
import { POLICY_NAMES } from "../../src/contract/policies.ts"
import type { CheckResult } from "../../src/contract/result-schema.ts"
import { BatchResult } from "../../src/contract/schemas.ts"
import { TEST_PROBLEMS } from "../../src/contract/test-addresses.ts"
import { cellIndex } from "../../src/http/metrics/counter-layout.ts"
import { type ApiResponse, testApp } from "../support/app.ts"
import { BUDGET_MS, fakeNetwork } from "../support/fake-network.ts"
import { settled } from "../support/time.ts"

const { ask, newKey } = await testApp()
const post = (body: unknown, more = {}) => ask("POST /v1/check/batch", { body, ...more })

/** The results of a batch that was answered, which satisfy the contract. */
function resultsOf({ status, body }: ApiResponse): readonly CheckResult[] {
  expect(status).toBe(200)
  expect([...Value.Errors(BatchResult, body)]).toEqual([])
  return (body as BatchResult).results // checked in the line before
}

const results = async (items: readonly string[], more = {}) => resultsOf(await post({ items, ...more }))

describe("200", () => {
  test("each item has the result of a check of it, its index, and its text if no domain was found in it", async () => {
    const items = [
      "Jane+news@Gmail.com",
      "STRIPE.com.",
      "http://www.stripe.com/pricing",
      "jane@mailinator.com",
      "x@@y",
      "a b",
    ]
    const found = await results(items)
    for (const [at, input] of [
      { email: items[0] },
      { domain: items[1] },
      { url: items[2] },
      { email: items[3] },
      { email: items[4] },
      { domain: items[5] },
    ].entries()) {
      const { body } = await ask("POST /v1/check", { body: input })
      const item = { index: at, ...(body["domain"] === null ? { input: items[at] } : {}) }
      expect<unknown>(found[at]).toEqual({ ...body, request_id: found[0]?.request_id, ...item })
    }
  })

  test("the batch and all of its results have the one request id, which may be the caller's", async () => {
    const { body, headers } = await post(
      { items: ["gmail.com", "stripe.com"] },
      { headers: { "X-Request-Id": "my-id_1.2" } },
    )
    expect(body).toMatchObject({
      request_id: "my-id_1.2",
      results: [{ request_id: "my-id_1.2" }, { request_id: "my-id_1.2" }],
    })
    expect(headers.get("x-request-id")).toBe("my-id_1.2")
    expect(headers.get("content-type")).toBe("application/json")
    expect(headers.get("cache-control")).toBe("no-store")
  })

  test("an `@` anywhere makes an item an address, then a `/` a website address, and the rest are domains", async () => {
    const kinds = ["https://jane@stripe.com/", "jane@stripe.com/x", "stripe.com/@jane", "stripe.com/", "stripe.com"]
    expect((await results(kinds)).map(({ email, url }) => [email, url])).toEqual([
      [kinds[0], undefined],
      [kinds[1], undefined],
      [kinds[2], undefined],
      [null, kinds[3]],
      [null, undefined],
    ])
  })

  test.each([
    ["empty", "", "invalid_syntax"],
    ["white space", " \t\r\n", "invalid_syntax"],
    ["a NUL", "jane@gmail.com\u0000", "invalid_syntax"],
    ["a control character", "jane\u0007@gmail.com", "invalid_syntax"],
    ["half a surrogate pair", "\ud800@gmail.com", "invalid_syntax"],
    ["a long local part", `${"a".repeat(65)}@gmail.com`, "too_long"],
    ["a long address", `${"a".repeat(64)}@${"b.".repeat(95)}com`, "too_long"],
    ["a long domain", `${"a.".repeat(125)}acom`, "too_long"],
    ["2048 characters of address", `${"a".repeat(2038)}@gmail.com`, "too_long"],
    ["2048 characters of two units each", "😀".repeat(2048), "too_long"],
    ["as many with white space at the ends", ` ${"😀".repeat(2048)}\u00a0`, "too_long"],
    ["an IP address", "jane@[192.0.2.1]", "ip_literal"],
    ["a suffix", "co.uk", "public_suffix"],
  ])("an item of %s is `invalid` and costs the others nothing", async (_, item, reason) => {
    const [before, bad, after] = await results(["jane@gmail.com", item, "stripe.com"])
    expect(bad).toMatchObject({ category: "invalid", confidence: 1, degraded: false })
    expect<unknown>(bad?.reasons[0]).toBe(reason)
    expect([before?.category, after?.category]).toEqual(["personal", "business"])
  })

  test("white space around an item is no part of it", async () => {
    expect(await results(["\t jane@gmail.com\r\n"])).toMatchObject([
      {
        email: "\t jane@gmail.com\r\n",
        normalized_email: "jane@gmail.com",
        canonical_email: "jane@gmail.com",
        category: "personal",
      },
    ])
  })

  test("one item and a hundred are answered", async () => {
    expect(await results(["gmail.com"])).toHaveLength(1)
    const items = Array.from({ length: LIMITS.batchItemsMax }, (_, at) => `jane${at}@gmail.com`)
    expect((await results(items)).map(({ email }) => email)).toEqual(items)
  })

  test("every policy is taken, for all items, and b2b when none is sent", async () => {
    for (const policy of POLICY_NAMES) {
      expect((await results(["gmail.com", "x@@"], { policy })).map(result => result.policy)).toEqual([policy, policy])
    }
    expect((await results(["gmail.com"]))[0]).toMatchObject({ policy: "b2b", recommendation: "review" })
    expect((await results(["gmail.com"], { policy: "strict" }))[0]?.recommendation).toBe("block")
  })

  test("members that we do not know are ignored, and the last of duplicates wins", async () => {
    expect(
      (await results(["gmail.com"], { colour: "red", deep: "yes", workspace: null }))[0]?.domain_age_days,
    ).toBeNull()
    expect(
      resultsOf(await post('{"__proto__":{"items":["a.com"]},"items":["gmail.com"],"constructor":1}')),
    ).toHaveLength(1)
    expect(resultsOf(await post('{"items":7,"items":["gmail.com"]}'))).toHaveLength(1)
  })

  test("a byte order mark, a charset, a +json media type and a body in parts are accepted", async () => {
    const text = '{"items":["gmail.com","stripe.com"]}'
    const bytes = new TextEncoder().encode(text)
    expect(resultsOf(await post(new Uint8Array([0xef, 0xbb, 0xbf, ...bytes])))).toHaveLength(2)
    for (const type of ["Application/JSON; charset=utf-8", "application/ld+json"]) {
      expect(resultsOf(await post(text, { headers: { "Content-Type": type } }))).toHaveLength(2)
    }
    const parts = new ReadableStream({
      start: controller => {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]))
        controller.close()
      },
    })
    expect(resultsOf(await post(parts))).toHaveLength(2)
  })

  test("test addresses have their verdicts, and those that ask for a problem are `unknown`", async () => {
    const items = ["disposable", "role", "degraded", ...Object.keys(TEST_PROBLEMS)].map(name => `${name}@mailkind.test`)
    expect((await results([...items, "mailkind.test", "jane@gmail.com"])).map(({ category }) => category)).toEqual([
      "disposable",
      "business",
      "business",
      ...Object.keys(TEST_PROBLEMS).map(() => "unknown" as const),
      "unknown",
      "personal",
    ])
  })
})

describe("400 invalid_input", () => {
  const refused = async (query: Promise<ApiResponse>, ...pointers: readonly string[]) => {
    const { status, body, headers } = await query
    expect({ status, code: body["code"] }).toEqual({ status: 400, code: "invalid_input" })
    expect(headers.get("content-type")).toBe("application/problem+json")
    expect(body["errors"]).toEqual(pointers.map(pointer => ({ pointer, detail: expect.any(String) })))
  }
  const long = "a".repeat(LIMITS.batchItemLengthMax + 1)

  test.each([
    ["no items", {}, "/items"],
    ["empty items", { items: [] }, "/items"],
    ["items that are null", { items: null }, "/items"],
    ["items that are a text", { items: "gmail.com" }, "/items"],
    ["items that are an object", { items: { 0: "gmail.com", length: 1 } }, "/items"],
    ["an item that is a number", { items: ["a.com", "b.com", "c.com", 7] }, "/items/3"],
    ["an item that is null", { items: [null, "b.com"] }, "/items/0"],
    ["an item that is a list", { items: ["a.com", ["b.com"]] }, "/items/1"],
    ["an item of 2049 characters", { items: ["a.com", long] }, "/items/1"],
    [
      "an item of 2049 characters of two units each",
      { items: ["😀".repeat(LIMITS.batchItemLengthMax + 1)] },
      "/items/0",
    ],
    ["an unknown policy", { items: ["a.com"], policy: "B2B" }, "/policy"],
    ["a policy of every object", { items: ["a.com"], policy: "constructor" }, "/policy"],
    ["a policy that is null", { items: ["a.com"], policy: null }, "/policy"],
  ])("%s", async (_, body, pointer) => {
    await refused(post(body), pointer)
  })

  test("every fault is told with its place, ten at most", async () => {
    await refused(post({ items: [1, "a.com", null], policy: 7 }), "/policy", "/items/0", "/items/2")
    await refused(post({ items: Array(100).fill(0) }), ...Array.from({ length: 10 }, (_, at) => `/items/${at}`))
  })

  test.each(["", "{", "null", "[]", '["gmail.com"]', '"gmail.com"', "7"])("the body %j", async body => {
    await refused(post(body), "")
  })

  test("bytes that are not UTF-8, and a media type that is not JSON", async () => {
    await refused(post(new Uint8Array([...new TextEncoder().encode('{"items":["'), 0xff, 0x22, 0x5d, 0x7d])), "")
    await refused(post('{"items":["gmail.com"]}', { headers: { "Content-Type": "text/plain" } }), "")
  })

  test("nothing of the input is repeated in the answer", async () => {
    for (const body of [{ items: ["secret-name".padEnd(3000, "x")] }, { items: ["a.com"], policy: "secret-name" }]) {
      expect(JSON.stringify((await post(body)).body)).not.toContain("secret-name")
    }
  })
})

describe("413", () => {
  /** A body of so many octets that has two items. */
  const bodyOf = (octets: number): string => '{"items":["gmail.com","stripe.com"]}'.padEnd(octets)
  const inParts = (text: string) =>
    new ReadableStream({
      start: controller => {
        for (const part of text.match(/.{1,4096}/gs) ?? []) controller.enqueue(new TextEncoder().encode(part))
        controller.close()
      },
    })
  const tooMany = Array(LIMITS.batchItemsMax + 1).fill("gmail.com")

  test("a hundred and one items are batch_too_large, whatever else is wrong with the batch", async () => {
    for (const body of [{ items: tooMany }, { items: [7, ...tooMany] }, { items: tooMany, policy: "odd" }]) {
      expect((await post(body)).body).toMatchObject({ status: 413, code: "batch_too_large", limit: 100 })
    }
  })

  test("the last octet that fits is read and the next is not, of known length or in parts", async () => {
    const { batchBodyBytesMax: max } = LIMITS
    for (const sent of [(text: string): BodyInit => text, inParts]) {
      expect(resultsOf(await post(sent(bodyOf(max))))).toHaveLength(2)
      expect((await post(sent(bodyOf(max + 1)))).body).toMatchObject({ code: "payload_too_large", limit: max })
    }
    const told = (octets: number) => ({ headers: { "Content-Length": String(octets) } })
    expect(resultsOf(await post(bodyOf(max), told(max)))).toHaveLength(2)
    expect((await post("{}", told(max + 1))).body["code"]).toBe("payload_too_large")
  })

  test("a hundred items of the greatest length fit, unless their characters take too many octets", async () => {
    const items = (letter: string) => Array(100).fill(letter.repeat(LIMITS.batchItemLengthMax))
    expect(await results(items("a"))).toHaveLength(100)
    expect((await post({ items: items("é") })).body["code"]).toBe("payload_too_large")
  })
})

describe("keys and methods", () => {
  test("a batch needs a key, also for test addresses, and a secret one", async () => {
    const body = { items: ["business@mailkind.test"] }
    expect((await post(body, { key: null })).body["code"]).toBe("unauthorized")
    expect((await post(body, { key: "svc_live_nonsense" })).body["code"]).toBe("invalid_key")
    const page = await newKey(["https://shop.example"])
    const answer = await post(body, { key: page.text, headers: { Origin: "https://shop.example" } })
    expect([answer.status, answer.body["code"]]).toEqual([401, "invalid_key"])
    expect(String(answer.body["detail"])).toContain("secret")
  })

  test.each(["GET", "HEAD", "PUT", "DELETE", "PATCH"])("%s is not allowed", async method => {
    const { status, headers, body } = await ask(`${method} /v1/check/batch`)
    expect([status, headers.get("allow")]).toEqual([405, "POST, OPTIONS"])
    if (method !== "HEAD") expect(body["code"]).toBe("method_not_allowed")
  })

  test("OPTIONS tells the methods, and lets no page in", async () => {
    const { status, headers } = await ask("OPTIONS /v1/check/batch", {
      key: null,
      headers: { Origin: "https://shop.example", "Access-Control-Request-Method": "POST" },
    })
    expect([status, headers.get("allow")]).toEqual([204, "POST, OPTIONS"])
    expect(headers.get("access-control-allow-origin")).toBeNull()
  })

  test.each(["/v1/check/batch/", "/v1/check/Batch", "/v1/batch"])("%s is no path", async path => {
    expect((await ask(`POST ${path}`, { body: { items: ["gmail.com"] } })).body["code"]).toBe("not_found")
  })
})

describe("the outside world", () => {
  const granite = (count: number, prefix = "granite") =>
    Array.from({ length: count }, (_, at) => `jane@${prefix}${at}.com`)

  test("is asked about each domain once, and not again while its answers hold", async () => {
    const { outside, requests } = fakeNetwork()
    const harness = await testApp({ outside })
    const items = [...granite(33), ...granite(33).map(item => item.replace("jane@", "")), ...granite(34).reverse()]
    expect(resultsOf(await harness.ask("POST /v1/check/batch", { body: { items } }))).toHaveLength(100)
    expect([requests.length, new Set(requests).size]).toEqual([34 * 5, 34 * 5])
    const again = resultsOf(await harness.ask("POST /v1/check/batch", { body: { items } }))
    expect(new Set(again.map(({ cached, mail }) => `${cached} ${mail.has_mx}`))).toEqual(new Set(["true true"]))
    expect([requests.length, harness.time.waiting()]).toEqual([34 * 5, 0])
  })

  test("is asked less with `mail` false: nothing about disposable domains, for MX of others, and the verdicts stay", async () => {
    const { outside, requests } = fakeNetwork()
    const house = await testApp({ outside })
    const items = ["jane@gmail.com", "jane@mailinator.com", "jane@granite0.com"]
    const less = resultsOf(await house.ask("POST /v1/check/batch", { body: { items, mail: false } }))
    const single = { email: "jane@granite0.com", mail: false }
    expect((await house.ask("POST /v1/check", { body: single })).body["mail"]).toEqual(less[2]?.mail)
    expect((await house.ask("GET /v1/check?domain=granite1.com&mail=false")).body["category"]).toBe("business")
    const known = ["gmail.com", "granite0.com", "granite1.com"]
    expect(requests.toSorted()).toEqual([...known.map(name => `A mx.${name}`), ...known.map(name => `MX ${name}`)])
    const whole = resultsOf(await house.ask("POST /v1/check/batch", { body: { items } }))
    const verdictOf = ({ category, confidence, recommendation, reasons }: (typeof whole)[number]) => [
      ...[category, confidence, recommendation, reasons[0]],
    ]
    expect(less.map(verdictOf)).toEqual(whole.map(verdictOf))
    expect(less.map(({ mail }) => [mail.has_mx, mail.dmarc_policy])).toEqual([
      [true, null],
      [null, null],
      [true, null],
    ])
    expect(whole[2]?.mail.dmarc_policy).toBe("none")
  })

  test("is not asked when `mail` is no boolean", async () => {
    const { status, body } = await testApp().then(house =>
      house.ask("POST /v1/check/batch", { body: { items: ["gmail.com"], mail: "no" } }),
    )
    expect([status, body["errors"]]).toEqual([400, [{ pointer: "/mail", detail: "`mail` must be true or false." }]])
  })

  test("has one budget for the batch: what is not told in time is degraded, and the rest is whole", async () => {
    const harness = await testApp({ outside: fakeNetwork().outside })
    const items = ["silent.com", ...granite(49), ...granite(49, "silent"), "jane@gmail.com"]
    const asking = harness.ask("POST /v1/check/batch", { body: { items } })
    // Besides the budget, only mail hosts whose addresses are asked for have a time of their own.
    for (let turn = 0; turn < 100; turn++) await settled()
    expect(harness.time.waiting()).toBe(1)
    await harness.time.tick(BUDGET_MS)
    const response = await asking
    expect(response.body["took_ms"]).toBe(BUDGET_MS)
    for (const { domain, degraded, took_ms: tookMs } of resultsOf(response)) {
      const isSilent = domain?.startsWith("silent") ?? false
      expect([domain, degraded, tookMs]).toEqual([domain, isSilent, isSilent ? BUDGET_MS : 0])
    }
  })

  test("where it fails by our own fault costs the one domain, and is logged and counted without what was sent", async () => {
    const harness = await testApp({ outside: fakeNetwork().outside })
    const reply = await harness.ask("POST /v1/check/batch", {
      body: { items: ["jane@broken.com", "jane@granite.com"] },
    })
    expect(resultsOf(reply).map(({ degraded }) => degraded)).toEqual([true, false])
    expect(harness.logged).toEqual([
      {
        level: "error",
        message: "evidence was not read",
        fields: { fault: "defect_dns", error: "TypeError", at: expect.any(String) },
      },
    ])
    expect(harness.column[cellIndex("mailkind_evidence_defects_total", "dns")]).toBe(1)
  })
})

describe("the coding of the answer", () => {
  const many = Array.from({ length: 30 }, (_, at) => `user${at}@example${at}.com`)
  const askCoded = (items: readonly string[], coding: string) =>
    post({ items }, { headers: { "Accept-Encoding": coding } })

  test("a long answer is compressed for a client that accepts gzip, and is the same", async () => {
    const plain = await askCoded(many, "identity")
    const packed = await askCoded(many, "br;q=1, gzip;q=0.5")
    expect([plain.headers.get("content-encoding"), packed.headers.get("content-encoding")]).toEqual([null, "gzip"])
    for (const { headers } of [plain, packed]) expect(headers.get("vary")).toContain("Accept-Encoding")
    const comparable = (body: Record<string, unknown>) => JSON.stringify(body).replaceAll(/"request_id":"[^"]*"/g, "")
    expect(comparable(packed.body)).toBe(comparable(plain.body))
  })

  test.each(["", "identity", "gzip;q=0", "br"])("it is not compressed for %j", async coding => {
    expect((await askCoded(many, coding)).headers.get("content-encoding")).toBeNull()
  })
})

test("a body with a content coding is refused, and the problem names the header", async () => {
  const { status, body } = await post({ items: ["a.com"] }, { headers: { "Content-Encoding": "gzip" } })
  expect([status, body["code"]]).toEqual([400, "invalid_input"])
  expect(body["detail"]).toContain("`Content-Encoding`")
})
