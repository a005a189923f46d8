import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CAUSES } from "../../src/client/outcome.ts"
import { CATEGORY_NAMES } from "../../src/contract/categories.ts"
import { REASON_NAMES } from "../../src/contract/reasons.ts"
import { serverProcess } from "../contract/server-process.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { startProgram } from "../support/program.ts"
import { pythonClientFiles } from "./client-files.ts"
import { answers, FAULTS, type FaultReply, faultServer, problemOf, says, verdictOf } from "./fault-server.ts"
import { CUT_RESULTS, cutResults, jobReply } from "./job-replies.ts"

const PYTHON = Bun.which("python3")
const CLIENTS = { Mailkind: "the Python client", AsyncMailkind: "the Python client for asyncio" } as const

type ClientName = keyof typeof CLIENTS

/** Tests a client, or the one for asyncio too. */
function testPython(promise: string, run: () => Promise<void>, names: readonly ClientName[] = ["Mailkind"]): void {
  for (const name of names)
    test.skipIf(PYTHON === null)(
      `${CLIENTS[name]}${PYTHON === null ? " (skipped: python3 is not installed)" : ""} ${promise}`,
      async () => {
        client = name
        await run()
      },
    )
}
let client: ClientName = "Mailkind"
const BOTH = ["Mailkind", "AsyncMailkind"] as const

/** A call of a method with its arguments. */
type Call = Readonly<Record<string, Readonly<Record<string, unknown>>>>

async function inPython(command: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-python-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(pythonClientFiles())) writeFileSync(join(directory, name), text)
  const environment = { PATH: process.env["PATH"], HOME: directory, PYTHONDONTWRITEBYTECODE: "1", CLIENT: client }
  const ended = await startProgram([PYTHON ?? "", ...command], directory, environment).ended()
  if (ended.code !== 0) throw new Error(ended.err)
  return JSON.parse(ended.out)
}

/** What comes of calls to a server that replies so, in turn. */
async function called(
  replies: readonly FaultReply[],
  calls: readonly Call[],
  more: Readonly<Record<string, unknown>> = {},
) {
  const server = await faultServer(...replies)
  const { options = {}, ...scenario } = more
  const settings = { url: server.url, ...Object(options) }
  const ended = await inPython([DRIVER, JSON.stringify({ ...scenario, options: settings, calls })])
  return { ...ended, seen: server.seen }
}

const DRIVER = join(import.meta.dir, "python-driver.py")

/** What comes of calls to a real server. */
const calledAt = (url: string, key: string, calls: readonly Call[]) =>
  inPython([DRIVER, JSON.stringify({ key, options: { url }, calls })])

const CHECK: Call = { check_email: { email: "jane@stripe.com" } }

testPython(
  `sends what it is asked for and gives the result`,
  async () => {
    const { outcomes, seen, stats, holds_key } = await called(
      [answers],
      [
        { check_email: { email: "jane@stripe.com", policy: "strict" } },
        { check: { domain: "stripe.com", deep: true, mail: false } },
      ],
    )
    expect(outcomes[0]).toMatchObject({ outcome: "checked", result: { category: "business" }, request_id: "id-0" })
    expect(seen).toMatchObject([
      { url: "/v1/check", id: "id-0", authorization: "Bearer svc_live_secretsecretsecret" },
      {},
    ])
    expect(seen.map(({ body }: { body: string }) => JSON.parse(body))).toEqual([
      { email: "jane@stripe.com", policy: "strict" },
      { domain: "stripe.com", deep: true, mail: false },
    ])
    expect(stats).toMatchObject({ checked: 2, unchecked: 0, requests: 2, retries: 0 })
    expect(holds_key).toBe(false)
  },
  BOTH,
)

testPython(`leaves a check unchecked by every fault, counts it, and waits for nobody`, async () => {
  const ended = await Promise.all(
    Object.entries(FAULTS).map(async ([fault, { reply, because }]) => ({
      fault,
      because,
      ...(await called([reply], [CHECK])),
    })),
  )
  for (const { fault, because, outcomes, waits, told, stats, seen, holds_key } of ended) {
    expect({ fault, outcome: outcomes[0] }).toMatchObject({ fault, outcome: { outcome: "unchecked", because } })
    expect({ fault, waits, requests: seen.length, holds_key }).toEqual({
      fault,
      waits: [],
      requests: 1,
      holds_key: false,
    })
    expect(stats).toMatchObject({ unchecked: 1, unchecked_because: { [because]: 1 } })
    expect(told).toMatchObject([{ because }])
    expect(JSON.stringify(told)).not.toContain("jane")
  }
})

testPython(
  `sends a subject without white space around it, and refuses what is no subject without sending it`,
  async () => {
    const subjects = ["", " \t", "a".repeat(2049), null, 7, ["jane@stripe.com"], { email: "jane@stripe.com" }]
    const { outcomes, seen } = await called(
      [answers],
      [` jane@stripe.com${" ".repeat(70_000)}`, ...subjects].map(email => ({ check_email: { email } })),
    )
    expect(outcomes.map((each: { because?: string }) => each.because ?? null)).toEqual([
      null,
      ...subjects.map(() => "invalid_subject"),
    ])
    expect(seen.map(({ body }: { body: string }) => JSON.parse(body).email)).toEqual(["jane@stripe.com"])
  },
)

testPython(
  `says that it was a proxy that refused a body as too large`,
  async () => {
    const { outcomes } = await called([says(413, "<h1>413 Request Entity Too Large</h1>")], [CHECK, { usage: {} }])
    const message = "A proxy in front of the server refused the body as too large (413)."
    expect(outcomes).toMatchObject([
      { because: "invalid_subject", status: 413, message },
      { because: "refused", status: 413, message },
    ])
  },
  BOTH,
)

testPython(`tries again what may succeed, with one request id`, async () => {
  const ended = await Promise.all(
    Object.entries(FAULTS).map(async ([fault, { reply, isRetried }]) => ({
      ...{
        fault,
        isRetried,
        ...(await called([reply, reply, answers], [CHECK], { options: { retries: 2, timeout: 9999 } })),
      },
    })),
  )
  for (const { fault, isRetried, outcomes, seen } of ended)
    expect({ fault, outcome: outcomes[0].outcome, ids: seen.map(({ id }: { id: string }) => id) }).toEqual({
      ...{ fault, outcome: isRetried ? "checked" : "unchecked", ids: isRetried ? ["id-0", "id-0", "id-0"] : ["id-0"] },
    })
})

testPython(`doubles its waits, keeps Retry-After, and never waits for hours`, async () => {
  const failing = FAULTS["a server error"].reply
  const options = { retries: 5, timeout: 9999 }
  const limited = await called(
    [failing, failing, failing, FAULTS["a rate limit of a second"].reply, answers],
    [CHECK],
    { options },
  )
  expect([limited.outcomes[0].outcome, limited.waits]).toEqual(["checked", [0.5, 1, 2, 1]])
  const quota = await called([FAULTS["a quota of three hours"].reply], [CHECK], { options })
  expect(quota.outcomes[0]).toMatchObject({
    because: "quota_exceeded",
    retry_after: 10_984,
    problem: { remaining: 0 },
  })
  expect([quota.seen.length, quota.waits]).toEqual([1, []])
  const late = await called([FAULTS["an overloaded server"].reply], [CHECK], {
    options: { retries: 5, timeout: 1.5 },
  })
  expect([late.outcomes[0].outcome, late.seen.length, late.waits]).toEqual(["unchecked", 1, []])
})

testPython(
  `leaves a check unchecked where the server is dead or silent`,
  async () => {
    const dead = await faultServer(answers)
    dead.close()
    const [{ outcomes }, silent] = await Promise.all([
      called([answers], [CHECK], { options: { url: dead.url } }),
      called([() => undefined], [CHECK], { is_silent: true }),
    ])
    expect(outcomes[0]).toMatchObject({ outcome: "unchecked", because: "unreachable" })
    expect(silent.outcomes[0]).toMatchObject({ outcome: "unchecked", because: "timeout" })
  },
  BOTH,
)

testPython(`keeps only answers that may be kept`, async () => {
  const verdict = JSON.stringify(verdictOf("a@b.co"))
  const kept = await called([says(200, verdict, { "Cache-Control": "private, max-age=60" })], [CHECK, CHECK])
  expect([kept.seen.length, kept.stats.cached, kept.stats.checked]).toEqual([1, 1, 2])
  for (const reply of [answers, says(200, verdict, { "Cache-Control": "no-store, max-age=60" })])
    expect((await called([reply], [CHECK, CHECK])).seen.length).toBe(2)
})

testPython(
  `brings 10 000 addresses in order through a server that fails one request in ten`,
  async () => {
    let requests = 0
    const failing: FaultReply = (request, response, body) =>
      (++requests % 10 === 0 ? FAULTS["a server error"].reply : answers)(request, response, body)
    const { outcomes, stats } = await called([failing], [{ batch: { count: 10_000, concurrency: 8 } }])
    expect(outcomes[0]).toMatchObject({ checked: 10_000, is_in_order: true, progress: 100 })
    expect(stats).toMatchObject({ checked: 10_000, unchecked: 0 })
  },
  BOTH,
)

/** Answers the first items of a batch, and keeps the requests for the others until `/v1/health` is asked: from then on it closes them. */
function answersFirst(): FaultReply {
  const kept: (() => void)[] = []
  let isClosing = false
  return (request, response, body) => {
    isClosing ||= request.url === "/v1/health"
    if (isClosing) for (const close of kept.splice(0)) close()
    if (request.url === "/v1/health" || body.includes("user0@")) answers(request, response, body)
    else if (isClosing) request.socket.destroy()
    else kept.push(() => request.socket.destroy())
  }
}

/** Leaves a batch at its first item, while requests for others are under way. */
const LEAVING = `
import json, sys, threading, mailkind
told = []
client = mailkind.Mailkind("k", url=sys.argv[1], timeout=9999, on_unchecked=told.append)
for each in client.batch((f"user{n}@x.co" for n in range(300)), concurrency=3, retries=0):
    break
`

testPython(`keeps no program running for a batch that it has left`, async () => {
  const server = await faultServer(answersFirst())
  expect(await inPython(["-c", `${LEAVING}print(each.index)`, server.url])).toBe(0)
})

testPython(`tells whoever leaves the loop nothing of the other items`, async () => {
  const server = await faultServer(answersFirst())
  const ending = `
client.health()
for thread in threading.enumerate():
    if thread.name.startswith("mailkind"):
        thread.join()
print(json.dumps([len(told), client.stats()["unchecked"]]))`
  expect(await inPython(["-c", LEAVING + ending, server.url])).toEqual([0, 0])
})

testPython(`keeps its results apart from those that a program changes`, async () => {
  const keeps = { "Cache-Control": "private, max-age=60" }
  const server = await faultServer(says(200, JSON.stringify(verdictOf("a@b.co")), keeps))
  const program = `
import json, sys, mailkind
client = mailkind.Mailkind("k", url=sys.argv[1])
for _ in range(3):
    result = client.check_email("a@b.co").result
    reasons = list(result["reasons"])
    result["reasons"].append("mine")
print(json.dumps([reasons, client.stats()["cached"]]))`
  expect(await inPython(["-c", program, server.url])).toEqual([["mx_found"], 2])
})

testPython(
  `stops a batch at what no later request can get either, and accounts for every item`,
  async () => {
    for (const fault of ["a revoked key", "a quota of three hours"] as const) {
      const { outcomes, seen, stats } = await called(
        [FAULTS[fault].reply],
        [{ batch: { count: 1000, concurrency: 1 } }],
      )
      expect(outcomes[0]).toMatchObject({ unchecked: 1000, is_in_order: true })
      expect([seen.length, stats.unchecked]).toEqual([1, 1000])
    }
  },
  BOTH,
)

testPython(`sends no item that the API never takes, and the others`, async () => {
  const items = ["a@b.co", "x".repeat(3000), "c@d.co"]
  expect((await called([answers], [{ batch: { items } }])).outcomes[0]).toMatchObject({
    checked: 2,
    unchecked: 1,
    is_in_order: true,
  })
})

testPython(
  `raises for wrong options alone, and never names the key`,
  async () => {
    const wrong = [
      { batch: { items: "jane@stripe.com" } },
      { batch: { items: ["a@b.co"], concurrency: 0 } },
      { check_email: { email: "a@b.co", timeout: -1 } },
    ]
    const { outcomes } = await called([answers], wrong)
    expect(outcomes.map(({ raised }: { raised: string }) => raised)).toEqual(["TypeError", "ValueError", "ValueError"])
    const refusal = await called([answers], [CHECK], { key: "svc_live_secretsecret\nx" }).catch(String)
    expect(refusal).toContain("the key has characters that no key has")
    expect(refusal).not.toContain("secretsecret")
  },
  BOTH,
)

testPython(`has the values of the contract and the causes of the TypeScript client`, async () => {
  const program =
    "import json, mailkind as m; print(json.dumps([m.CATEGORIES, m.REASONS, m.BATCH_ITEMS_MAX, dict(m.CAUSES)]))"
  const [categories, reasons, itemsMax, causes] = await inPython(["-c", program])
  expect([categories, reasons, itemsMax]).toEqual([[...CATEGORY_NAMES], [...REASON_NAMES], 100])
  // A call cannot be aborted there.
  expect(Object.keys(causes).sort()).toEqual(
    Object.keys(CAUSES)
      .filter(cause => cause !== "aborted")
      .sort(),
  )
})

testPython(
  `uploads a list to a real server, watches, downloads and deletes it`,
  async () => {
    const server = await serverProcess()
    onTestEnd(server.stop)
    const rows = Array.from(
      { length: 500 },
      (_, at) => `${at},person${at}@${at % 2 === 0 ? "mailinator" : "gmail"}.com\n`,
    )
    const list = `id,email\n${rows.join("")}`
    const way = { list_: list, format: "csv", name: "People", workspace: false, only: ["block"], cut_at: 777 }
    const { outcomes, holds_key } = await calledAt(server.url, server.firstKey, [
      { job_way: way },
      { "jobs.estimate": { file: "list.csv", format: "csv" } },
      { "jobs.create": { file: "nowhere.csv" } },
      { "jobs.create": { file: "list.csv", colum: "email" } },
      { "jobs.create": { file: "list.csv", format: "csv", column: "mail" } },
      { "jobs.estimate": { file: "list.csv", delimiter: "comma", skip: 0, encoding: "utf-8", force: true } },
    ])
    expect(outcomes[0]).toMatchObject({ is_same: true, listed: [true], deleted: "answered", gone: "not_found" })
    expect(outcomes[0].text.trim().split("\n")).toHaveLength(251)
    expect(outcomes[0].size).toBe(outcomes[0].text.length)
    expect(outcomes[0].states.at(-1)).toBe("done 500")
    expect(outcomes[1]).toMatchObject({ result: { rows: 500, units_needed: 500, unique_domains: 2 } })
    expect(outcomes[2]).toMatchObject({ raised: "FileNotFoundError" })
    expect(outcomes[3]).toMatchObject({ raised: "TypeError", message: expect.stringMatching(/no option colum/) })
    expect(outcomes[4]).toMatchObject({ because: "refused", problem: { code: "invalid_input" } })
    expect(holds_key).toBe(false)
  },
  BOTH,
)

testPython(
  `continues downloads and progress over faults, and says how far it came`,
  async () => {
    const done = jobReply("done")
    const whole = await called([done, ...Array(9).fill(cutResults(900)), cutResults()], [{ results: {} }])
    expect(whole.outcomes).toEqual([{ text: CUT_RESULTS }])
    const closed: FaultReply = request => request.socket.destroy()
    const ends = await called([done, cutResults(900), ...Array(9).fill(closed)], [{ results: {} }])
    expect(ends.outcomes).toEqual([{ because: "unreachable", received: 900 }])
    const changed = await called([done, cutResults(900), cutResults(900, '"job.2"')], [{ results: {} }])
    expect(changed.outcomes).toEqual([{ because: "refused", received: 900 }])
    const busy = says(503, problemOf(503, "overloaded", { retry_after: 2 }), { "Retry-After": "2" })
    const replies = [done, jobReply("running"), busy, jobReply("stopped"), done]
    const { outcomes, waits } = await called(replies, [{ progress_of: {} }])
    expect(outcomes).toEqual([{ states: ["running", "stopped", "done"] }])
    expect([waits.includes(2), waits.includes(60)]).toEqual([true, true])
    const revoked = await called([done, says(401, problemOf(401, "key_revoked"))], [{ progress_of: {} }])
    expect(revoked.outcomes).toEqual([{ because: "refused" }])
  },
  BOTH,
)

testPython(`repeats an upload only where the server refused it`, async () => {
  const busy = says(503, problemOf(503, "overloaded", { retry_after: 1 }), { "Retry-After": "1" })
  const estimate = { "jobs.estimate": { file: "mailkind.py", retries: 3 } }
  const refused = await called([busy, says(200, '{"rows":1}')], [estimate])
  expect([refused.outcomes[0].outcome, refused.seen.length]).toEqual(["answered", 2])
  const closed: FaultReply = request => request.socket.destroy()
  const cut = await called([closed, says(200, '{"rows":1}')], [estimate])
  expect([cut.outcomes[0].because, cut.seen.length]).toEqual(["unreachable", 1])
  for (const reply of [says(500, problemOf(500, "internal_error")), says(503, "<html>")])
    expect((await called([reply, says(200, '{"rows":1}')], [estimate])).seen).toHaveLength(1)
  const limited = await called([says(413, "<html>", { Server: "nginx" }), says(200, '{"rows":1}')], [estimate])
  const message = expect.stringMatching(
    /^A proxy in front of the server refused the body as too large \(413\)\. nginx takes 1 MiB/,
  )
  expect([limited.outcomes[0], limited.seen.length]).toMatchObject([{ because: "refused", message }, 1])
})

testPython(`says why a list is refused that is still being sent`, async () => {
  const server = await serverProcess({ MAILKIND_JOB_BYTES_MAX: "100000" })
  onTestEnd(server.stop)
  const tooLarge = { list_: "jane@gmail.com\n".repeat(5000), times: 100, format: "text" }
  const { outcomes } = await calledAt(server.url, server.firstKey, [{ job_way: tooLarge }])
  expect(outcomes[0]).toMatchObject({ because: "refused", problem: { code: "payload_too_large" } })
})

testPython(`adds, finds, pages and removes entries, and gives the first answer again for the same key`, async () => {
  const server = await serverProcess()
  onTestEnd(server.stop)
  const add = {
    "block_list.add": { entries: ["jane@acme.com", { entry: "acme.org", note: "x" }], idempotency_key: "k" },
  }
  const { outcomes } = await calledAt(server.url, server.firstKey, [
    add,
    { "block_list.find": { entry: "acme.org" } },
    { "block_list.page": { limit: 1 } },
    { "block_list.remove": { entries: ["acme.org", "b.com"] } },
    { "block_list.find": { entry: "acme.org" } },
    add,
    { "block_list.add": { entries: "acme.com" } },
    { "block_list.add": { entries: ["acme.com"], idempotency_key: "with spaces" } },
  ])
  const [first, found, page, removed, gone, again, oneText, badKey] = outcomes
  expect(first).toMatchObject({ outcome: "answered", result: { added: 2 } })
  expect(found).toMatchObject({ result: { entry: "acme.org", note: "x" } })
  expect(page).toMatchObject({ result: { next: "acme.org", total: 2 } })
  expect(removed).toMatchObject({ result: { removed: 1, absent: 1 } })
  expect(gone).toMatchObject({ outcome: "answered", result: null })
  expect(again.result).toEqual(first.result)
  expect([oneText.raised, badKey.raised]).toEqual(["TypeError", "ValueError"])
})
