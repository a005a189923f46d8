import { describe, expect, test } from "bun:test"
import type { SendResult } from "../../../src/customers/notices/mailer.ts"
import type { Notice } from "../../../src/customers/notices/notices.ts"
import { SIGN_IN_MAIL_BOUNDS, SignInMails } from "../../../src/customers/sign-in/sign-in-mails.ts"
import type { Logged } from "../../support/app.ts"
import { MAIL_SERVER_AWAY } from "../../support/smtp-server.ts"
import { createFakeTime, settled } from "../../support/time.ts"

const MAIL = { to: "jane@example.com", link: "https://mk.example.com/sign-in/link?token=x", code: "012345" }
const ACCEPTED: SendResult = { kind: "accepted" }
const LATER: SendResult = { kind: "refused", isPermanent: false, reply: 451 }
const NEVER: SendResult = { kind: "refused", isPermanent: true, reply: 550 }
type Answer = SendResult | { readonly kind: "no_server" }

/** Mails in a time that stands still, whose server says what `answer` says. */
function opened(
  answer: (count: number) => Answer | Promise<Answer>,
  { isSending = true, bounds = SIGN_IN_MAIL_BOUNDS } = {},
) {
  const time = createFakeTime()
  const tried: { readonly to: string; readonly notice: Notice; readonly atMs: number }[] = []
  const logged: Logged[] = []
  const mails = new SignInMails(
    {
      ...{ stopwatch: time.stopwatch, setTimer: time.later, mailServer: isSending ? "mx.example.com:25" : null },
      log: (level, message, fields = {}) => void logged.push({ level, message, fields }),
      sendNow: async (to, notice) => {
        tried.push({ to, notice, atMs: time.stopwatch() })
        return await answer(tried.length)
      },
    },
    bounds,
  )
  return { time, tried, logged, mails }
}

test("a mail is sent once, with its link, its code and the minutes that they are good for", async () => {
  const { time, tried, logged, mails } = opened(() => ACCEPTED)
  mails.send(MAIL)
  await time.tick(3_600_000)
  const { link, code } = MAIL
  expect(tried).toEqual([{ to: MAIL.to, notice: { kind: "sign_in", params: { link, code, minutes: 15 } }, atMs: 0 }])
  expect(logged).toMatchObject([{ level: "debug" }])
  expect(time.waiting()).toBe(0)
})

describe.each([
  ["wants it later", LATER],
  ["is away", MAIL_SERVER_AWAY],
] as const)("while the server %s", (_, temporary) => {
  test("a mail is tried again, and tells how many minutes are left", async () => {
    const { time, tried, mails } = opened(count => (count < 4 ? temporary : ACCEPTED))
    mails.send(MAIL)
    await time.tick(3_600_000)
    expect(tried.map(({ atMs }) => atMs)).toEqual([0, 15_000, 60_000, 120_000])
    const minutes = tried.map(({ notice }) => (notice.kind === "sign_in" ? notice.params.minutes : 0))
    expect(minutes).toEqual([15, 15, 14, 13])
  })

  test("it is given up before the sign-in is over, and the log tells no address, link or code", async () => {
    const { time, tried, logged, mails } = opened(() => temporary)
    mails.send(MAIL)
    await time.tick(3_600_000)
    expect(tried.at(-1)?.atMs).toBe(600_000)
    // What an outage costs is logged with that.
    const level = temporary.kind === "unavailable" ? "debug" : "warn"
    expect(logged).toMatchObject([{ level, fields: { reply: temporary.reply } }])
    expect(JSON.stringify(logged)).not.toMatch(/jane|token|012345/)
    expect(time.waiting()).toBe(0)
  })
})

test("a mail that is refused for good is not tried again", async () => {
  const { time, tried, logged, mails } = opened(() => NEVER)
  mails.send(MAIL)
  await time.tick(3_600_000)
  expect(tried).toHaveLength(1)
  expect(logged).toMatchObject([
    { level: "warn", fields: { where: "mx.example.com:25", reply: 550, remedy: expect.any(String) } },
  ])
  expect(JSON.stringify(logged)).not.toMatch(/jane|token|012345/)
})

test("a mail whose turn comes when its sign-in is over is not sent", async () => {
  const first = Promise.withResolvers<SendResult>()
  const { time, tried, logged, mails } = opened(() => first.promise, {
    bounds: { ...SIGN_IN_MAIL_BOUNDS, concurrentMax: 1 },
  })
  mails.send(MAIL)
  mails.send({ ...MAIL, to: "late@example.com" })
  await time.tick(900_000 - 29_999)
  first.resolve(ACCEPTED)
  await settled()
  expect(tried).toHaveLength(1)
  expect(logged.map(({ level }) => level)).toEqual(["debug", "warn"])
})

test("a few mails are under way at once, and only so many wait", async () => {
  const gate = Promise.withResolvers<SendResult>()
  const bounds = { concurrentMax: 2, pendingMax: 5, retriesMs: [] }
  const { tried, logged, mails } = opened(() => gate.promise, { bounds })
  for (let count = 0; count < 7; count++) mails.send(MAIL)
  await settled()
  expect(tried).toHaveLength(2)
  expect(logged.map(({ level }) => level)).toEqual(["warn", "warn"])
  gate.resolve(ACCEPTED)
  await settled()
  expect(tried).toHaveLength(5)
  mails.send(MAIL)
  await settled()
  expect(tried).toHaveLength(6)
})

describe("what no mail reaches is written to the log", () => {
  test.each([
    ["without a server", { isSending: false }, "jane@example.com"],
    ["for an address of the first start", { isSending: true }, "owner@localhost"],
    ["for an address that is reserved", { isSending: true }, "jane@example.invalid"],
  ])("%s: link and code, and no address", (_, options, to) => {
    const { tried, logged, mails } = opened(() => ACCEPTED, options)
    expect(mails.isLogged(to)).toBe(true)
    mails.send({ ...MAIL, to })
    expect(tried).toEqual([])
    expect(logged).toMatchObject([{ level: "info", fields: { link: MAIL.link, code: MAIL.code } }])
    expect(JSON.stringify(logged)).not.toMatch(/jane|owner|localhost|invalid/)
  })

  test("and of others nothing is", () => {
    expect(opened(() => ACCEPTED).mails.isLogged("jane@example.com")).toBe(false)
  })
})

test("an end leaves nothing waiting, and nothing is tried after it", async () => {
  const { time, tried, mails } = opened(() => LATER)
  mails.send(MAIL)
  await settled()
  expect(time.waiting()).toBe(1)
  mails.stop()
  expect(time.waiting()).toBe(0)
  mails.send(MAIL)
  await time.tick(3_600_000)
  expect(tried).toHaveLength(1)
})

test("a mail that is under way at the end is not tried again", async () => {
  const gate = Promise.withResolvers<SendResult>()
  const { time, tried, mails } = opened(() => gate.promise)
  mails.send(MAIL)
  await settled()
  mails.stop()
  gate.resolve(MAIL_SERVER_AWAY)
  await settled()
  expect([tried.length, time.waiting()]).toEqual([1, 0])
})

test("a fault of ours is told to the log without what it says", async () => {
  const { logged, mails } = opened(() => Promise.reject(new TypeError(MAIL.to)))
  mails.send(MAIL)
  await settled()
  expect(logged).toMatchObject([{ level: "error", fields: { error: "TypeError" } }])
  expect(JSON.stringify(logged)).not.toContain("jane")
})
