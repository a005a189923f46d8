import { expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { BROWSER_TEST_MS, IN_A_BROWSER, isBrowserMissing, openBrowser, STEP_MS } from "../browser/browser.ts"
import { freshDirectory, packedIn, report } from "./packed-package.ts"

setDefaultTimeout(BROWSER_TEST_MS)

const Made = Type.Object({ key: Type.String() })

/** A website with the module of the package, as a bundler or a copy would serve it. */
function website(module: string): string {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      url.endsWith(".js")
        ? new Response(Bun.file(module), { headers: { "Content-Type": "text/javascript" } })
        : new Response("<!doctype html><title>page</title>", { headers: { "Content-Type": "text/html" } }),
  })
  onTestEnd(() => server.stop(true))
  return `http://127.0.0.1:${server.port}`
}

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the packed client gets reduced results in a page of an allowed origin, and leaves checks unchecked in others`,
  async () => {
    const directory = freshDirectory()
    await packedIn(directory)
    const module = join(directory, "mailkind-client/mailkind-client.js")
    const [allowed, stranger] = [website(module), website(module)]
    const [browser, { url, run, stop }] = await Promise.all([openBrowser(), serverProcess()])
    onTestEnd(stop)
    await run("account", "create", "page@example.com", "--tier", "0")
    const made = await run("key", "create", "--account", "page@example.com", "--publishable", "--origin", allowed)
    const { key } = Value.Decode(Made, made)

    /** What the program gives in a page of the origin; `client` is that of the server. */
    const inPage = async (origin: string, server: string, program: string): Promise<unknown> => {
      const page = await browser.newPage()
      await page.goto(`${origin}/`, { timeout: STEP_MS })
      const options = JSON.stringify({ url: server, publishableKey: key })
      const got: unknown = await page.evaluate(`(async () => {
        const { createMailkind } = await import("/mailkind-client.js")
        const client = createMailkind(${options})
        ${program}
      })()`)
      await page.close()
      return got
    }
    const check = `return await client.checkEmail("jane@gmial.com")`
    const got = await inPage(allowed, url, check)
    report("page", JSON.stringify(got))
    expect(got).toMatchObject({ outcome: "checked", result: { did_you_mean: "gmail.com" } })
    expect(Object.keys((got as { result: object }).result)).not.toContain("mail") // a checked outcome has a result
    expect(await inPage(stranger, url, check)).toMatchObject({ outcome: "unchecked", because: "unreachable" })
    const dead = website(module)
    expect(await inPage(allowed, dead.replace(/\d+$/, "1"), check)).toMatchObject({ because: "unreachable" })
    const secret = `try { createMailkind({ url: ${JSON.stringify(url)}, key: "svc_live_x" }) } catch (error) { return String(error) }`
    expect(await inPage(allowed, url, secret)).toContain("publishableKey")
  },
)
