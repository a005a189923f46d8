import { expect, test } from "bun:test"
import { brotliDecompressSync } from "node:zlib"
import { ROUTES } from "../../../../src/contract/routes.ts"
import {
  FORM_SCRIPT,
  FORM_SCRIPT_INTEGRITY,
  FORM_SCRIPT_OPTIONS,
  FORM_SCRIPT_VERSION_PATH,
  FORM_SCRIPT_WORDS,
  formScriptTag,
  pinnedFormScriptTag,
} from "../../../../src/http/site/form-script.ts"
import { BASE_URL, openSite } from "../../../support/open-site.ts"

const ask = openSite()
const script = FORM_SCRIPT.toString()
const BYTES_MAX = 5_300

test.each([
  ["br, gzip", "br"],
  ["gzip, deflate", "gzip"],
  ["br;q=0, gzip", "gzip"],
])("for %s the form script has at most 5 300 bytes as it is sent", async (accepted, coding) => {
  const response = await ask(ROUTES.formScript.path, { "accept-encoding": accepted })
  expect(response.headers.get("content-encoding")).toBe(coding)
  const bytes = await response.bytes()
  expect(bytes.length).toBeLessThanOrEqual(BYTES_MAX)
  const text = coding === "br" ? brotliDecompressSync(bytes) : Bun.gunzipSync(bytes)
  expect(Buffer.from(text).toString()).toBe(script)
})

test("the form script is sent without comments but its first line", () => {
  expect(script.match(/\/\*|^\s*(?:\/\/|\*)/gm)).toHaveLength(1)
})

test("every website may load the form script, and caches ask again after an hour", async () => {
  const { headers } = await ask(ROUTES.formScript.path)
  expect(Object.fromEntries(headers)).toMatchObject({
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
    "x-content-type-options": "nosniff",
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=3600, stale-while-revalidate=86400, stale-if-error=604800",
    vary: "Accept-Encoding",
  })
  expect(headers.get("set-cookie")).toBeNull()
})

test("a cache that has the form script gets no second copy", async () => {
  const etag = (await ask(ROUTES.formScript.path)).headers.get("etag") ?? ""
  for (const known of [etag, `"other", ${etag}`, etag.replace("W/", ""), "*"]) {
    const response = await ask(ROUTES.formScript.path, { "if-none-match": known, "accept-encoding": "gzip" })
    expect({ known, status: response.status, body: await response.text() }).toEqual({ known, status: 304, body: "" })
    expect(response.headers.get("etag")).toBe(etag)
    expect(response.headers.get("access-control-allow-origin")).toBe("*")
    expect(response.headers.get("content-encoding")).toBeNull()
  }
  expect((await ask(ROUTES.formScript.path, { "if-none-match": '"other"' })).status).toBe(200)
})

test("the path of a version is kept for good, and no other version is there", async () => {
  const response = await ask(FORM_SCRIPT_VERSION_PATH)
  expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
  expect(response.headers.get("access-control-allow-origin")).toBe("*")
  expect(await response.text()).toBe(script)
  expect((await ask("/form/0000000000000000.js")).status).toBe(404)
})

test("the integrity in the tag is that of the file", async () => {
  const file = await (await ask(FORM_SCRIPT_VERSION_PATH)).bytes()
  const digest = new Bun.CryptoHasher("sha384").update(file).digest("base64")
  expect(FORM_SCRIPT_INTEGRITY).toBe(`sha384-${digest}`)
  expect(pinnedFormScriptTag(BASE_URL, "svc_pub_x")).toContain(`integrity="sha384-${digest}"`)
  expect(formScriptTag(BASE_URL, "svc_pub_x")).toBe(
    `<script src="${BASE_URL}/form.js" data-key="svc_pub_x" defer></script>`,
  )
})

test.each(FORM_SCRIPT_WORDS)("the script and the guide have the same words for $name", ({ name, default: words }) => {
  expect(script).toContain(`${name}:"${words}"`)
})

test.each(FORM_SCRIPT_OPTIONS)("the script and the guide have the same default of data-$name", row => {
  const value = /^[\d]+$/.test(row.default) ? row.default : JSON.stringify(row.default)
  if (!["policy", "server"].includes(row.name)) expect(script).toContain(`${row.name}:${value},`)
})
