import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { ROUTES } from "../../../src/contract/routes.ts"
import { type ServerProcess, serverProcess } from "../../contract/server-process.ts"
import { bounded } from "../../support/bounded.ts"
import { freePort } from "../../support/free-port.ts"
import { createBrowser } from "../../support/html-browser.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { until } from "../../support/until.ts"
import { answerTo, askPlain, HOST, missingFor, PROXY_NAMES, type RunningProxy, startProxy } from "./proxies.ts"

setDefaultTimeout(180_000)

const BASE_URL = `https://${HOST}`
const LIST_BYTES_MAX = 3_000_000
/** More than the system and a proxy hold between them. */
const FAR_TOO_MANY_BYTES = 30_000_000

/** A list of so many bytes, with an address in each row. */
const listOf = (bytes: number): Buffer => Buffer.alloc(bytes, "jane@acme-widgets.com\n")

for (const name of PROXY_NAMES) {
  const missing = missingFor(name)
  const skipped = missing.length === 0 ? "" : ` (skipped: ${missing.join(" and ")} is not installed)`
  const proxied = (promise: string, run: (part: Awaited<ReturnType<typeof behind>>) => Promise<void>) =>
    test.skipIf(missing.length > 0)(`${promise}${skipped}`, async () => await run(await behind()))

  /** A server behind the proxy as the sample has it. */
  const behind = async () => {
    const metrics = `127.0.0.1:${freePort()}`
    const server = await serverProcess({
      MAILKIND_BASE_URL: BASE_URL,
      MAILKIND_TRUSTED_PROXIES: "127.0.0.1",
      MAILKIND_METRICS: metrics,
      MAILKIND_JOB_BYTES_MAX: String(LIST_BYTES_MAX),
    })
    onTestEnd(server.stop)
    const proxy = await startProxy(name, new URL(server.url).host)
    return { server, proxy, metrics }
  }

  describe(`a server behind ${name} by the sample`, () => {
    proxied("is reached over HTTPS alone, and has no metrics there", async ({ proxy, metrics }) => {
      const plain = await askPlain(proxy.httpPort, "/docs?q=1")
      expect([plain.status, plain.headers.location?.replace(/:\d+\//, "/")]).toEqual([308, `${BASE_URL}/docs?q=1`])
      expect((await proxy.ask("GET /")).headers["strict-transport-security"]).toBeString()
      expect((await askLoopback(`http://${metrics}/metrics`)).body).toContain("mailkind_")
      const published = await proxy.ask("GET /metrics")
      expect([published.status, published.body.includes("mailkind_")]).toEqual([404, false])
    })

    proxied("takes forms from its own pages, signs people in, and refuses forms of others", async part => {
      const foreign = { Origin: "https://other.example", "Content-Type": "application/x-www-form-urlencoded" }
      const sent = { headers: foreign, body: "email=jane%40acme-widgets.com" }
      expect((await part.proxy.ask(`POST ${ROUTES.signIn.path}`, sent)).status).toBe(403)
      const { browser } = await signedIn(part)
      expect((await browser.get(ROUTES.dashboard.path)).status).toBe(200)
    })

    proxied("sees the address of the client, and not what the client says", async ({ server, proxy }) => {
      await server.run("account", "create", "jane@acme-widgets.com", "--tier", "4")
      const owner = ["--account", "jane@acme-widgets.com", "--network", "127.0.0.2/32"]
      const { key } = (await server.run("key", "create", ...owner)) as { key: string }
      const statusFrom = async (from: string, headers: Readonly<Record<string, string>>): Promise<number> => {
        const sent = { from, headers: { Authorization: `Bearer ${key}`, ...headers } }
        return (await proxy.ask("GET /v1/usage", sent)).status
      }
      expect(await statusFrom("127.0.0.2", {})).toBe(200)
      for (const claimed of ["127.0.0.2", "127.0.0.2, 127.0.0.1", "127.0.0.1, 127.0.0.2"]) {
        // The first is an address that the server trusts.
        for (const from of ["127.0.0.1", "127.0.0.3"])
          expect([from, claimed, await statusFrom(from, { "X-Forwarded-For": claimed })]).toEqual([from, claimed, 403])
        expect(await statusFrom("127.0.0.2", { "X-Forwarded-For": claimed.replaceAll("127.0.0.2", "9.9.9.9") })).toBe(
          200,
        )
      }
    })

    proxied(
      "takes bodies and lists up to its own bounds, and says itself which are larger",
      async ({ server, proxy }) => {
        const headers = { Authorization: `Bearer ${server.firstKey}`, "Content-Type": "application/json" }
        const batch = (bytes: number): string => `${JSON.stringify({ items: ["gmail.com"] }).padEnd(bytes)}`
        const told = async (line: string, type: string, body: string | Buffer) => {
          for (;;) {
            const answer = await proxy.ask(line, { headers: { ...headers, "Content-Type": type }, body })
            const { code } = JSON.parse(answer.body)
            // A busy machine may have no room for a batch yet.
            if (code !== "overloaded") return { status: answer.status, type: answer.headers["content-type"], code }
          }
        }
        const refused = { status: 413, type: "application/problem+json", code: "payload_too_large" }
        const fits = { type: "application/json", code: undefined }
        const most = LIMITS.batchBodyBytesMax
        expect(await told("POST /v1/check/batch", "application/json", batch(most))).toMatchObject({
          status: 200,
          ...fits,
        })
        expect(await told("POST /v1/check/batch", "application/json", batch(most + 1))).toMatchObject(refused)
        expect(await told("POST /v1/jobs", "text/csv", listOf(LIST_BYTES_MAX))).toMatchObject({ status: 202, ...fits })
        // One that is refused before its end leaves its connection to the server in the midst of a body: the next request takes another.
        for (const bytes of [LIST_BYTES_MAX + 1, ...Array<number>(6).fill(FAR_TOO_MANY_BYTES)])
          expect(await told("POST /v1/jobs", "text/csv", listOf(bytes))).toMatchObject(refused)
      },
    )

    proxied("gets a list while it is still being sent", async ({ server, proxy }) => {
      const headers = { Authorization: `Bearer ${server.firstKey}`, "Content-Type": "text/csv" }
      const upload = proxy.open("POST /v1/jobs", { headers: { ...headers, "Transfer-Encoding": "chunked" } })
      const answer = answerTo(upload)
      upload.write(listOf(LIST_BYTES_MAX / 3))
      await until(
        async () => {
          const { body } = await server.ask("GET /v1/jobs", { key: server.firstKey })
          return JSON.stringify(body).includes('"receiving"')
        },
        () => "the server knows of no list that is being sent",
      )
      upload.end(listOf(LIST_BYTES_MAX / 3))
      expect((await bounded(answer, () => "the upload had no answer")).status).toBe(202)
    })

    proxied("sends each event of a list when it happens", async part => {
      const { browser, email } = await signedIn(part)
      const made = (await part.server.run("key", "create", "--account", email)) as { key: string }
      const headers = { Authorization: `Bearer ${made.key}`, "Content-Type": "text/csv" }
      // More rows than the account has units, so that the list waits for the next day.
      const rows = Array.from({ length: 1_100 }, (_, at) => `jane@acme${at}.com\n`).join("")
      const { id } = JSON.parse((await part.proxy.ask("POST /v1/jobs", { headers, body: rows })).body)
      const cookie = [...browser.cookies].map(([own, value]) => `${own}=${value}`).join("; ")
      const stream = part.proxy.open(`GET /dashboard/jobs/${id}/progress`, { headers: { Cookie: cookie } })
      let got = ""
      stream.on("response", answer =>
        answer.on("data", text => {
          got += text
        }),
      )
      const ended = answerTo(stream)
      stream.end()
      await until(
        () => /^data: /m.test(got),
        () => `the stream has sent ${got}`,
      )
      expect(got).not.toContain("event: end")
      await part.proxy.ask(`DELETE /v1/jobs/${id}`, { headers: { Authorization: `Bearer ${made.key}` } })
      const { headers: told, body } = await bounded(ended, () => `the stream has sent ${got} and did not end`)
      expect(told["content-type"]).toStartWith("text/event-stream")
      expect(body).toContain("event: end")
    })

    proxied("leaves no address in what the proxy writes, also when the server is gone", async ({ server, proxy }) => {
      const headers = { Authorization: `Bearer ${server.firstKey}` }
      const path = "GET /v1/check?email=jane%40acme-widgets.com"
      expect((await proxy.ask(path, { headers })).status).toBe(200)
      await server.stop()
      expect((await proxy.ask(path, { headers })).status).toBeGreaterThanOrEqual(502)
      expect(proxy.written()).not.toContain("acme-widgets")
    })
  })
}

/** A browser that has signed in through the proxy, by the code that the server wrote to its log. */
async function signedIn({ server, proxy }: { readonly server: ServerProcess; readonly proxy: RunningProxy }) {
  const email = "jane@acme-widgets.com"
  const app = async (asked: Request): Promise<Response> => {
    const { pathname, search } = new URL(asked.url)
    const { status, headers, body } = await proxy.ask(`${asked.method} ${pathname}${search}`, {
      headers: Object.fromEntries(asked.headers),
      ...(asked.method === "POST" ? { body: await asked.text() } : {}),
    })
    const all = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    )
    return new Response(body, { status, headers: all })
  }
  const browser = createBrowser(app, { origin: BASE_URL, followsRedirects: true })
  const codeForm = await browser.submit(await browser.get(ROUTES.signIn.path), { email })
  const log = await server.logged(/"code":"?\d{6}/)
  await browser.submit(codeForm, { code: /"code":"?(\d{6})/.exec(log)?.[1] ?? "" })
  return { browser, email }
}
