import { createKey, revokeKey } from "../../src/customers/keys/keys.ts"
import { SERVER_ACTOR } from "../../src/customers/store/change-log/actor.ts"
import { openStoreAt } from "../../src/customers/store/open-store.ts"
import { later } from "../support/later.ts"

// Another process on the database of running servers: `crash-writer.ts PATH` prints "ready", then does what each line
// says, `create ACCOUNT` or `revoke KEY`, and prints what happened when it is durable: `created ID TEXT`, `revoked ID`.

const [path = ""] = process.argv.slice(2)
const store = await openStoreAt(path, { clock: Date.now, setTimer: later })
const log = { store, clock: Date.now, notify: () => undefined, actor: SERVER_ACTOR }
const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))

console.log("ready")
for await (const line of console) {
  const [command = "", id = ""] = line.split(" ")
  if (command === "create") {
    const made = await createKey(log, random, { accountId: id, kind: "secret", name: null, origins: [] })
    console.log(made.kind === "created" ? `created ${made.key.id} ${made.text}` : made.kind)
  } else {
    const { kind } = await revokeKey(log, id, "owner")
    console.log(`${kind} ${id}`)
  }
}
