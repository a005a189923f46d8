import { describe, expect } from "bun:test"
import { Webhook } from "standardwebhooks"
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts"
import { createGuardedPost } from "../../../src/check/fetch/guarded-fetch.ts"
import { CALLBACK_LIMITS } from "../../../src/contract/callbacks.ts"
import { exportAccount } from "../../../src/customers/accounts/account-export.ts"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { listCallbacks, sendAgain } from "../../../src/customers/jobs/callback-queue.ts"
import { replaceCallbackSecret } from "../../../src/customers/jobs/callback-secrets.ts"
import { CallbackSender, TOLD_RECEIVERS, ToldFailures } from "../../../src/customers/jobs/callback-sender.ts"
import { jobBody } from "../../../src/customers/jobs/job-body.ts"
import { deleteJob } from "../../../src/customers/jobs/job-lifecycle.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import { jobDesk } from "../../jobs/job-desk.ts"
import { type HostAnswer, hostWeb, httpAnswer, redirectTo } from "../../support/host-web.ts"
import { createFakeTime } from "../../support/time.ts"
import { type ZoneRecords, zone } from "../../support/zone.ts"
import { test } from "../engines.ts"
import { newAccount, random } from "../temp-store.ts"

const HOST = "93.184.216.34"
const HOOK = "https://crm.acme.com/hook?of=lists"
const dnsOf = (address: string): ZoneRecords => ({ "A crm.acme.com": [address] })

const status =
  (code: number): HostAnswer =>
  () => [`HTTP/1.1 ${code} x\r\nContent-Length: 0\r\n\r\n`]

/** An account with a callback secret, and senders in a world without sockets. */
async function callbackDesk(answerTo: (request: string) => HostAnswer, dns: ZoneRecords = dnsOf(HOST)) {
  const desk = await jobDesk()
  // The verifier compares with the clock of the machine.
  desk.state.now = Date.now()
  const secretOf = async () => (await replaceCallbackSecret(deps, desk.accountId))?.secret ?? ""
  const deps = { store: desk.store, clock: () => desk.state.now, actor: SERVER_ACTOR, random }
  const time = createFakeTime()
  const web = hostWeb({
    [`${HOST}:443`]: request => {
      const answer = answerTo(request)
      return typeof answer === "function" ? answer(request) : []
    },
  })
  const lines: (readonly unknown[])[] = []
  const senderOver = (connect = web.connect): CallbackSender => {
    const post = createGuardedPost(
      { resolver: zone(dns).ask, connect, setTimer: time.later, userAgent: "mailkind/1" },
      CALLBACK_LIMITS.timeoutSeconds * 1000,
    )
    return new CallbackSender({ ...deps, stopwatch: time.stopwatch, post, log: (...line) => void lines.push(line) })
  }
  const sender = senderOver()
  const send = async (by = sender): Promise<void> => {
    await by.sendDue()
    await by.whenIdle()
  }
  return {
    ...{ ...desk, web, time, lines, sender, senderOver, send },
    secret: await secretOf(),
    rotate: secretOf,
    finished: async (list = "jane@acme.com\n") => {
      const job = await desk.upload(list, { callbackUrl: HOOK })
      await desk.workOff(desk.process("one"))
      return await desk.jobOf(job.id)
    },
    /** Waits until the next attempt is due. */
    untilDue: async (jobId: string): Promise<number> => {
      const [callback] = await listCallbacks(desk.store, jobId)
      const waitedMs = (callback?.dueAtMs ?? 0) - desk.state.now
      desk.state.now += waitedMs
      return waitedMs
    },
    stateOf: async (jobId: string) => (await listCallbacks(desk.store, jobId))[0],
  }
}

/** A request as the receiver reads it. */
function received(request: string) {
  const [head = "", body = ""] = request.split("\r\n\r\n")
  const [line = "", ...rest] = head.split("\r\n")
  const headers = Object.fromEntries(
    rest.map(text => [text.slice(0, text.indexOf(":")).toLowerCase(), text.slice(text.indexOf(":") + 2)]),
  )
  return { line, headers, body }
}

const verified = (secret: string, request: string): unknown => {
  const { headers, body } = received(request)
  return new Webhook(secret).verify(body, headers)
}

test("a finished list is told of with the job as the API gives it, signed as Standard Webhooks say", async () => {
  const desk = await callbackDesk(() => status(204))
  const job = await desk.finished()
  await desk.send()
  expect(desk.web.requests).toHaveLength(1)
  const { line, headers } = received(desk.web.requests[0] ?? "")
  expect([line, headers["host"], headers["content-type"]]).toEqual([
    "POST /hook?of=lists HTTP/1.1",
    "crm.acme.com",
    "application/json",
  ])
  expect(verified(desk.secret, desk.web.requests[0] ?? "")).toEqual({
    type: "job.done",
    timestamp: new Date(desk.state.now).toISOString(),
    data: jobBody(job, { nowMs: desk.state.now, keepHours: 48 }),
  })
  expect(await desk.stateOf(job.id)).toMatchObject({ ending: "delivered", attemptCount: 1, result: "204" })
  await desk.send()
  expect(desk.web.requests).toHaveLength(1)
})

test("a list that stops and goes on is told of twice", async () => {
  const desk = await callbackDesk(() => status(200))
  desk.state.perDay = 2
  const { id } = await desk.finished("a@acme.com\nb@acme.com\nc@acme.com\n")
  desk.state.perDay = null
  await desk.workOff(desk.process("one"))
  await desk.send()
  await desk.send()
  const types = desk.web.requests.map(request => (verified(desk.secret, request) as { type: string }).type)
  expect(types).toEqual(["job.stopped", "job.done"])
  expect((await listCallbacks(desk.store, id)).map(({ event }) => event).toSorted()).toEqual([
    "job.done",
    "job.stopped",
  ])
})

test("a job without a callback URL is told to nobody", async () => {
  const desk = await callbackDesk(() => status(200))
  const job = await desk.upload("jane@acme.com\n")
  await desk.workOff(desk.process("one"))
  await desk.send()
  expect([(await desk.jobOf(job.id)).state, desk.web.attempts]).toEqual(["done", []])
})

test("a receiver that fails is tried again with growing pauses, with the same id and body, until it takes it", async () => {
  const answers = [500, 429, 503, 200]
  const desk = await callbackDesk(() => status(answers.shift() ?? 200))
  const { id } = await desk.finished()
  const pauses: number[] = []
  for (let attempt = 0; attempt < 4; attempt++) {
    await desk.send()
    pauses.push(await desk.untilDue(id))
  }
  for (const [at, seconds] of CALLBACK_LIMITS.retrySeconds.slice(0, 3).entries()) {
    expect(pauses[at]).toBeLessThanOrEqual(seconds * 1000)
    expect(pauses[at]).toBeGreaterThanOrEqual(seconds * 750)
  }
  const sent = desk.web.requests.map(received)
  expect(sent.map(({ headers }) => headers["webhook-id"])).toEqual(Array(4).fill(sent[0]?.headers["webhook-id"]))
  expect(new Set(sent.map(({ body }) => body)).size).toBe(1)
  expect(await desk.stateOf(id)).toMatchObject({ ending: "delivered", attemptCount: 4 })
})

test("a receiver that never takes it is tried for about a day, and not after that", async () => {
  const desk = await callbackDesk(() => status(500))
  const { id } = await desk.finished()
  const startedAt = desk.state.now
  for (let attempt = 0; attempt <= CALLBACK_LIMITS.retrySeconds.length; attempt++) {
    await desk.send()
    if ((await desk.stateOf(id))?.ending === null) await desk.untilDue(id)
  }
  expect(await desk.stateOf(id)).toMatchObject({
    ending: "given_up",
    attemptCount: CALLBACK_LIMITS.retrySeconds.length + 1,
    result: "500",
  })
  const lastedMs = desk.state.now - startedAt
  expect(lastedMs).toBeGreaterThan(DAY_MS / 2)
  expect(lastedMs).toBeLessThan(DAY_MS)
  desk.state.now += 7 * DAY_MS
  await desk.send()
  expect(desk.web.requests).toHaveLength(CALLBACK_LIMITS.retrySeconds.length + 1)
})

test("the log names each receiver that fails once an hour, however many others fail already", async () => {
  const desk = await callbackDesk(() => status(500), {})
  // Callbacks that are due at the same time go in any order.
  let counted = 0
  const named = () =>
    desk.lines
      .splice(0)
      .flatMap(([level, , fields]) => {
        const { where, untold = 0 } = fields as { readonly where: string; readonly untold?: number }
        counted += untold
        return level === "warn" ? [where] : []
      })
      .toSorted()
  const fails = async (hosts: readonly string[]) => {
    for (const host of hosts) await desk.upload("jane@acme.com\n", { callbackUrl: `https://${host}/hook` })
    await desk.workOff(desk.process("one"))
    for (const _ of hosts) await desk.send()
  }
  await fails(["a.example", "b.example", "a.example"])
  expect(named()).toEqual(["a.example:443", "b.example:443"])
  await desk.time.tick(HOUR_MS)
  await fails(["a.example"])
  expect([named(), counted]).toEqual([["a.example:443"], 1])
})

test("one account fills the log with names as little as many do, and what has no line is counted", () => {
  const failures = new ToldFailures()
  const told = (accountId: string, count: number, nowMs = 0): number =>
    Array.from({ length: count }, (_, at) => failures.tell(accountId, `r${at}.example:443`, nowMs)).filter(
      untold => untold !== null,
    ).length
  const { perHourMax, perAccountMax } = TOLD_RECEIVERS
  expect(told("acc_1", 1000)).toBe(perAccountMax)
  expect(failures.tell("acc_2", "r0.example:443", 0)).toBe(1000 - perAccountMax)
  for (let at = 3; at < 100; at++) told(`acc_${at}`, 1)
  expect(told("acc_100", 1, HOUR_MS - 1)).toBe(0)
  expect(failures.tell("acc_100", "r0.example:443", HOUR_MS)).toBe(97 + 1 - (perHourMax - perAccountMax - 1))
})

/** What a receiver does, and what its owner reads then. */
const RECEIVERS: Readonly<Record<string, { answer: HostAnswer; dns?: ZoneRecords; result: string; ending?: string }>> =
  {
    "answers 410": { answer: status(410), result: "410", ending: "gone" },
    "redirects to a private address": { answer: redirectTo("https://10.0.0.1/"), result: "302" },
    "redirects elsewhere": { answer: redirectTo("https://other.acme.com/"), result: "302" },
    "answers with a body of a megabyte": {
      answer: httpAnswer("x".repeat(1_000_000)),
      result: "200",
      ending: "delivered",
    },
    "closes the connection": { answer: () => [], result: "broken_off" },
    "speaks another protocol": { answer: () => ["220 mail.acme.com ESMTP\r\n"], result: "not_http" },
    "has a private address": { answer: status(200), dns: dnsOf("10.1.2.3"), result: "not_public" },
    "has a loopback address": { answer: status(200), dns: dnsOf("127.0.0.1"), result: "not_public" },
    "has the address of cloud metadata": { answer: status(200), dns: dnsOf("169.254.169.254"), result: "not_public" },
    "has no address": { answer: status(200), dns: {}, result: "no_address" },
  }

describe("a receiver that", () => {
  for (const [does, { answer, dns = dnsOf(HOST), result, ending = null }] of Object.entries(RECEIVERS))
    test(`${does}: ${ending ?? "is tried again"}`, async () => {
      const desk = await callbackDesk(() => answer, dns)
      const { id } = await desk.finished()
      await desk.send()
      expect(await desk.stateOf(id)).toMatchObject({ attemptCount: 1, result, ending })
      // The line has the list and the receiver, and nothing of the path, which may hold a secret.
      const told = { account: desk.accountId, job: id, where: "crm.acme.com:443", result }
      if (ending !== "delivered") expect(desk.lines.at(-1)?.[2]).toMatchObject(told)
      expect(JSON.stringify(desk.lines)).not.toContain("/hook")
      // Nothing else is connected to.
      expect(desk.web.attempts.every(({ address }) => address === HOST)).toBe(true)
      if (result === "not_public") expect(desk.web.attempts).toEqual([])
      expect(desk.web.openCount()).toBe(0)
    })
})

test("a name that moves to a private address is not called there", async () => {
  const dns: { [name: string]: readonly string[] } = { "A crm.acme.com": [HOST] }
  const desk = await callbackDesk(() => status(500), dns)
  const { id } = await desk.finished()
  await desk.send()
  dns["A crm.acme.com"] = ["192.168.0.1"]
  await desk.untilDue(id)
  await desk.send()
  expect(await desk.stateOf(id)).toMatchObject({ attemptCount: 2, result: "not_public" })
  expect(desk.web.requests).toHaveLength(1)
})

test("after 410 nothing more of the list is sent, until its owner sends it again", async () => {
  const answers = [410, 200]
  const desk = await callbackDesk(() => status(answers.shift() ?? 200))
  desk.state.perDay = 1
  const { id } = await desk.finished("a@acme.com\nb@acme.com\n")
  await desk.send()
  desk.state.perDay = null
  await desk.workOff(desk.process("one"))
  await desk.send()
  const callbacks = await listCallbacks(desk.store, id)
  expect(callbacks.map(({ event, ending }) => [event, ending])).toEqual([["job.stopped", "gone"]])
  expect(await sendAgain(desk.store, id, callbacks[0]?.id ?? "", desk.state.now)).toBe(true)
  await desk.send()
  expect(await desk.stateOf(id)).toMatchObject({ ending: "delivered", attemptCount: 1 })
})

test("410 ends the callback that waits for the same list, and none of another list", async () => {
  const answers = [500, 410]
  const desk = await callbackDesk(() => status(answers.shift() ?? 200))
  desk.state.perDay = 1
  const gone = await desk.finished("a@acme.com\nb@acme.com\n")
  await desk.send()
  desk.state.perDay = null
  await desk.workOff(desk.process("one"))
  // The callback that is due first is sent first.
  desk.state.now++
  const other = await desk.finished()
  const endingsOf = async ({ id }: { readonly id: string }) =>
    (await listCallbacks(desk.store, id)).map(({ ending }) => ending)
  expect([await endingsOf(gone), await endingsOf(other)]).toEqual([[null, null], [null]])
  await desk.send()
  expect([await endingsOf(gone), await endingsOf(other)]).toEqual([["gone", "gone"], [null]])
  await desk.send()
  expect(await endingsOf(other)).toEqual(["delivered"])
})

test("a receiver that is slow is waited for a bounded time, and holds up no other account", async () => {
  const silent = (async function* () {
    await new Promise(() => undefined)
    yield ""
  })()
  const silentJobs: string[] = []
  const desk = await callbackDesk(request => (silentJobs.some(id => request.includes(id)) ? () => silent : status(200)))
  const [slow, other] = [await desk.finished(), await desk.finished()]
  silentJobs.push(slow.id)
  const bob = await newAccount(desk.log, "bob@example.com")
  await desk.store.run("UPDATE callbacks SET account_id = $1 WHERE job_id = $2", [bob, other.id])
  await desk.store.run(
    "INSERT INTO callback_secrets (account_id, secret, made_at_ms) SELECT $1, secret, made_at_ms FROM callback_secrets",
    [bob],
  )
  await desk.sender.sendDue()
  while ((await desk.stateOf(other.id))?.ending === null) await desk.time.tick(0)
  expect(await desk.stateOf(other.id)).toMatchObject({ ending: "delivered" })
  expect(await desk.stateOf(slow.id)).toMatchObject({ attemptCount: 1, result: null, ending: null })
  await desk.time.tick(CALLBACK_LIMITS.timeoutSeconds * 1000)
  await desk.sender.whenIdle()
  expect(await desk.stateOf(slow.id)).toMatchObject({ attemptCount: 1, result: "timed_out", ending: null })
  expect(desk.web.openCount()).toBe(0)
})

test("slow receivers of many accounts hold up another account for two seconds", async () => {
  const silent = (async function* () {
    await new Promise(() => undefined)
    yield ""
  })()
  const hosts = Array.from({ length: 40 }, (_, at): [string, readonly string[]] => [`A crm${at}.acme.com`, [HOST]])
  const desk = await callbackDesk(request => (request.includes("slow") ? () => silent : status(200)), {
    ...dnsOf(HOST),
    ...Object.fromEntries(hosts),
  })
  const { id } = await desk.finished()
  // The callback and its job once more for many accounts, all of them due earlier, and of hosts of their own.
  const columns = async (table: string) => Object.keys((await desk.store.one(`SELECT * FROM ${table}`)) ?? {})
  const copied = async (table: string, changes: Readonly<Record<string, string>>) => {
    const names = await columns(table)
    const values = names.map(name => changes[name] ?? name)
    await desk.store.run(
      `INSERT INTO ${table} (${names}) SELECT ${values} FROM ${table} WHERE ${table === "jobs" ? "id" : table === "callbacks" ? "job_id" : "account_id"} = $1`,
      [table === "callback_secrets" ? desk.accountId : id],
    )
  }
  for (let at = 0; at < 40; at++) {
    const account = `'${await newAccount(desk.log, `slow${at}@example.com`)}'`
    const job = `'job_slow${at}'`
    await copied("jobs", { id: job, account_id: account, callback_url: `'https://crm${at}.acme.com/slow'` })
    await copied("callbacks", { id: `'msg_slow${at}'`, account_id: account, job_id: job, due_at_ms: "due_at_ms - 1" })
    await copied("callback_secrets", { account_id: account })
  }
  await desk.sender.sendDue()
  await desk.time.tick(1999)
  await desk.sender.sendDue()
  expect((await desk.stateOf(id))?.attemptCount).toBe(0)
  await desk.time.tick(1)
  await desk.sender.sendDue()
  for (let turn = 0; turn < 1000 && (await desk.stateOf(id))?.ending === null; turn++) await desk.time.tick(0)
  expect(await desk.stateOf(id)).toMatchObject({ ending: "delivered" })
  await desk.time.tick(CALLBACK_LIMITS.timeoutSeconds * 1000)
  await desk.sender.whenIdle()
})

test("what a process was sending when it died is sent by another one, with the same id", async () => {
  const desk = await callbackDesk(() => status(200))
  const silent = hostWeb({ [`${HOST}:443`]: "silent" })
  const { id } = await desk.finished()
  await desk.senderOver(silent.connect).sendDue()
  while (silent.requests.length === 0) await desk.time.tick(0)
  await desk.send()
  expect(desk.web.requests).toHaveLength(0)
  await desk.untilDue(id)
  await desk.send()
  const ids = [silent.requests[0] ?? "", desk.web.requests[0] ?? ""].map(
    request => received(request).headers["webhook-id"],
  )
  expect(ids[1]).toBe(ids[0])
  expect(await desk.stateOf(id)).toMatchObject({ ending: "delivered", attemptCount: 2 })
})

test("two processes that look at the same time send a callback once", async () => {
  const desk = await callbackDesk(() => status(200))
  await desk.finished()
  const senders = [desk.senderOver(), desk.senderOver(), desk.senderOver()]
  await Promise.all(senders.map(sender => desk.send(sender)))
  expect(desk.web.requests).toHaveLength(1)
})

test("a former secret signs too for a day, and not after that", async () => {
  const desk = await callbackDesk(() => status(200))
  const former = desk.secret
  const secret = await desk.rotate()
  await desk.finished()
  await desk.send()
  for (const of of [former, secret]) expect(() => verified(of, desk.web.requests[0] ?? "")).not.toThrow()
  desk.state.now += CALLBACK_LIMITS.formerSecretHours * 3_600_000 + 1
  const { id } = await desk.finished()
  await desk.send()
  const { headers } = received(desk.web.requests[1] ?? "")
  expect([headers["webhook-id"]?.includes(id), headers["webhook-signature"]?.split(" ").length]).toEqual([true, 1])
})

test("the callbacks of a job go with it, and those of an account with the account", async () => {
  const desk = await callbackDesk(() => status(500))
  const [one, other] = [await desk.finished(), await desk.finished()]
  await deleteJob(desk.store, one.id)
  expect(await listCallbacks(desk.store, one.id)).toEqual([])
  expect(await listCallbacks(desk.store, other.id)).toHaveLength(1)
  await removeAccount(desk.log, desk.accountId)
  for (const table of ["callbacks", "callback_secrets"])
    expect(await desk.store.all(`SELECT * FROM ${table}`)).toEqual([])
})

test("the export of an account has its callbacks and not its secret", async () => {
  const desk = await callbackDesk(() => status(200))
  await desk.finished()
  await desk.send()
  let text = ""
  for await (const part of exportAccount(desk.store, desk.state.now, desk.accountId)) text += part
  const { callbacks } = JSON.parse(text) as { callbacks: readonly { event: string; ending: string }[] }
  expect(callbacks).toMatchObject([{ event: "job.done", ending: "delivered" }])
  expect(text).not.toContain(desk.secret.replace("whsec_", ""))
})
