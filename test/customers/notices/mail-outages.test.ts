import { expect, test } from "bun:test"
import { FaultLog, REMINDER_MS } from "../../../src/base/fault-log.ts"
import type { LogFields } from "../../../src/base/log.ts"
import { MAIL_QUIET_MS, MAIL_TRIAL_MS, withOutageLog } from "../../../src/customers/notices/mail-outages.ts"
import type { SendResult } from "../../../src/customers/notices/mailer.ts"
import { MAIL_SERVER_AWAY } from "../../support/smtp-server.ts"
import { createFakeTime } from "../../support/time.ts"

const ACCEPTED: SendResult = { kind: "accepted" }
const LATER: SendResult = { kind: "refused", isPermanent: false, reply: 451 }
const MAIL = { from: "a@b.example", to: "jane@c.example", subject: "", text: "", html: "", messageId: "x@y", dateMs: 0 }

/** A mailer whose server says what it is told to, and what is logged of it. */
function desk() {
  const time = createFakeTime()
  const lines: (readonly [message: string, fields: LogFields])[] = []
  const runInterval = (everyMs: number, work: () => void): (() => void) => {
    let cancel = time.later(everyMs, function again() {
      work()
      cancel = time.later(everyMs, again)
    })
    return () => cancel()
  }
  const log = new FaultLog((_level, message, fields = {}) => void lines.push([message, fields]), {
    stopwatch: time.stopwatch,
    runInterval,
    describe: () => ({}),
  })
  let says: SendResult = ACCEPTED
  const trials: string[] = []
  const told = { others: 0 }
  const server = {
    send: async () => says,
    tryServer: async (from: string) => {
      trials.push(from)
      return says
    },
    close: () => undefined,
  }
  const shareEnd = (): void => void told.others++
  const mailer = withOutageLog(server, { faults: log, setTimer: time.later, from: () => "a@b.example", shareEnd })
  const answer = (sending: SendResult): void => {
    says = sending
  }
  const send = async (sending: SendResult): Promise<void> => {
    answer(sending)
    expect(await mailer.send(MAIL)).toBe(sending)
  }
  return { time, send, answer, mailer, trials, told, takeLines: () => lines.splice(0) }
}

test("an outage of the mail server is one line when it begins, one a minute, and one when it ends, however many mails fail", async () => {
  const { time, send, takeLines } = desk()
  for (let count = 0; count < 1000; count++) await send(MAIL_SERVER_AWAY)
  expect(takeLines()).toEqual([
    [
      "no mail can be sent now",
      {
        fault: "no_mail",
        where: "127.0.0.1:25",
        why: "ECONNECTION: connect ECONNREFUSED 127.0.0.1:25",
        remedy: expect.stringContaining("MAILKIND_SMTP_URL"),
      },
    ],
  ])
  await time.tick(REMINDER_MS)
  expect(takeLines()).toMatchObject([["a fault continues", { fault: "no_mail", failed_tasks: 999 }]])
  await time.tick(10 * REMINDER_MS)
  expect(takeLines()).toEqual([])
  await send(LATER)
  await time.tick(MAIL_QUIET_MS)
  expect(takeLines()).toMatchObject([["mails can be sent again", { lasted_s: 660, failed_tasks: 999 }]])
})

test("a server that fails every other mail has one outage, which ends when it has not failed for a while", async () => {
  const { time, send, mailer, takeLines } = desk()
  expect(mailer.isAway()).toBe(false)
  for (let count = 0; count < 5; count++) {
    await send(MAIL_SERVER_AWAY)
    await send(ACCEPTED)
    await time.tick(MAIL_QUIET_MS - 1)
    expect(mailer.isAway()).toBe(true)
  }
  expect(takeLines()).toMatchObject([["no mail can be sent now", {}]])
  await time.tick(1)
  expect(takeLines()).toMatchObject([["mails can be sent again", { failed_tasks: 4 }]])
  expect(mailer.isAway()).toBe(false)
  await send(MAIL_SERVER_AWAY)
  expect(takeLines()).toHaveLength(1)
})

test("what the end of the process cuts off is no outage, and leaves no timer", async () => {
  const { time, send, mailer, takeLines } = desk()
  mailer.close()
  await send(MAIL_SERVER_AWAY)
  expect([takeLines(), time.waiting()]).toEqual([[], 0])
})

test("an outage ends though nothing is sent any more, since the server is tried, seldom and without a mail", async () => {
  const { time, send, answer, mailer, trials, takeLines } = desk()
  await send(MAIL_SERVER_AWAY)
  takeLines()
  await time.tick(10 * MAIL_TRIAL_MS)
  expect([trials, mailer.isAway(), takeLines()]).toEqual([Array(10).fill("a@b.example"), true, []])
  answer(LATER)
  await time.tick(MAIL_TRIAL_MS + MAIL_QUIET_MS)
  expect([trials.length, mailer.isAway()]).toEqual([11, false])
  expect(takeLines()).toMatchObject([["mails can be sent again", { failed_tasks: 0 }]])
  await time.tick(10 * MAIL_TRIAL_MS)
  expect([trials.length, time.waiting()]).toEqual([11, 0])
})

test("who has nothing to send takes the end that another worker has seen, at once, and tells the others only of an end of its own", async () => {
  const { time, send, mailer, trials, told, takeLines } = desk()
  mailer.noteEnd()
  expect([time.waiting(), told.others]).toEqual([0, 0])
  await send(MAIL_SERVER_AWAY)
  mailer.noteEnd()
  mailer.noteEnd()
  expect([time.waiting(), told.others]).toEqual([0, 0])
  expect(takeLines().map(([message]) => message)).toEqual(["no mail can be sent now", "mails can be sent again"])
  expect([trials, mailer.isAway()]).toEqual([[], false])
  await send(MAIL_SERVER_AWAY)
  await send(ACCEPTED)
  await time.tick(MAIL_QUIET_MS)
  expect(told.others).toBe(1)
})
