import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { askLoopback } from "../../support/loopback.ts"
import { alone, build, serving } from "./executable.ts"

setDefaultTimeout(180_000)

let own: ReturnType<typeof alone>
beforeAll(async () => {
  await build()
  own = alone()
})
afterAll(() => own.remove())

const PORT = { MAILKIND_PORT: "0" }
const JSON_BODY = { "Content-Type": "application/json" }

describe("the executable, alone in an empty directory", () => {
  test("checks what the README shows, and leaves nothing behind", async () => {
    const inputs = [
      "jane@gmail.com",
      "jane@mailinator.com",
      "x@duck.com",
      "x@mit.edu",
      "x@nasa.gov",
      "x@uw.edu.pl",
      "gmial.com",
      "paypa1.com",
      "http://www.stripe.com/pricing",
    ]
    const { out, code } = await own.run(["check", "--json", ...inputs])
    const results: { category: string; did_you_mean: string | null; is_lookalike: boolean; domain: string }[] =
      JSON.parse(out)
    expect(code).toBe(0)
    expect(results.map(({ category, did_you_mean, is_lookalike }) => [category, did_you_mean, is_lookalike])).toEqual([
      ["personal", null, false],
      ["disposable", null, false],
      ["relay", null, false],
      ["education", null, false],
      ["government", null, false],
      ["education", null, false],
      ["disposable", "gmail.com", false],
      ["unknown", null, true],
      ["business", null, false],
    ])
    expect(results.at(-1)?.domain).toBe("stripe.com")
    expect(readdirSync(own.directory)).toEqual(["mailkind"])
  })

  test("the first start prints an address, a key and a line for curl, and each works", async () => {
    const child = own.start(["serve"], PORT)
    const { url, printed } = await serving(child, /curl [^\n]*\n/)
    const key = /svc_live_[0-9A-Za-z]{38}/.exec(printed)?.[0] ?? ""
    expect(await askLoopback(`${url}/v1/health`)).toMatchObject({ status: 200 })
    const posted = await askLoopback(`${url}/v1/check`, {
      method: "POST",
      headers: { ...JSON_BODY, Authorization: `Bearer ${key}` },
      body: '{"email":"jane@gmail.com"}',
    })
    expect(JSON.parse(posted.body)).toMatchObject({ category: "personal" })
    const line = /curl [^\n]*/.exec(printed)?.[0] ?? ""
    // Where there is no curl the line cannot be pasted; its parts were asked above.
    if (Bun.which("curl") !== null) {
      const pasted = await new Response(
        Bun.spawn(["sh", "-c", line], { env: { PATH: process.env["PATH"] ?? "" } }).stdout,
      ).text()
      expect(JSON.parse(pasted)).toMatchObject({ category: "personal" })
    }
    expect(statSync(join(own.directory, "mailkind-data")).mode & 0o777).toBe(0o700)
    expect(await child.stop()).toMatchObject({ code: 0 })
  })
})
