import { describe, expect } from "bun:test"
import { MAIL_SENDER_BOUNDS, MailSender } from "../../../src/customers/notices/mail-sender.ts"
import type { OutgoingMail, SendResult } from "../../../src/customers/notices/mailer.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import type { Logged } from "../../support/app.ts"
import { trustedTime } from "../../support/clock.ts"
import { MAIL_SERVER_AWAY } from "../../support/smtp-server.ts"
import { createFakeTime } from "../../support/time.ts"
import { test } from "../engines.ts"
import { newAccount, random, tempLog, tempStore } from "../temp-store.ts"
import { outboxRows, post } from "./outbox-rows.ts"

const ACCEPTED: SendResult = { kind: "accepted" }
const LATER: SendResult = { kind: "refused", isPermanent: false, reply: 450 }
const NEVER: SendResult = { kind: "refused", isPermanent: true, reply: 550 }
const { retry, pause, leaseMs, givenUpAfterMs, concurrentMax: atOnceMax } = MAIL_SENDER_BOUNDS

/** A sender over a real store, in a time that stands still, whose server says what `answer` says. */
async function opened(
  answer: (mail: OutgoingMail) => SendResult | Promise<SendResult>,
  wrap: (store: Store) => Store = store => store,
) {
  const store = await tempStore()
  const time = createFakeTime()
  const tried: OutgoingMail[] = []
  const logged: Logged[] = []
  const accountId = await newAccount(tempLog(store))
  const newSender = () =>
    new MailSender({
      store: wrap(store),
      clock: time.clock,
      stopwatch: time.stopwatch,
      trustedTime: trustedTime(time.clock),
      random,
      mailer: {
        send: async mail => {
          tried.push(mail)
          return await answer(mail)
        },
      },
      mailServer: "mx.example.com:25",
      from: () => "mailkind <notices@mail.example.com>",
      linkContext: () => ({ baseUrl: "https://mk.example.com" }),
      log: (level, message, fields = {}) => void logged.push({ level, message, fields }),
    })
  const sender = newSender()
  const turn = async (): Promise<void> => {
    sender.sendDue()
    await sender.whenIdle()
  }
  return {
    store,
    time,
    tried,
    logged,
    accountId,
    sender,
    newSender,
    turn,
    postNow: (subject?: string) => post(store, accountId, subject, time.clock()),
  }
}

const endings = async (store: Store): Promise<readonly (string | null)[]> =>
  (await outboxRows(store)).map(({ ending }) => ending)

test("a mail that a server took is sent, and never again", async () => {
  const { store, time, tried, turn, postNow } = await opened(() => ACCEPTED)
  await postNow()
  await turn()
  expect(tried).toMatchObject([
    { to: "jane@example.com", from: "mailkind <notices@mail.example.com>", dateMs: time.clock() },
  ])
  expect(tried[0]?.text).toContain("https://mk.example.com/dashboard")
  await time.tick(30 * 86_400_000)
  await turn()
  expect(tried).toHaveLength(1)
  expect(await endings(store)).toEqual(["sent"])
})

test("everything that is due is sent in one turn, so many at once", async () => {
  let [now, most] = [0, 0]
  const full = Promise.withResolvers<void>()
  const { store, turn, postNow } = await opened(async () => {
    most = Math.max(most, ++now)
    if (now === atOnceMax) full.resolve()
    await full.promise
    now--
    return ACCEPTED
  })
  for (let at = 0; at < 20; at++) await postNow(`key_${at}`)
  await turn()
  expect(await endings(store)).toEqual(Array(20).fill("sent"))
  expect(most).toBe(atOnceMax)
})

test("a slow mail keeps no other from being sent", async () => {
  const slow = Promise.withResolvers<SendResult>()
  const { store, tried, sender, postNow, time } = await opened(mail =>
    tried.length === 1 && mail === tried[0] ? slow.promise : ACCEPTED,
  )
  await postNow("key_slow")
  sender.sendDue()
  await time.tick(0)
  for (let at = 0; at < 10; at++) await postNow(`key_${at}`)
  sender.sendDue()
  for (let at = 0; at < 10; at++) await time.tick(0)
  expect((await endings(store)).filter(ending => ending === "sent")).toHaveLength(10)
  slow.resolve(ACCEPTED)
  await sender.whenIdle()
  expect((await endings(store)).filter(ending => ending === "sent")).toHaveLength(11)
})

test("what a server refuses for good is not tried again, and the log says neither to whom nor why", async () => {
  const { store, time, tried, logged, turn, accountId, postNow } = await opened(() => NEVER)
  await postNow()
  await turn()
  await time.tick(givenUpAfterMs)
  await turn()
  expect(tried).toHaveLength(1)
  expect(await endings(store)).toEqual(["refused"])
  expect(logged).toEqual([
    {
      level: "warn",
      message: "a mail was refused permanently",
      fields: {
        ...{ notice: "key_created", account: accountId, reply: 550, where: "mx.example.com:25" },
        remedy: expect.stringContaining("MAILKIND_MAIL_FROM"),
      },
    },
  ])
})

describe("greylisting", () => {
  test("a mail that is wanted later is tried later, with the same message id and date", async () => {
    const { store, time, tried, turn, postNow } = await opened(() => (tried.length < 2 ? LATER : ACCEPTED))
    await postNow()
    await turn()
    await time.tick(retry.firstMs * 0.75 - 1)
    await turn()
    expect(tried).toHaveLength(1)
    await time.tick(retry.firstMs * 0.25 + 1)
    await turn()
    expect(await endings(store)).toEqual(["sent"])
    expect(tried[1]).toEqual(tried[0] as OutgoingMail) // its length is 2
  })

  test("it is tried less and less often, never less often than the bound, and given up after days", async () => {
    const { store, time, tried, logged, turn, accountId, postNow } = await opened(() => LATER)
    await postNow()
    const startedAt = time.clock()
    const at: number[] = []
    for (let left = 10_000; left > 0 && (await endings(store))[0] === null; left--) {
      await turn()
      if (tried.length > at.length) at.push(time.clock() - startedAt)
      await time.tick(60_000)
    }
    expect(at.length).toBeGreaterThan(60)
    expect(at.length).toBeLessThan(90)
    const last = at.at(-1) ?? 0
    expect(last).toBeGreaterThanOrEqual(givenUpAfterMs)
    expect(last).toBeLessThanOrEqual(givenUpAfterMs + retry.msMax + 60_000)
    expect(logged.at(-1)).toEqual({
      level: "warn",
      message: "a mail was tried for days and is given up",
      fields: {
        ...{ notice: "key_created", account: accountId, reply: 450, where: "mx.example.com:25" },
        remedy: expect.stringContaining("doctor --only smtp"),
      },
    })
    expect(await endings(store)).toEqual(["given_up"])
  })

  test("other mails are sent meanwhile", async () => {
    const { store, tried, turn, postNow } = await opened(() => (tried.length === 1 ? LATER : ACCEPTED))
    await postNow("key_1")
    await postNow("key_2")
    await turn()
    expect(new Set(await endings(store))).toEqual(new Set([null, "sent"]))
  })
})

describe("no server", () => {
  test("all mails wait, for longer each time up to the bound, and go when the server is back", async () => {
    let isUnavailable = true
    const { store, time, tried, logged, turn, sender, postNow } = await opened(() =>
      isUnavailable ? MAIL_SERVER_AWAY : ACCEPTED,
    )
    for (let at = 0; at < 10; at++) await postNow(`key_${at}`)
    const gaps: number[] = []
    for (let left = 3000, since = time.clock(), count = 0; left > 0 && gaps.length < 12; left--) {
      await turn()
      if (tried.length > count) gaps.push(time.clock() - since)
      if (tried.length > count) since = time.clock()
      count = tried.length
      await time.tick(1000)
    }
    expect(Math.max(...gaps)).toBeLessThanOrEqual(pause.msMax + 1000)
    expect(gaps.at(-1)).toBeGreaterThan(pause.msMax / 2)
    expect(tried.length).toBeLessThanOrEqual(12 * atOnceMax)
    expect(logged).toEqual([])
    expect(sender.isPaused()).toBe(true)
    isUnavailable = false
    await time.tick(pause.msMax)
    await turn()
    expect(await endings(store)).toEqual(Array(10).fill("sent"))
  })

  test("that counts against no mail: its first refusal is followed by the shortest delay", async () => {
    const { store, time, tried, turn, postNow } = await opened(() => (tried.length < 9 ? MAIL_SERVER_AWAY : LATER))
    await postNow()
    for (let at = 0; at < 8; at++) {
      await turn()
      await time.tick(pause.msMax)
    }
    await turn()
    const [row] = await outboxRows(store)
    expect(row?.refusalCount).toBe(1)
    expect((row?.dueAtMs ?? 0) - time.clock()).toBeLessThanOrEqual(retry.firstMs)
  })
})

describe("clocks that are set", () => {
  test("a mail that waits is tried at once when the clock goes forward, before it is given up", async () => {
    const { store, time, tried, turn, postNow } = await opened(() => (tried.length < 2 ? LATER : ACCEPTED))
    await postNow()
    await turn()
    await time.tick(10 * givenUpAfterMs)
    await turn()
    expect(await endings(store)).toEqual(["sent"])
  })

  test("a mail that was written before the clock was set back does not wait until then", async () => {
    const { store, time, accountId, sender, turn } = await opened(() => ACCEPTED)
    await post(store, accountId, "key_1", time.clock() + 365 * 86_400_000)
    await turn()
    expect(await endings(store)).toEqual([null])
    await sender.renew()
    await turn()
    expect(await endings(store)).toEqual(["sent"])
  })
})

describe("several senders", () => {
  test("one mail goes out once, though another sender looks at the same time and long after", async () => {
    const held = Promise.withResolvers<SendResult>()
    const { store, time, tried, sender, newSender, postNow } = await opened(() => held.promise)
    const other = newSender()
    await postNow()
    sender.sendDue()
    other.sendDue()
    await time.tick(0)
    for (let at = 0; at < 20; at++) {
      await sender.renew()
      await other.renew()
      other.sendDue()
      await time.tick(leaseMs / 3)
    }
    expect(tried).toHaveLength(1)
    held.resolve(ACCEPTED)
    await sender.whenIdle()
    await other.whenIdle()
    expect(await endings(store)).toEqual(["sent"])
  })

  test("what a sender that died had under way is sent by another after a lease, not before", async () => {
    let isDead = true
    const { store, time, tried, sender, newSender, logged, postNow } = await opened(() =>
      isDead ? new Promise(() => undefined) : ACCEPTED,
    )
    await postNow()
    sender.sendDue()
    await time.tick(0)
    isDead = false
    const other = newSender()
    await other.renew()
    await time.tick(leaseMs - 1)
    await other.renew()
    other.sendDue()
    await other.whenIdle()
    expect(tried).toHaveLength(1)
    await time.tick(1)
    await other.renew()
    other.sendDue()
    await other.whenIdle()
    expect(await endings(store)).toEqual(["sent"])
    expect(tried.map(({ messageId }) => messageId)).toEqual([tried[0]?.messageId ?? "", tried[0]?.messageId ?? ""])
    expect(logged.map(({ message }) => message)).toContain("a process ended while it was sending a mail")
  })
})

test("what the store could not take is stored before anything else is sent", async () => {
  let isFull = false
  const failing = (store: Store): Store => ({
    ...store,
    run: (sql, params) =>
      isFull && sql.includes("SET ending") ? Promise.reject(new Error("full")) : store.run(sql, params),
  })
  const { store, tried, logged, turn, postNow } = await opened(() => {
    isFull = tried.length < 2
    return ACCEPTED
  }, failing)
  await postNow("key_1")
  await turn()
  expect(await endings(store)).toEqual([null])
  await postNow("key_2")
  await turn()
  expect(tried).toHaveLength(1)
  expect(logged.map(({ level, message }) => [level, message])).toContainEqual([
    "error",
    "the outbox was not read or written",
  ])
  isFull = false
  await turn()
  expect(tried.map(({ messageId }) => messageId)).toHaveLength(2)
  expect(await endings(store)).toEqual(["sent", "sent"])
})

test("a notice of a kind that this version does not know is left for one that does", async () => {
  const { store, tried, turn, postNow } = await opened(() => ACCEPTED)
  await postNow()
  await store.run("UPDATE outbox SET notice = 'key_painted'")
  await postNow("key_2")
  await store.run(`UPDATE outbox SET particulars = '{"colour":"red"}' WHERE subject = 'key_2'`)
  await turn()
  expect(tried).toEqual([])
  expect(await endings(store)).toEqual([null, null])
})

test("a mail that we fail to write keeps no other from being sent, and is not left under way", async () => {
  const { store, tried, logged, turn, postNow } = await opened(() => {
    if (tried.length === 1) throw new RangeError("jane@example.com")
    return ACCEPTED
  })
  await postNow("key_1")
  await postNow("key_2")
  await turn()
  expect(new Set(await endings(store))).toEqual(new Set([null, "sent"]))
  expect((await outboxRows(store)).map(({ claim }) => claim)).toEqual([null, null])
  expect(logged).toContainEqual({
    level: "error",
    message: "a mail could not be written",
    fields: { error: "RangeError", at: expect.any(String) },
  })
})

test("a sender that ends begins nothing more", async () => {
  const { tried, sender, turn, postNow } = await opened(() => ACCEPTED)
  await postNow()
  sender.stop()
  await turn()
  expect(tried).toEqual([])
})

test("no line of log holds an address or a key", async () => {
  const answers = [ACCEPTED, LATER, NEVER, MAIL_SERVER_AWAY]
  const { time, tried, logged, turn, postNow } = await opened(() => answers[tried.length % 4] ?? ACCEPTED)
  for (let at = 0; at < 40; at++) {
    await postNow(`key_${at}`)
    await turn()
    await time.tick(100_000)
  }
  expect(logged.length).toBeGreaterThan(10)
  expect(JSON.stringify(logged)).not.toMatch(/@|jane|svc_/)
})
