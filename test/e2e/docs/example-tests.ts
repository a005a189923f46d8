import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import {
  EXAMPLE_TASK_NAMES,
  EXAMPLE_TASKS,
  type ExampleFacts,
  type ExampleTask,
  exampleFile,
  exampleLanguages,
  exampleProgram,
  firstCalls,
} from "../../../src/http/site/docs/examples.ts"
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

/** What each example sends. */
const SENT: Readonly<Record<ExampleTask, { readonly line: string; readonly body: unknown }>> = {
  check: { line: "POST /v1/check", body: { email: "jane@gmail.com", policy: "b2b" } },
  batch: { line: "POST /v1/check/batch", body: { items: ["jane@gmail.com", "stripe.com"], policy: "b2b" } },
  feedback: {
    line: "POST /v1/feedback",
    body: { email: "jane@northwind-paper.com", expected_category: "business", comment: "They sell paper." },
  },
  usage: { line: "GET /v1/usage", body: null },
}

/** What an example tells of a body that a proxy refused: an answer without a problem. */
const PROXY_REFUSED = "A proxy in front of the server refused the body as too large (413)."

/** What an example prints when it has no verdict. Why stands behind it, in its own words. */
const LET_IN = /^allow, unchecked: [\w ]+\n$/

/** The body of an answer to a batch: what every client reads. */
const resultsOf = (sent: string) => ({
  results: JSON.parse(sent).items.map(() => ({
    ...{ category: "personal", recommendation: "review", is_business: false, confidence: 1, reasons: [] },
  })),
})

/** Runs an example against a server, with its own arguments where no others are named. */
const running =
  ({ language, run }: Runner, baseUrl: string, key: string) =>
  (task: ExampleTask, args: readonly string[] = EXAMPLE_TASKS[task].args) =>
    run(exampleFile(task, language), exampleProgram(task, language, factsAt(baseUrl)), args, key)

/** Adds the tests of the examples for each of these ways to run them. */
export function testExamples(runners: readonly Runner[]): void {
  describe.each([...runners])("the examples, by $named,", runner => {
    const { language, isMissing } = runner

    test.skipIf(isMissing)("check at a real server", async () => {
      const server = await serverProcess()
      onTestEnd(server.stop)
      const run = running(runner, server.url, server.firstKey)
      // Nobody outside is asked here: what lists know is right, and the rest is degraded.
      expect(await run("check", ["business@mailkind.test"])).toEqual({ code: 0, out: "allow\n", err: "" })
      const degraded = await run("check", ["jane@northwind-paper.com"])
      expect(degraded).toEqual({ code: 0, out: "review, degraded: check again later\n", err: "" })
      expect((await run("check", ["jane@mailinator.com"])).out).toStartWith("block")
    })

    test.skipIf(isMissing)("get an answer without a key by the first call", async () => {
      const server = await serverProcess()
      onTestEnd(server.stop)
      const call = firstCalls("business@mailkind.test", factsAt(server.url)).find(each => each.language === language)
      const ended = await runner.run(`first.${call?.ending}`, call?.code ?? "", [], "")
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
        const { code, out, err } = await run("check")
        expect([code, out]).toEqual([0, expect.stringMatching(LET_IN)])
        expect(err).toContain(Object(reply.body).code)
      }
      for (const status of [503, 200]) {
        server.say({ status, body: "<h1>The proxy has no server</h1>" })
        const { code, out } = await run("check")
        expect([status, code, out]).toEqual([status, 0, expect.stringMatching(LET_IN)])
      }
      server.stop()
      expect(await run("check")).toMatchObject({ code: 0, out: expect.stringMatching(LET_IN) })
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
      for (const text of ['\\"a\\ b"&\t@mailinator.com', "b@mailinator.com "]) ended.push(await run("check", [text]))
      expect(ended).toMatchObject([
        { code: 0, out: "block\n" },
        { code: 0, out: "block\n", err: expect.stringContaining(PROXY_REFUSED) },
      ])
      const sent = server.requests.map(({ body }) => JSON.parse(body))
      const tab = language === "curl" ? "?" : "\t"
      expect(sent[0]).toEqual({ email: `\\"a\\ b"&${tab}@mailinator.com`, policy: "b2b" })
      server.say({ status: 400, body: about("/policy") })
      expect(await run("check")).toMatchObject({ code: 0, out: expect.stringMatching(LET_IN) })
    })

    test.skipIf(isMissing)(
      "wait for a server that does not answer no longer than they say, and let people in",
      async () => {
        const server = sayingServer()
        server.say(SILENCE)
        // A second, in place of the five that a check's own budget makes of it.
        const text = exampleProgram("check", language, { baseUrl: server.url, checkTimeoutMs: -1000 })
        const ended = await runner.run(exampleFile("check", language), text, EXAMPLE_TASKS.check.args, "svc_live_x")
        expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(LET_IN) })
        expect(server.requests).toHaveLength(1)
      },
    )

    test.skipIf(isMissing)("send the key in its header alone and addresses in the body alone", async () => {
      const server = sayingServer()
      const run = running(runner, server.url, "svc_live_secret")
      const tasks = EXAMPLE_TASK_NAMES.filter(task => exampleLanguages(task).includes(language))
      for (const task of tasks) {
        server.say({ status: 418, body: { code: "none", detail: "Why." } })
        await run(task)
      }
      expect(server.requests.map(({ line }) => line)).toEqual(tasks.map(task => SENT[task].line))
      for (const { authorization, body } of server.requests) {
        expect(authorization).toBe("Bearer svc_live_secret")
        expect(body).not.toContain("svc_live")
      }
      expect(server.requests.map(({ body }) => (body === "" ? null : JSON.parse(body)))).toEqual(
        tasks.map(task => SENT[task].body),
      )
    })
  })

  describe.each(runners.filter(({ language }) => exampleLanguages("batch").includes(language)))(
    "the other examples, by $named,",
    runner => {
      const { language, isMissing } = runner

      test.skipIf(isMissing)("check many at a real server", async () => {
        const server = await serverProcess()
        onTestEnd(server.stop)
        const run = running(runner, server.url, server.firstKey)
        const batch = await run("batch")
        expect(batch.code).toBe(0)
        if (language === "curl") {
          expect(JSON.parse(batch.out).results.map(({ category }: { category: string }) => category)).toEqual([
            ...["personal", "business"],
          ])
        } else expect(batch.out).toBe("jane@gmail.com personal review\nstripe.com business review\n")
      })

      test.skipIf(isMissing || !exampleLanguages("feedback").includes(language))(
        "report and see the usage of a real server",
        async () => {
          const server = await serverProcess()
          onTestEnd(server.stop)
          const run = running(runner, server.url, server.firstKey)
          const feedback = await run("feedback")
          expect(JSON.parse(feedback.out)).toMatchObject({ status: "received", current_category: "unknown" })
          expect(JSON.parse((await run("usage")).out).today).toMatchObject({ used: 1, remaining: null })
        },
      )

      test.skipIf(isMissing)(
        "wait in a job as long as they are told to, and give up where that is too long",
        async () => {
          const server = sayingServer()
          const run = running(runner, server.url, "svc_live_x")
          const refused = (retryAfter: string): Said => ({
            ...{ status: 429, body: { code: "rate_limited", detail: "Why." }, headers: { "Retry-After": retryAfter } },
          })
          server.say(refused("0"), refused("0"), { status: 200, body: resultsOf })
          const waited = await run("batch", ["jane@gmail.com"])
          expect([waited.code, server.requests.length]).toEqual([0, 3])
          expect(waited.out).toContain("personal")
          server.say(refused("86400"))
          const gaveUp = await run("batch", ["jane@gmail.com"])
          expect([gaveUp.code === 0, server.requests.length]).toEqual([false, 4])
          server.say({ status: 400, body: { code: "invalid_input", detail: "Why." } })
          const wrong = await run("batch", ["jane@gmail.com"])
          expect([wrong.code === 0, server.requests.length]).toEqual([false, 5])
          expect(`${wrong.out}${wrong.err}`).toContain("invalid_input")
        },
      )
    },
  )

  describe.each(runners.filter(({ language }) => language !== "curl" && exampleLanguages("batch").includes(language)))(
    "the example of batches, by $named,",
    runner => {
      test.skipIf(runner.isMissing)("splits what is too much for one batch, in order", async () => {
        const server = sayingServer()
        const items = Array.from({ length: LIMITS.batchItemsMax + 1 }, (_, at) => `n${at}.example`)
        server.say({ status: 200, body: resultsOf })
        const { out } = await running(runner, server.url, "svc_live_x")("batch", items)
        expect(
          out
            .trim()
            .split("\n")
            .map(line => line.split(" ")[0] ?? ""),
        ).toEqual(items)
        const sizes = server.requests.map(({ body }) => JSON.parse(body).items.length)
        expect(sizes.sort((a, b) => b - a)).toEqual([LIMITS.batchItemsMax, 1])
      })
    },
  )
}
