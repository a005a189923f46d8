import { describe, expect, test } from "bun:test"
import { createClient } from "../../src/client/client.ts"
import { JobError, type MailkindJob } from "../../src/client/jobs.ts"
import type { Reply } from "../../src/client/outcome.ts"
import { testApp } from "../support/app.ts"
import { type FaultReply, faultServer, problemOf, says } from "./fault-server.ts"
import { CUT_RESULTS, cutResults, jobReply } from "./job-replies.ts"
import { loopbackPlatform } from "./loopback-platform.ts"

const KEY = "svc_live_secretsecretsecretsecretsecretse"
const TIMEOUT_MS = 999_999
const LIST = "id,email\n1,jane@gmail.com\n2,x@mailinator.com\n3,nothing\n"

async function clientOf(replies: readonly FaultReply[], retries = 0) {
  const server = await faultServer(...replies)
  const fake = loopbackPlatform()
  const client = createClient({ url: server.url, key: KEY, timeoutMs: TIMEOUT_MS, retries }, fake.platform)
  return { client, server, ...fake }
}

function made(reply: Reply<MailkindJob>): MailkindJob {
  if (reply.outcome === "unanswered") throw new Error(reply.message)
  return reply.result
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString()
}

/** A client of a real server in this process. */
async function clientOfApp() {
  const harness = await testApp({ tier: 1 })
  const { platform } = loopbackPlatform()
  const client = createClient(
    { url: "http://localhost", key: harness.key, timeoutMs: TIMEOUT_MS },
    { ...platform, fetch: async (url, init) => await harness.app(new Request(url, init)) },
  )
  const checkAll = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await harness.jobs.look()
      while (harness.jobs.runningCount > 0) {
        await Bun.sleep(0)
        await harness.time.tick(1)
      }
    }
  }
  return { ...harness, client, checkAll }
}

describe("a list at a real server", () => {
  for (const [kind, file] of Object.entries({
    "a text": LIST,
    bytes: new TextEncoder().encode(LIST),
    "a file": new File([LIST], "people.csv"),
    "a stream": new Blob([LIST]).stream(),
  }))
    test(`is uploaded as ${kind}, watched, downloaded and deleted`, async () => {
      const { client, checkAll } = await clientOfApp()
      const list = made(await client.jobs.create(file, { format: "csv", name: "People", policy: "strict" }))
      expect(list.body).toMatchObject({ state: "queued", name: "People", policy: "strict", rows: { total: 3 } })
      await checkAll()
      const states: string[] = []
      for await (const { state, rows } of list.progress()) states.push(`${state} ${rows.done}`)
      expect(states).toEqual(["done 3"])
      const all = await textOf(list.results())
      expect(all.split("\n").slice(0, 2).join()).toStartWith("id,email,category")
      expect(all.trim().split("\n")).toHaveLength(4)
      expect((await textOf(list.results({ only: ["allow"] }))).trim().split("\n").length).toBeLessThan(4)
      expect(await textOf(list.results({ from: 10 }))).toBe(all.slice(10))
      expect(await textOf(list.results({ from: all.length }))).toBe("")
      expect(await client.jobs.list()).toMatchObject({ outcome: "answered", result: [{ id: list.id, state: "done" }] })
      expect(await list.delete()).toMatchObject({ outcome: "answered", result: null })
      expect(await client.jobs.get(list.id)).toMatchObject({ outcome: "unanswered", problem: { code: "not_found" } })
    })

  test("is read as it is asked to be, and its results are for a spreadsheet if they are", async () => {
    const { client, checkAll } = await clientOfApp()
    const bytes = Buffer.from("Report\nJ\u00fcrgen;=1+1;jane@gmail.com\n", "latin1")
    const how = { delimiter: ";", skip: 1, header: false, encoding: "windows-1252", column: "3", force: true }
    const list = made(await client.jobs.create(bytes, how))
    await checkAll()
    const all = await textOf(list.results({ format: "excel" }))
    expect(all).toStartWith("\ufeffReport\nJ\u00fcrgen;'=1+1;jane@gmail.com;personal;")
    expect(Buffer.from(await textOf(list.results({ format: "excel", from: 3 })))).toEqual(Buffer.from(all).subarray(3))
  })

  test("is only estimated, and nothing of it is stored", async () => {
    const { client, store } = await clientOfApp()
    expect(await client.jobs.estimate(LIST, { format: "csv" })).toMatchObject({
      outcome: "answered",
      result: { rows: 3, units_needed: 3, columns: ["id", "email"] },
    })
    expect(await store.all("SELECT id FROM jobs")).toEqual([])
  })

  test("of another account does not exist, and a bad one is refused with its problem", async () => {
    const { client } = await clientOfApp()
    expect(await client.jobs.get("job_other")).toMatchObject({ because: "refused", problem: { code: "not_found" } })
    expect(await client.jobs.create("PK\x03\x04", { format: "csv" })).toMatchObject({
      because: "refused",
      problem: { code: "invalid_input" },
    })
  })
})

test("an upload is repeated where the server refused it for now, and never where it may have arrived", async () => {
  const busy = says(503, problemOf(503, "overloaded", { retry_after: 1 }), { "Retry-After": "1" })
  const refused = await clientOf([busy, jobReply("queued", 202)], 3)
  expect((await refused.client.jobs.create(LIST)).outcome).toBe("answered")
  expect(refused.server.seen.map(({ body }) => body)).toEqual([LIST, LIST])
  const cut = await clientOf([request => request.socket.destroy(), jobReply("queued", 202)], 3)
  expect(await cut.client.jobs.create(LIST)).toMatchObject({ outcome: "unanswered", because: "unreachable" })
  expect(cut.server.seen).toHaveLength(1)
  for (const reply of [says(500, problemOf(500, "internal_error")), says(502, "<html>"), says(503, "<html>")]) {
    const failed = await clientOf([reply, jobReply("queued", 202)], 3)
    expect((await failed.client.jobs.create(LIST)).outcome).toBe("unanswered")
    expect(failed.server.seen).toHaveLength(1)
  }
  const stream = await clientOf([busy, jobReply("queued", 202)], 3)
  expect((await stream.client.jobs.create(new Blob([LIST]).stream())).outcome).toBe("unanswered")
})

test("progress waits over failures, and while a job is stopped, until it has ended", async () => {
  const busy = says(503, problemOf(503, "overloaded", { retry_after: 2 }), { "Retry-After": "2" })
  const replies = [
    jobReply("queued"),
    jobReply("running"),
    busy,
    jobReply("stopped"),
    jobReply("running"),
    jobReply("done"),
  ]
  const { client, waits } = await clientOf([jobReply("queued"), ...replies])
  const states: string[] = []
  for await (const { state } of made(await client.jobs.get("job_1")).progress()) states.push(state)
  expect(states).toEqual(["queued", "running", "stopped", "running", "done"])
  expect([waits.includes(2000), waits.includes(60_000)]).toEqual([true, true])
})

test("progress ends with an error when the server is gone for too long, the key is refused, or the caller aborts", async () => {
  const dead = says(500, problemOf(500, "internal_error"))
  const gone = await clientOf([jobReply("running"), ...Array(9).fill(dead)])
  const next = async ({ client }: Awaited<ReturnType<typeof clientOf>>, signal?: AbortSignal) => {
    const list = made(await client.jobs.get("job_1"))
    try {
      for await (const _ of list.progress({ signal }));
      return null
    } catch (error) {
      return error instanceof JobError ? error.failure.because : error
    }
  }
  expect(await next(gone)).toBe("server_error")
  expect(gone.server.seen).toHaveLength(6)
  expect(await next(await clientOf([jobReply("running"), says(401, problemOf(401, "key_revoked"))]))).toBe("refused")
  expect(await next(await clientOf([jobReply("running"), jobReply("running")]), AbortSignal.abort())).toBe("aborted")
})

test("a download that is cut off again and again is the same, byte for byte", async () => {
  const { client, server } = await clientOf([jobReply("done"), ...Array(9).fill(cutResults(900)), cutResults()])
  expect(await textOf(made(await client.jobs.get("job_1")).results())).toBe(CUT_RESULTS)
  expect(server.seen.length).toBeGreaterThan(4)
})

test("a download ends with an error, and says how much came, when nothing more comes or the results have changed", async () => {
  const closed: FaultReply = request => request.socket.destroy()
  const receivedOf = async (...replies: FaultReply[]) => {
    const { client } = await clientOf([jobReply("done"), ...replies])
    const list = made(await client.jobs.get("job_1"))
    try {
      await textOf(list.results())
      return null
    } catch (error) {
      return error instanceof JobError ? [error.failure.because, error.received] : error
    }
  }
  expect(await receivedOf(cutResults(900), ...Array(9).fill(closed))).toEqual(["unreachable", 900])
  expect(await receivedOf(cutResults(900), cutResults(900, '"job.2"'))).toEqual(["refused", 900])
  expect(await receivedOf(says(409, problemOf(409, "job_not_ready")))).toEqual(["refused", 0])
})

test("a download whose refusal does not end is waited for a bounded time", async () => {
  const silent: FaultReply = (_, response) => {
    response.writeHead(500, { "Content-Type": "application/problem+json" })
    response.write("{")
  }
  const { client, expire } = await clientOf([jobReply("done"), ...Array(9).fill(silent)])
  const list = made(await client.jobs.get("job_1"))
  const timer = setInterval(expire, 5)
  const ended = await textOf(list.results()).catch(error => error)
  clearInterval(timer)
  expect(ended instanceof JobError && ended.failure.because).toBe("timeout")
})

describe("a list that a proxy in front of the server finds too large", () => {
  test.each([
    ["nginx/1.27.3", " nginx takes 1 MiB, unless its `client_max_body_size` says otherwise."],
    ["cloudflare", " Cloudflare takes 100 MB in most plans."],
    ["other", ""],
  ])("is refused with what is known of its limit, and not sent again: %s", async (server, limit) => {
    const page = says(413, "<html><h1>413 Request Entity Too Large</h1>", { Server: server })
    const { client, server: seen } = await clientOf([page], 3)
    const reply = await client.jobs.create(LIST)
    expect(reply).toMatchObject({
      because: "refused",
      status: 413,
      message: `A proxy in front of the server refused the body as too large (413).${limit}`,
    })
    expect(seen.seen).toHaveLength(1)
  })
})
