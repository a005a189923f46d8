import { describe, expect, setDefaultTimeout, test } from "bun:test"
import {
  checkPrograms,
  EXAMPLE_LANGUAGES,
  type ExampleFacts,
  type ExampleLanguage,
} from "../../../src/http/site/docs/examples.ts"
import { requestSample } from "../../../src/http/site/reference/request-samples.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import type { Runner } from "./languages.ts"

setDefaultTimeout(180_000)

/** What is answered to one request: a body that is no text is JSON, and a function makes it of the request's. */
type Said = {
  readonly status: number
  readonly body: unknown | ((sent: string) => unknown)
  readonly headers?: Readonly<Record<string, string>>
}

/** What one request held. */
type ApiResponse = { readonly line: string; readonly authorization: string | null; readonly body: string }

/** What is never answered: the asker goes first. */
const SILENCE: Said = { status: 0, body: "" }

/** A server on loopback that says what it is told to, in turn, and the last again; it ends with the test. */
function sayingServer() {
  const requests: ApiResponse[] = []
  let next: Said[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async request => {
      const { pathname, search } = new URL(request.url)
      const authorization = request.headers.get("authorization")
      const sent = await request.text()
      requests.push({ line: `${request.method} ${pathname}${search}`, authorization, body: sent })
      const [reply = { status: 500, body: "" }] = next
      if (next.length > 1) next = next.slice(1)
      if (reply === SILENCE) return await new Promise<never>(() => undefined)
      const { status, headers = {} } = reply
      const body = typeof reply.body === "function" ? reply.body(sent) : reply.body
      return typeof body === "string"
        ? new Response(body, { status, headers })
        : Response.json(body, { status, headers })
    },
  })
  onTestEnd(() => server.stop(true))
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    say: (...reply: readonly Said[]): void => {
      next = [...reply]
    },
    stop: () => server.stop(true),
  }
}

const factsAt = (baseUrl: string): ExampleFacts => ({ baseUrl, checkTimeoutMs: 3000 })

/** What an example tells of a body that a proxy refused: an answer without a problem. */
const PROXY_REFUSED = "A proxy in front of the server refused the body as too large (413)."

/** What an example prints when it has no verdict. Why stands behind it, in its own words. */
const LET_IN = /^allow, unchecked: [\w ]+\n$/

/** The program of a language that checks an address. */
function programOf(language: ExampleLanguage, facts: ExampleFacts) {
  const program = checkPrograms(facts).find(each => each.language === language)
  if (program === undefined) throw new Error(`there is no program in ${language}`)
  return program
}

/** Runs the program of a language against a server. */
const running =
  ({ language, run }: Runner, baseUrl: string, key: string) =>
  (address = "jane@gmail.com") => {
    const { file, code } = programOf(language, factsAt(baseUrl))
    return run(file, code, [address], key)
  }

/** Adds the tests of the examples for each of these ways to run them. */
export function testExamples(runners: readonly Runner[]): void {
  describe.each([...runners])("the examples, by $named,", runner => {
    const { language, isMissing } = runner

    test.skipIf(isMissing)("check at a real server", async () => {
      const server = await serverProcess()
      onTestEnd(server.stop)
      const run = running(runner, server.url, server.firstKey)
      // Nobody outside is asked here: what lists know is right, and the rest is degraded.
      expect(await run("business@mailkind.test")).toEqual({ code: 0, out: "allow\n", err: "" })
      const degraded = await run("jane@northwind-paper.com")
      expect(degraded).toEqual({ code: 0, out: "review, degraded: check again later\n", err: "" })
      expect((await run("jane@mailinator.com")).out).toStartWith("block")
    })

    test.skipIf(isMissing)("get an answer without a key by the first call", async () => {
      const server = await serverProcess()
      onTestEnd(server.stop)
      const code = requestSample(language, {
        ...{ method: "POST", url: `${server.url}/v1/check`, needsKey: false, isAnswerJson: true },
        body: { json: { email: "business@mailkind.test" } },
      })
      const ended = await runner.run(`first.${EXAMPLE_LANGUAGES[language].ending}`, code, [], "")
      expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(/business.*allow/s), err: "" })
    })

    test.skipIf(isMissing)("let people in whenever a check fails, and log the problem when there is one", async () => {
      const problem = (status: number, code: string): Said => ({ status, body: { code, detail: "Why." } })
      const server = sayingServer()
      const run = running(runner, server.url, "svc_live_wrong")
      for (const reply of [
        problem(429, "rate_limited"),
        problem(429, "quota_exceeded"),
        problem(500, "internal_error"),
        problem(401, "key_revoked"),
        problem(403, "forbidden_network"),
        problem(400, "invalid_input"),
      ]) {
        server.say(reply)
        const { code, out, err } = await run()
        expect([code, out]).toEqual([0, expect.stringMatching(LET_IN)])
        expect(err).toContain(Object(reply.body).code)
      }
      for (const status of [503, 200]) {
        server.say({ status, body: "<h1>The proxy has no server</h1>" })
        const { code, out } = await run()
        expect([status, code, out]).toEqual([status, 0, expect.stringMatching(LET_IN)])
      }
      server.stop()
      expect(await run()).toMatchObject({ code: 0, out: expect.stringMatching(LET_IN) })
    })

    test.skipIf(isMissing)("refuse what the server does not read as an address, and send any text as one", async () => {
      const server = sayingServer()
      const run = running(runner, server.url, "svc_live_x")
      const about = (pointer: string) => ({
        code: "invalid_input",
        detail: "Why.",
        errors: [{ pointer, detail: "Why." }],
      })
      server.say({ status: 400, body: about("/email") }, { status: 413, body: "<h1>Too large</h1>" })
      const ended: unknown[] = []
      for (const text of ['\\"a\\ b"&\t@mailinator.com', "b@mailinator.com "]) ended.push(await run(text))
      expect(ended).toMatchObject([
        { code: 0, out: "block\n" },
        { code: 0, out: "block\n", err: expect.stringContaining(PROXY_REFUSED) },
      ])
      const sent = server.requests.map(({ body }) => JSON.parse(body))
      const tab = language === "curl" ? "?" : "\t"
      expect(sent[0]).toEqual({ email: `\\"a\\ b"&${tab}@mailinator.com`, policy: "b2b" })
      server.say({ status: 400, body: about("/policy") })
      expect(await run()).toMatchObject({ code: 0, out: expect.stringMatching(LET_IN) })
    })

    test.skipIf(isMissing)(
      "wait for a server that does not answer no longer than they say, and let people in",
      async () => {
        const server = sayingServer()
        server.say(SILENCE)
        // A second, in place of the five that a check's own budget makes of it.
        const { file, code } = programOf(language, { baseUrl: server.url, checkTimeoutMs: -1000 })
        const ended = await runner.run(file, code, ["jane@gmail.com"], "svc_live_x")
        expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(LET_IN) })
        expect(server.requests).toHaveLength(1)
      },
    )

    test.skipIf(isMissing)("send the key in its header alone and addresses in the body alone", async () => {
      const server = sayingServer()
      const run = running(runner, server.url, "svc_live_secret")
      server.say({ status: 418, body: { code: "none", detail: "Why." } })
      await run()
      expect(server.requests).toEqual([
        {
          line: "POST /v1/check",
          authorization: "Bearer svc_live_secret",
          body: expect.not.stringContaining("svc_live"),
        },
      ])
      expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({ email: "jane@gmail.com", policy: "b2b" })
    })
  })
}
