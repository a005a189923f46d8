import { describe, expect } from "bun:test"
import { join } from "node:path"
import { MAIL_SENDER_BOUNDS, MailSender } from "../../../src/customers/notices/mail-sender.ts"
import { createSmtpMailer } from "../../../src/customers/notices/smtp-mailer.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { bounded } from "../../support/bounded.ts"
import { trustedTime } from "../../support/clock.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { testSmtp } from "../../support/smtp-server.ts"
import { createFakeTime } from "../../support/time.ts"
import { test } from "../engines.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"
import { outboxRows, post } from "./outbox-rows.ts"

/** A process with the same outbox; it does what it is told, line by line. */
async function startChild(path: string, url: string) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "sender-child.ts"), path, url], {
    stdin: "pipe",
    stderr: "inherit",
  })
  onTestEnd(() => child.kill("SIGKILL"))
  const reader = child.stdout.getReader()
  const description = async (): Promise<string> =>
    new TextDecoder().decode((await bounded(reader.read(), () => "the child said nothing")).value).trim()
  expect(await description()).toBe("ready")
  return {
    description,
    tell: (line: string): void => {
      child.stdin.write(`${line}\n`)
      child.stdin.flush()
    },
    kill: async (): Promise<void> => {
      child.kill("SIGKILL")
      await child.exited
    },
    finish: async (): Promise<number> => {
      child.stdin.end()
      return await bounded(child.exited, () => "the child did not end")
    },
  }
}

/** A sender of this process, in a time that stands still. */
function senderHere(store: Store, url: string) {
  const time = createFakeTime(Date.now())
  const mailer = createSmtpMailer()(url)
  onTestEnd(mailer.close)
  const sender = new MailSender({
    store,
    clock: time.clock,
    stopwatch: time.stopwatch,
    trustedTime: trustedTime(time.clock),
    random,
    mailer,
    mailServer: "",
    from: () => "notices@mail.example.com",
    linkContext: () => ({ baseUrl: "https://mk.example.com" }),
    log: () => undefined,
  })
  const turn = async (): Promise<void> => {
    sender.sendDue()
    await bounded(sender.whenIdle(), () => "the sender is not done")
  }
  const takeOver = async (): Promise<void> => {
    await sender.renew()
    await time.tick(MAIL_SENDER_BOUNDS.leaseMs)
    await sender.renew()
    await turn()
  }
  return { turn, takeOver }
}

async function opened() {
  const path = tempPlace()
  const store = await tempStore(path)
  return { path, store, accountId: await newAccount(tempLog(store)) }
}

const endings = async (store: Store): Promise<readonly (string | null)[]> =>
  (await outboxRows(store)).map(({ ending }) => ending)

describe("a process that is killed", () => {
  test("after it wrote a mail and before it sent it loses nothing", async () => {
    const { path, store, accountId } = await opened()
    const server = await testSmtp()
    const child = await startChild(path, server.url)
    child.tell(`create ${accountId}`)
    expect(await child.description()).toBe("created")
    await child.kill()
    await senderHere(store, server.url).turn()
    expect(server.taken.map(({ to }) => to.join())).toEqual(["jane@example.com"])
    expect(await endings(store)).toEqual(["sent"])
  })

  test("while a server has yet to answer leaves a mail that another sends once, after the lease", async () => {
    const { path, store, accountId } = await opened()
    const reached = Promise.withResolvers<void>()
    let isStuck = true
    const server = await testSmtp({
      mail: () => {
        reached.resolve()
        return isStuck ? new Promise(() => undefined) : null
      },
    })
    const child = await startChild(path, server.url)
    await post(store, accountId)
    child.tell("send")
    await bounded(reached.promise, () => "no mail came")
    await child.kill()
    isStuck = false
    const here = senderHere(store, server.url)
    await here.turn()
    expect(server.taken).toHaveLength(0)
    await here.takeOver()
    expect(server.taken).toHaveLength(1)
    expect(await endings(store)).toEqual(["sent"])
  })

  test("between the server's word and the store's leaves a mail that is sent again under its message id", async () => {
    const { path, store, accountId } = await opened()
    let kill: (() => Promise<void>) | null = null
    const server = await testSmtp({
      mail: async () => {
        await kill?.()
        kill = null
        return null
      },
    })
    const child = await startChild(path, server.url)
    kill = child.kill
    await post(store, accountId)
    child.tell("send")
    await bounded(server.takes(1), () => "no mail came")
    await senderHere(store, server.url).takeOver()
    expect(server.taken.map(({ messageId }) => messageId)).toEqual(Array(2).fill(server.taken[0]?.messageId))
    expect(await endings(store)).toEqual(["sent"])
  })
})

test("two processes share one outbox, and each mail is taken once", async () => {
  const COUNT = 100
  const { path, store, accountId } = await opened()
  const server = await testSmtp()
  const children = await Promise.all([startChild(path, server.url), startChild(path, server.url)])
  for (let at = 0; at < COUNT; at++) await post(store, accountId, `key_${at}`)
  for (const child of children) child.tell("send")
  await bounded(server.takes(COUNT), () => `${server.taken.length} mails came`)
  for (const child of children) expect(await child.finish()).toBe(0)
  expect(server.taken).toHaveLength(COUNT)
  expect(new Set(server.taken.map(({ messageId }) => messageId)).size).toBe(COUNT)
  expect(await endings(store)).toEqual(Array(COUNT).fill("sent"))
})
