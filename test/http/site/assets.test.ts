import { expect, test } from "bun:test"
import { attributesIn, openSite, REFERENCE_SCRIPT } from "../../support/open-site.ts"

const ask = openSite()

/** The path of the API reference's script. */
const scriptPath = async (from = ask): Promise<string> =>
  attributesIn(await (await from("/docs/api/get-check")).text(), "src").find(path => path.includes("/reference-")) ?? ""

test("a file is kept for good, since its path names its content", async () => {
  const { headers } = await ask(await scriptPath())
  expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
  expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8")
  expect(headers.get("x-content-type-options")).toBe("nosniff")
  expect(headers.get("vary")).toBe("Accept-Encoding")
  const other = openSite({ asset: () => new Blob(["changed"]) })
  expect(await scriptPath(other)).not.toBe(await scriptPath())
})

test.each(["gzip", "br, gzip;q=0.5", "GZIP ; q=1.0"])("a file is compressed for %s", async accepted => {
  const response = await ask(await scriptPath(), { "accept-encoding": accepted })
  expect(response.headers.get("content-encoding")).toBe("gzip")
  expect(Buffer.from(Bun.gunzipSync(await response.bytes())).toString()).toBe(REFERENCE_SCRIPT)
})

test.each(["", "identity", "br", "gzip;q=0", "gzip;q=0.000", "x-gzippy"])(
  "a file is sent as it is for %p",
  async accepted => {
    const response = await ask(await scriptPath(), { "accept-encoding": accepted })
    expect(response.headers.get("content-encoding")).toBeNull()
    expect(await response.text()).toBe(REFERENCE_SCRIPT)
  },
)

test.each([
  ["gzip", "gzip"],
  ["identity", null],
])("a file that the executable holds compressed is the same for %s", async (accepted, encoding) => {
  const compressed = new Blob([Bun.gzipSync(REFERENCE_SCRIPT)], { type: "application/gzip" })
  const own = openSite({ asset: () => compressed })
  const response = await own(await scriptPath(own), { "accept-encoding": accepted })
  expect([response.headers.get("content-encoding"), response.headers.get("content-type")]).toEqual([
    encoding,
    "text/javascript; charset=utf-8",
  ])
  const bytes = await response.bytes()
  expect(Buffer.from(encoding === null ? bytes : Bun.gunzipSync(bytes)).toString()).toBe(REFERENCE_SCRIPT)
})

test("a script's path works before any page was asked for", async () => {
  expect((await openSite()(await scriptPath())).status).toBe(200)
})

test.each(["nothing.css", "site-0000000000000000.css", "%2e%2e%2fjson", "reference.js"])(
  "%s is not found",
  async name => {
    const response = await ask(`/docs/assets/${name}`)
    expect(response.status).toBe(404)
    expect(response.headers.get("content-type")).toBe("application/problem+json")
  },
)
