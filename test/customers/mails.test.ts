import { describe, expect, test } from "bun:test"
import { FaultLog } from "../../src/base/fault-log.ts"
import type { Log } from "../../src/base/log.ts"
import { whenTrusted } from "../../src/base/trusted-clock.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { insertAccount } from "../../src/customers/accounts/accounts.ts"
import { createKey } from "../../src/customers/keys/keys.ts"
import { createMailService, type MailService, warnOfUnprotectedMail } from "../../src/customers/mails.ts"
import { MAIL_QUIET_MS, MAIL_TRIAL_MS } from "../../src/customers/notices/mail-outages.ts"
import type { OutgoingMail, SendResult } from "../../src/customers/notices/mailer.ts"
import { SERVER_ACTOR } from "../../src/customers/store/change-log/actor.ts"
import { acceptTerms, publishTerms } from "../../src/customers/terms/terms.ts"
import { createSystem } from "../../src/system/system.ts"
import type { Logged } from "../support/app.ts"
import { trustedTime } from "../support/clock.ts"
import { pollOver } from "../support/database-poll.ts"
import { MAIL_SERVER_AWAY } from "../support/smtp-server.ts"
import { createFakeTime, settled } from "../support/time.ts"
import { outboxRows } from "./notices/outbox-rows.ts"
import { newAccount, random, tempStore } from "./temp-store.ts"

const DAY_MS = 86_400_000
const SMTP = { MAILKIND_SMTP_URL: "smtp://me:hunter2@mx.example.com:2525" }

type Options = {
  readonly answer?: () => Promise<SendResult>
  readonly baseUrl?: string
  /** Whether the background is at work; else a test does what would be done there. */
  readonly isAtWork?: boolean
}

async function opened(
  environment: Readonly<Record<string, string>>,
  { answer, baseUrl = "https://mk.example.com", isAtWork = false }: Options = {},
) {
  const read = parseSettings(environment)
  if (read.kind === "faulty") throw new Error(read.faults.join())
  const { settings } = read
  const store = await tempStore()
  const time = createFakeTime()
  const sent: OutgoingMail[] = []
  const urls: string[] = []
  const logged: Logged[] = []
  let isClosed = false
  const mailer = (url: string) => {
    urls.push(url)
    return {
      send: async (mail: OutgoingMail): Promise<SendResult> => {
        sent.push(mail)
        return (await answer?.()) ?? { kind: "accepted" }
      },
      tryServer: async (): Promise<SendResult> => (await answer?.()) ?? { kind: "accepted" },
      close: () => {
        isClosed = true
      },
    }
  }
  const { clock, stopwatch, later } = time
  const every = (everyMs: number, work: () => void) => {
    if (!isAtWork) return () => undefined
    let cancel = later(everyMs, function again() {
      work()
      cancel = later(everyMs, again)
    })
    return () => cancel()
  }
  const { poll, claims } = pollOver(store, clock)
  const start = () => {
    const world = {
      ...createSystem(),
      clock,
      stopwatch,
      setTimer: later,
      random,
      openMailer: mailer,
      runInterval: every,
    }
    const log: Log = (level, message, fields = {}) => void logged.push({ level, message, fields })
    const mails = createMailService(
      { system: world, settings, store, log, trustedTime: trustedTime(clock), poll, claims },
      new FaultLog(log, { stopwatch, runInterval: every, describe: () => ({}) }),
      () => baseUrl,
    )
    mails.start()
    return mails
  }
  const log = { store, clock, notify: () => undefined, actor: SERVER_ACTOR }
  const prune = (mails: MailService) => whenTrusted(trustedTime(clock), nowMs => mails.prune(nowMs, 1000))
  return { store, log, time, sent, urls, logged, start, prune, mails: start(), isClosed: () => isClosed, poll }
}

const sentCount = async (store: Parameters<typeof outboxRows>[0]): Promise<number> =>
  (await outboxRows(store)).filter(({ ending }) => ending === "sent").length

const notices = async (store: Parameters<typeof outboxRows>[0]) => (await outboxRows(store)).map(({ ending }) => ending)

test("what lies in the outbox goes with the next poll through the server of the setting", async () => {
  const { log, poll, sent, urls } = await opened(
    { ...SMTP, MAILKIND_MAIL_FROM: "mailkind <notices@example.com>" },
    { isAtWork: true },
  )
  const accountId = await newAccount(log)
  await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
  await poll.poll()
  await settled()
  expect(urls).toEqual([SMTP.MAILKIND_SMTP_URL])
  expect(sent).toMatchObject([{ to: "jane@example.com", from: "mailkind <notices@example.com>" }])
  expect(sent[0]?.messageId).toEndWith("@example.com")
})

test("without a mail server mails wait and no age is told of them, for which an alert would fire for good", async () => {
  for (const [given, count] of [
    [SMTP, 1],
    [{}, 0],
  ] as const) {
    const { mails, log } = await opened(given)
    await createKey(log, random, { accountId: await newAccount(log), kind: "secret", name: null, origins: [] })
    const samples = await mails.queriedSamples[0].read()
    const waiting = samples.find(
      ([name, , ...labels]) => `${name} ${labels}` === "mailkind_outbox_mails key_created,waiting",
    )
    expect(waiting?.[1]).toBe(1)
    expect(samples.filter(([name]) => name === "mailkind_outbox_oldest_waiting_seconds")).toHaveLength(count)
  }
})

test("without a sender's address mails come from the host of the base address", async () => {
  for (const [baseUrl, from] of [
    ["https://mk.example.com:8443/mk", "mailkind@mk.example.com"],
    ["http://127.0.0.1:8080", "mailkind@localhost"],
    ["http://[::1]:8080", "mailkind@localhost"],
  ] as const) {
    const { mails, sent } = await opened(SMTP, { baseUrl })
    await mails.sendNow("jane@example.com", {
      kind: "sign_in",
      params: { link: `${baseUrl}/x`, code: "123456", minutes: 15 },
    })
    expect(sent).toMatchObject([{ from, to: "jane@example.com", subject: "123456 is your mailkind code" }])
  }
})

test("a metric tells that the mail server takes no mail, though it is one for a sign-in, and that it is back, though nothing is sent any more", async () => {
  const state = { isAway: true }
  const { mails, store, time } = await opened(SMTP, {
    answer: async () => (state.isAway ? MAIL_SERVER_AWAY : { kind: "accepted" }),
  })
  const notice = { kind: "sign_in", params: { link: "https://x.example", code: "123456", minutes: 15 } } as const
  expect(mails.samples()).toEqual([["mailkind_mail_up", 1]])
  await mails.sendNow("jane@example.com", notice)
  expect(mails.samples()).toEqual([["mailkind_mail_up", 0]])
  expect(await notices(store)).toEqual([])
  await time.tick(MAIL_TRIAL_MS)
  expect(mails.samples()).toEqual([["mailkind_mail_up", 0]])
  state.isAway = false
  await time.tick(MAIL_TRIAL_MS + MAIL_QUIET_MS)
  expect(mails.samples()).toEqual([["mailkind_mail_up", 1]])
})

describe("without a server", () => {
  test("mails stay in the outbox for 30 days, and the log tells how many went then", async () => {
    const { store, log, time, sent, logged, mails, prune } = await opened({})
    const accountId = await newAccount(log)
    await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
    await time.tick(29 * DAY_MS)
    await prune(mails)
    expect(await notices(store)).toEqual([null])
    await time.tick(DAY_MS + 1)
    await prune(mails)
    expect(await notices(store)).toEqual([])
    expect(sent).toEqual([])
    expect(logged).toEqual([
      { level: "warn", message: "mails that could not be sent for a month were deleted", fields: { count: 1 } },
    ])
  })

  test("what is to be sent now is not, says so, and is no outage", async () => {
    const { store, mails } = await opened({})
    const notice = { kind: "sign_in", params: { link: "https://x.example", code: "123456", minutes: 15 } } as const
    expect(await mails.sendNow("jane@example.com", notice)).toEqual({ kind: "no_server" })
    expect(mails.samples()).toEqual([["mailkind_mail_up", 1]])
    expect(await notices(store)).toEqual([])
  })
})

test("the terms clock: each mail goes once, over restarts, a clock that is set, the end of the notice and an acceptance", async () => {
  const ACCOUNTS = 1200
  const { store, log, time, sent, mails, start, prune } = await opened(SMTP)
  for (let at = 0; at < ACCOUNTS; at++)
    await insertAccount(store, `acc_${at}`, 1, { email: `u${at}@example.com`, tier: 0, termsVersion: null })
  await publishTerms(log, { version: "2", url: "https://example.com/2", isMaterial: true })
  await mails.pollOutbox()
  await mails.stop()
  expect(sent.length).toBeLessThan(ACCOUNTS)
  const again = start()
  for (let left = 1000; left > 0 && (await sentCount(store)) < ACCOUNTS; left--) await again.pollOutbox()
  for (const ms of [29 * DAY_MS + 23 * 3_600_000, 3_600_000 - 1, 1]) {
    await time.tick(ms)
    await again.pollOutbox()
    await prune(again)
  }
  await again.stop()
  const last = start()
  await acceptTerms(log, "acc_1")
  await time.tick(40 * DAY_MS)
  await prune(last)
  await last.pollOutbox()
  await last.stop()
  expect(new Set(sent.map(({ to }) => to)).size).toBe(ACCOUNTS)
  expect(sent).toHaveLength(ACCOUNTS)
})

test("a stop waits for what is under way, but not for a server that never answers", async () => {
  const answer = Promise.withResolvers<SendResult>()
  const { store, log, time, mails, isClosed } = await opened(SMTP, { answer: () => answer.promise })
  const accountId = await newAccount(log)
  await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
  await mails.pollOutbox()
  await time.tick(0)
  let isOver = false
  const end = mails.stop().then(() => {
    isOver = true
  })
  await time.tick(2999)
  expect([isClosed(), isOver]).toEqual([false, false])
  await time.tick(1)
  expect(isClosed()).toBe(true)
  answer.resolve(MAIL_SERVER_AWAY)
  await end
  const [row] = await outboxRows(store)
  expect([row?.claim, row?.ending]).toEqual([null, null])
})

test("the start warns of a mail server that is neither encrypted for sure nor verified, once and without a secret", () => {
  for (const [url, count] of [
    ["smtp://mx.example.com", 1],
    ["smtp://mx.example.com?tls=required", 0],
    ["smtp://me:hunter2@mx.example.com", 0],
    ["smtps://mx.example.com", 0],
    ["smtp://127.0.0.1:1025", 0],
  ] as const) {
    const read = parseSettings({ MAILKIND_SMTP_URL: url })
    if (read.kind === "faulty") throw new Error(read.faults.join())
    const logged: unknown[] = []
    warnOfUnprotectedMail({ settings: read.settings, log: (...line) => void logged.push(line) })
    expect([url, logged.length]).toEqual([url, count])
    if (count > 0)
      expect(logged).toEqual([
        ["warn", expect.any(String), { where: "mx.example.com:587", remedy: expect.stringContaining("tls=required") }],
      ])
  }
})
