import { createKey } from "../../../src/customers/keys/keys.ts"
import { MAIL_SENDER_BOUNDS, MailSender } from "../../../src/customers/notices/mail-sender.ts"
import { createSmtpMailer } from "../../../src/customers/notices/smtp-mailer.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import { openStoreAt } from "../../../src/customers/store/open-store.ts"
import { trustedTime } from "../../support/clock.ts"
import { later } from "../../support/later.ts"

// Another process with the same outbox: `sender-child.ts PATH URL` prints "ready" and does what each line says: `create
// ACCOUNT` creates a key and prints "created" when that is durable, `send` sends whatever is due from then on.

const LOOK_MS = 5

const [path = "", url = ""] = process.argv.slice(2)
const store = await openStoreAt(path, { clock: Date.now, setTimer: later })
const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))
const mailer = createSmtpMailer()(url)
const sender = new MailSender({
  store,
  clock: Date.now,
  trustedTime: trustedTime(Date.now),
  stopwatch: () => performance.now(),
  random,
  mailer,
  mailServer: "",
  from: () => "notices@mail.example.com",
  linkContext: () => ({ baseUrl: "https://mk.example.com" }),
  log: () => undefined,
})

console.log("ready")
for await (const line of console) {
  const [command = "", accountId = ""] = line.split(" ")
  if (command === "create") {
    const log = { store, clock: Date.now, notify: () => undefined, actor: SERVER_ACTOR }
    console.log((await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })).kind)
  } else {
    setInterval(() => sender.sendDue(), LOOK_MS).unref()
    setInterval(() => void sender.renew(), MAIL_SENDER_BOUNDS.leaseMs / 3).unref()
  }
}
sender.stop()
await sender.whenIdle()
mailer.close()
await store.close()
