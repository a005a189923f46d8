import { createKey } from "../../../src/customers/keys/keys.ts"
import { SENDER_BOUNDS, Sender } from "../../../src/customers/notices/sender.ts"
import { smtpMailer } from "../../../src/customers/notices/smtp-mailer.ts"
import { openStoreAt } from "../../../src/customers/store/open-store.ts"
import { later } from "../../world/later.ts"

// Another process with the same outbox: `sender-child.ts PATH URL` prints "ready" and does what each line says: `create
// ACCOUNT` creates a key and prints "created" when that is durable, `send` sends whatever is due from then on.

const LOOK_MS = 5

const [path = "", url = ""] = process.argv.slice(2)
const store = await openStoreAt(path, { clock: Date.now, later })
const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))
const mailer = smtpMailer()(url)
const sender = new Sender({
  store,
  clock: Date.now,
  stopwatch: () => performance.now(),
  random,
  mailer,
  from: () => "notices@mail.example.com",
  place: () => ({ baseUrl: "https://mk.example.com" }),
  log: () => undefined,
})

console.log("ready")
for await (const line of console) {
  const [command = "", accountId = ""] = line.split(" ")
  if (command === "create") {
    const log = { store, clock: Date.now, hear: () => undefined }
    console.log((await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })).kind)
  } else {
    setInterval(() => sender.turn(), LOOK_MS).unref()
    setInterval(() => void sender.renew(), SENDER_BOUNDS.leaseMs / 3).unref()
  }
}
sender.end()
await sender.settled()
mailer.close()
await store.close()
