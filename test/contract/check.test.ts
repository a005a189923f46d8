import { describe, expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import { LIMITS } from "../../src/contract/limits.ts"
import { POLICY_NAMES } from "../../src/contract/policies.ts"
import { CheckResult } from "../../src/contract/result-schema.ts"
import { testApp } from "../support/app.ts"

const { ask } = await testApp()
const post = (body: unknown, more = {}) => ask("POST /v1/check", { body, ...more })

/** Octets that are not UTF-8: cut characters, a lone continuation, a long form, a surrogate, beyond U+10FFFF. */
const NOT_UTF8 = [
  [0xff],
  [0x80],
  [0xc3],
  [0xe2, 0x82],
  [0xf0, 0x9f, 0x98],
  [0xf0, 0x9f],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf0, 0x9f, 0x98, 0xff],
]

describe("200", () => {
  test("a body of exactly 65,536 octets is read, of told length or not, and one more is 413", async () => {
    const sent = (octets: number) => JSON.stringify({ domain: "stripe.com" }).padEnd(octets)
    for (const line of ["POST /v1/check", "POST /v1/feedback"])
      for (const told of [{}, { "Content-Length": "65536" }]) {
        const { status } = await ask(line, { body: sent(65_536), headers: told })
        expect([line, status]).toEqual([line, line === "POST /v1/check" ? 200 : 400])
      }
    for (const told of [{}, { "Content-Length": "65537" }])
      expect((await post(sent(65_537), { headers: told })).status).toBe(413)
  })

  test("an address is answered with every member of the contract and none besides", async () => {
    const { status, body, headers } = await post({ email: "Jane+news@Gmail.com" })
    expect(status).toBe(200)
    expect(Value.Check(CheckResult, body)).toBe(true)
    expect(body).toMatchObject({
      email: "Jane+news@Gmail.com",
      normalized_email: "jane@gmail.com",
      domain: "gmail.com",
      category: "personal",
      has_subaddress: true,
      policy: "b2b",
    })
    expect(headers.get("content-type")).toBe("application/json")
    expect(headers.get("cache-control")).toBe("no-store")
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("x-request-id")).toBe(String(body["request_id"]))
  })

  test("canonical_email is the mailbox behind an address, and null for all that is no valid address", async () => {
    const mailboxOf = async (body: object) => (await post(body)).body["canonical_email"]
    const addresses = [
      "Ja.ne+news@GoogleMail.com",
      "jane+news@tuta.com",
      "suite-a+news@mailkind.test",
      "degraded+news@mailkind.test",
    ]
    expect(await Promise.all(addresses.map(email => mailboxOf({ email })))).toEqual([
      "jane@gmail.com",
      "jane+news@tuta.com",
      "suite-a@mailkind.test",
      "degraded+news@mailkind.test",
    ])
    const others = [
      { domain: "gmail.com" },
      { url: "https://gmail.com/" },
      { email: "a@b@c" },
      { email: "invalid@mailkind.test" },
    ]
    expect(await Promise.all(others.map(mailboxOf))).toEqual([null, null, null, null])
  })

  test("GET and POST give the same answer", async () => {
    const got = await ask("GET /v1/check?email=jane%40mailinator.com&policy=strict")
    const posted = await post({ email: "jane@mailinator.com", policy: "strict" })
    expect({ ...got.body, request_id: "" }).toEqual({ ...posted.body, request_id: "" })
  })

  test("a + in the query of a GET is a plus, and %20 is a space", async () => {
    const normalizedOf = async (email: string) => {
      const { status, body } = await ask(`GET /v1/check?email=${email}`)
      expect(status).toBe(200)
      return [body["email"], body["normalized_email"], body["category"]]
    }
    for (const email of ["jane+news@gmail.com", "jane%2Bnews%40gmail.com"])
      expect(await normalizedOf(email)).toEqual(["jane+news@gmail.com", "jane@gmail.com", "personal"])
    expect(await normalizedOf("+jane@gmail.com")).toEqual(["+jane@gmail.com", "+jane@gmail.com", "personal"])
    expect(await normalizedOf("%20jane@gmail.com%20")).toEqual([" jane@gmail.com ", "jane@gmail.com", "personal"])
    expect(await normalizedOf("ja%20ne@gmail.com")).toEqual(["ja ne@gmail.com", null, "invalid"])
    expect((await ask("GET /v1/check?url=https://stripe.com/a+b")).body).toMatchObject({ domain: "stripe.com" })
  })

  test("a % of a query that starts no escape stands for itself", async () => {
    for (const [sent, email] of [
      ["100%@gmail.com", "100%@gmail.com"],
      ["a%zz%25%4@gmail.com", "a%zz%%4@gmail.com"],
      ["caf%C3%A9@gmail.com", "café@gmail.com"],
    ])
      expect((await ask(`GET /v1/check?email=${sent}`)).body["email"]).toBe(email)
  })

  test("a U+FFFD that was really sent makes an invalid address, not a refusal", async () => {
    const invalid = {
      category: "invalid",
      reasons: expect.arrayContaining(["invalid_syntax"]),
      recommendation: "block",
    }
    for (const email of ["ja\uFFFDne@gmail.com", "jane@gm\uFFFDil.com", "\uFFFD"]) {
      for (const body of [{ email }, `\uFEFF{"email":"${email}"}`, { email, x: "\uFFFD".repeat(5) }])
        expect(await post(body)).toMatchObject({ status: 200, body: { ...invalid, email } })
      const got = await ask(`GET /v1/check?email=${encodeURIComponent(email)}`)
      expect(got).toMatchObject({ status: 200, body: { ...invalid, email } })
    }
    expect((await post({ domain: "a\uFFFDb.com" })).body).toMatchObject(invalid)
    expect((await post({ url: "http://a\uFFFDb.com" })).body).toMatchObject(invalid)
  })

  test("a domain check has neither email nor url", async () => {
    const { body } = await post({ domain: "STRIPE.com." })
    expect(body).toMatchObject({ email: null, normalized_email: null, domain: "stripe.com", category: "business" })
    expect("url" in body).toBe(false)
  })

  test("a URL check repeats the URL as sent and checks its host without www", async () => {
    const { body } = await post({ url: "http://www.stripe.com/pricing" })
    expect(body).toMatchObject({
      url: "http://www.stripe.com/pricing",
      email: null,
      domain: "stripe.com",
      category: "business",
    })
  })

  test("an address that is simply invalid is an answer, not an error", async () => {
    const { status, body } = await post({ email: "jane@@acme" })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      category: "invalid",
      reasons: ["invalid_syntax"],
      recommendation: "block",
      degraded: false,
      confidence: 1,
    })
  })

  test("members and parameters that we do not know are ignored", async () => {
    expect((await post({ email: "jane@gmail.com", colour: "red", __proto__: { domain: "x.com" } })).status).toBe(200)
    expect((await ask("GET /v1/check?email=jane%40gmail.com&colour=red&colour=blue")).status).toBe(200)
    expect((await post('{"email":"jane@gmail.com","__proto__":{"domain":"x.com"},"constructor":1}')).status).toBe(200)
  })

  test("the last of duplicate members wins", async () => {
    expect((await post('{"email":"jane@gmail.com","email":"jane@mailinator.com"}')).body["category"]).toBe("disposable")
  })

  test("a byte order mark, a charset and a +json media type are accepted", async () => {
    expect(
      (await post(new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode('{"domain":"stripe.com"}')]))).status,
    ).toBe(200)
    expect(
      (await post('{"domain":"stripe.com"}', { headers: { "Content-Type": "Application/JSON; charset=utf-8" } }))
        .status,
    ).toBe(200)
    expect((await post('{"domain":"stripe.com"}', { headers: { "Content-Type": "application/ld+json" } })).status).toBe(
      200,
    )
  })

  test("every policy is taken, and b2b when none is sent", async () => {
    for (const policy of POLICY_NAMES)
      expect((await post({ domain: "stripe.com", policy })).body["policy"]).toBe(policy)
    expect((await post({ domain: "stripe.com" })).body["policy"]).toBe("b2b")
  })

  test("a GET boolean is true, false, 1 or 0", async () => {
    for (const value of ["true", "false", "1", "0"])
      expect((await ask(`GET /v1/check?domain=stripe.com&deep=${value}&workspace=${value}`)).status).toBe(200)
    expect((await ask("GET /v1/check?domain=stripe.com&deep=1")).body["reasons"]).toContain("deep_unavailable")
  })

  test("a caller's own request id is kept when it is well formed, and replaced when it is not", async () => {
    expect((await post({ domain: "a.com" }, { headers: { "X-Request-Id": "my-id_1.2" } })).body["request_id"]).toBe(
      "my-id_1.2",
    )
    for (const id of ["a b", "x".repeat(LIMITS.requestIdLengthMax + 1), "é"]) {
      expect((await post({ domain: "a.com" }, { headers: { "X-Request-Id": id } })).body["request_id"]).toStartWith(
        "req_",
      )
    }
  })

  test("a body on GET is ignored", async () => {
    expect((await ask("GET /v1/check?domain=stripe.com", { headers: { "Content-Length": "3" } })).status).toBe(200)
  })
})

describe("400 invalid_input", () => {
  const refused = async (
    requests: Promise<{ status: number; body: Record<string, unknown>; headers: Headers }>,
    where: object,
  ) => {
    const { status, body, headers } = await requests
    expect({ status, code: body["code"] }).toEqual({ status: 400, code: "invalid_input" })
    expect(headers.get("content-type")).toBe("application/problem+json")
    expect(body["errors"]).toEqual([expect.objectContaining(where)])
  }

  test.each([
    ["no input", {}, "/email"],
    ["two inputs", { email: "jane@gmail.com", domain: "gmail.com" }, "/domain"],
    ["three inputs, one of them empty", { email: "", domain: "gmail.com", url: "x.com/" }, "/domain"],
    ["an empty input", { email: "" }, "/email"],
    ["an input of white space", { domain: " \t\r\n" }, "/domain"],
    ["a control character", { email: "jane\u0007@gmail.com" }, "/email"],
    ["a NUL", { domain: "gmail.com\u0000" }, "/domain"],
    ["a number", { email: 7 }, "/email"],
    ["null", { email: null }, "/email"],
    ["null beside an input", { email: "jane@gmail.com", url: null }, "/url"],
    ["an array", { url: ["https://stripe.com"] }, "/url"],
    ["an unknown policy", { email: "jane@gmail.com", policy: "B2B" }, "/policy"],
    ["a boolean as text", { email: "jane@gmail.com", deep: "true" }, "/deep"],
    ["a local part of 65 octets", { email: `${"a".repeat(65)}@gmail.com` }, "/email"],
    [
      "a local part of 65 octets in 33 letters",
      { email: `${"é".repeat(32)}aa@gmail.com`.replace("aa@", "a@").replace("é", "éa") },
      "/email",
    ],
    [
      "an address of 255 octets",
      { email: `${"a".repeat(64)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.${"e".repeat(3)}.com` },
      "/email",
    ],
    ["a domain of 254 octets", { domain: `${"a.".repeat(125)}acom` }, "/domain"],
    ["a URL of 2049 characters", { url: `https://stripe.com/${"x".repeat(2030)}` }, "/url"],
  ])("%s", async (_, body, pointer) => {
    await refused(post(body), { pointer })
  })

  test.each(["", " ", "{", "nul", '{"email":', '"jane@gmail.com"'.slice(0, 5), "\u0001"])(
    "the body %j is not JSON",
    async body => {
      await refused(post(body), { pointer: "" })
    },
  )

  test.each(["null", "[]", '"jane@gmail.com"', "7", "true"])("the body %j is no object", async body => {
    await refused(post(body), { pointer: "" })
  })

  test("bytes that are not UTF-8 are not JSON, wherever they stand and however many of them are cut off", async () => {
    const bom = [0xef, 0xbb, 0xbf]
    for (const broken of NOT_UTF8)
      for (const start of [[], bom])
        for (const text of [
          '{"email":"ja?ne@gmail.com"}',
          '{"?":1,"email":"jane@gmail.com"}',
          '{"email":"jane@gmail.com"}?',
        ]) {
          const [before = "", after = ""] = text.split("?")
          const body = Buffer.concat([Buffer.from([...start, ...Buffer.from(before), ...broken]), Buffer.from(after)])
          await refused(post(new Uint8Array(body), { headers: { "Content-Length": String(body.length) } }), {
            pointer: "",
          })
          await refused(post(new Response(new Uint8Array(body)).body), { pointer: "" })
        }
  })

  test("escapes of a query that are not UTF-8", async () => {
    for (const broken of NOT_UTF8) {
      const escapes = broken.map(octet => `%${octet.toString(16)}`).join("")
      for (const parameter of ["email", "domain", "url", "policy", "deep"])
        await refused(ask(`GET /v1/check?${parameter}=a${escapes}b`), { parameter })
      await refused(ask(`GET /v1/check?email=jane%40gmail.com&x=${escapes}`), { detail: "The query is not UTF-8." })
      await refused(ask(`GET /v1/check?email=jane%40gmail.com&${escapes}=x`), { detail: "The query is not UTF-8." })
    }
  })

  test("a body nested 30 000 deep is refused or read, and does no harm", async () => {
    const { status } = await post(`{"email":"jane@gmail.com","x":${"[".repeat(30_000)}${"]".repeat(30_000)}}`)
    expect([200, 400]).toContain(status)
  })

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "",
  ])("the media type %j is not JSON", async type => {
    await refused(post('{"email":"jane@gmail.com"}', { headers: { "Content-Type": type } }), { pointer: "" })
  })

  test.each([
    ["email=jane%40gmail.com&email=jane%40gmail.com", "email"],
    ["domain=stripe.com&policy=b2b&policy=b2b", "policy"],
    ["domain=stripe.com&deep=yes", "deep"],
    ["domain=stripe.com&workspace=", "workspace"],
    ["domain=stripe.com&mail=no", "mail"],
    ["domain=stripe.com&policy=", "policy"],
    ["", "email"],
    ["domain=", "domain"],
  ])("the query %j", async (query, parameter) => {
    await refused(ask(`GET /v1/check?${query}`), { parameter })
  })

  test("nothing of the input is repeated in the answer", async () => {
    for (const body of [
      { email: "secret-name\u0000@gmail.com" },
      { email: "secret-name@gmail.com", policy: "secret-name" },
      '{"email":"secret-name',
    ]) {
      expect(JSON.stringify((await post(body)).body)).not.toContain("secret-name")
    }
  })

  test("the far side of every length is refused and the near side is answered", async () => {
    expect((await post({ email: `${"a".repeat(64)}@gmail.com` })).status).toBe(200)
    expect((await post({ domain: `${"a.".repeat(125)}com` })).status).toBe(200)
    for (const character of ["x", "é", "💧"]) {
      const url = (count: number) => ` https://stripe.com/${character.repeat(count - 19)}\u00a0`
      expect((await post({ url: url(2048) })).body["category"]).toBe("business")
      expect((await post({ url: url(2049) })).status).toBe(400)
    }
  })
})

describe("413 payload_too_large", () => {
  const text = (bytes: number): string => `{"domain":"stripe.com","x":"${"y".repeat(bytes - 30)}"}`

  test("the last octet that fits is read and the next is not", async () => {
    expect(text(LIMITS.bodyBytesMax)).toHaveLength(LIMITS.bodyBytesMax)
    expect((await post(text(LIMITS.bodyBytesMax))).status).toBe(200)
    const { status, body } = await post(text(LIMITS.bodyBytesMax + 1))
    expect({ status, code: body["code"] }).toEqual({ status: 413, code: "payload_too_large" })
  })

  test("a body of unknown length is counted while it is read", async () => {
    const stream = (bytes: number) =>
      new ReadableStream({
        start: controller => {
          for (const part of text(bytes).match(/.{1,4096}/gs) ?? []) controller.enqueue(new TextEncoder().encode(part))
          controller.close()
        },
      })
    expect((await post(stream(LIMITS.bodyBytesMax))).status).toBe(200)
    expect((await post(stream(LIMITS.bodyBytesMax + 1))).body["code"]).toBe("payload_too_large")
  })
})
