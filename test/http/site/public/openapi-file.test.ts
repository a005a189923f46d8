import { expect, test } from "bun:test"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { WHEEL_NAME } from "../../../../src/http/site/docs/python-wheel.ts"
import { testApp } from "../../../support/app.ts"

const { app } = await testApp()
const get = async (headers: Record<string, string> = {}): Promise<Response> =>
  await app(new Request(`http://localhost${ROUTES.openapi.path}`, { headers }))

test("the OpenAPI document has an entity tag, and a client that has the document gets 304 without a body", async () => {
  const first = await get()
  const tag = first.headers.get("etag") ?? ""
  expect([first.status, tag]).toEqual([200, expect.stringMatching(/^W\/"[\w-]{16}"$/)])
  expect(first.headers.get("cache-control")).toBe("no-cache")
  for (const sent of [tag, tag.replace("W/", ""), `"other", ${tag}`, "*"]) {
    const again = await get({ "If-None-Match": sent })
    expect([sent, again.status, await again.text(), again.headers.get("etag")]).toEqual([sent, 304, "", tag])
  }
  for (const sent of ["", '"other"', `W/"${"x".repeat(16)}"`])
    expect([sent, (await get({ "If-None-Match": sent })).status]).toEqual([sent, 200])
})

test("the OpenAPI document is compressed on request, and is the same", async () => {
  const plain = await get()
  const packed = await get({ "Accept-Encoding": "gzip, deflate, br" })
  expect([plain.headers.get("content-encoding"), packed.headers.get("content-encoding")]).toEqual([null, "gzip"])
  for (const { headers } of [plain, packed]) {
    expect(headers.get("vary")).toContain("Accept-Encoding")
    expect(headers.get("content-type")).toBe("application/json")
  }
  const bytes = await packed.bytes()
  expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toBe(await plain.text())
})

test("the Python client is sent as a file that names this server, compressed on request, with an entity tag", async () => {
  const fetched = async (headers: Record<string, string> = {}) =>
    await app(new Request(`http://localhost${ROUTES.pythonClient.path}`, { headers }))
  const plain = await fetched()
  expect([plain.status, plain.headers.get("content-type")]).toEqual([200, "text/x-python; charset=utf-8"])
  const text = await plain.text()
  expect(text).toMatch(/^SERVER_URL = "http:\/\/localhost(?::\d+)?"$/m)
  expect(text).toContain("class Mailkind:")
  const packed = await fetched({ "Accept-Encoding": "gzip" })
  expect(new TextDecoder().decode(Bun.gunzipSync(await packed.bytes()))).toBe(text)
  expect((await fetched({ "If-None-Match": plain.headers.get("etag") ?? "" })).status).toBe(304)
})

test("the packages of the clients are sent byte for byte with a strong entity tag, and a wheel of another version is not there", async () => {
  const fetched = async (path: string, headers: Record<string, string> = {}) =>
    await app(new Request(`http://localhost${path}`, { headers }))
  for (const path of [ROUTES.clientPackage.path, `/docs/clients/${WHEEL_NAME}`]) {
    const whole = await fetched(path, { "Accept-Encoding": "gzip" })
    const tag = whole.headers.get("etag") ?? ""
    expect([path, whole.status, whole.headers.get("content-encoding")]).toEqual([path, 200, null])
    expect(tag).toMatch(/^"[\w-]{16}"$/)
    expect((await fetched(path, { "If-None-Match": tag })).status).toBe(304)
  }
  expect((await fetched("/docs/clients/mailkind-0.9.0-py3-none-any.whl")).status).toBe(404)
})
