import { createFirstAccount } from "../../src/customers/keys/first-account.ts"
import { createKey, revokeKey } from "../../src/customers/keys/keys.ts"
import { SERVER_ACTOR } from "../../src/customers/store/change-log/actor.ts"
import { openStoreAt } from "../../src/customers/store/open-store.ts"
import { later } from "../support/later.ts"

// Another process on the same file: `child.ts COMMAND PATH [ID]` prints "ready", waits for a line, and then
// prints what happened, one word a line.

const [command = "", path = "", id = ""] = process.argv.slice(2)
const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))

console.log("ready")
await console[Symbol.asyncIterator]().next()

// Many new files, each begun at a full 20 ms of the clock, where the processes meet: else they seldom collide.
if (command === "open")
  for (let count = 0; count < 20; count++) {
    while (Date.now() % 20 !== 0);
    await (await openStoreAt(`${path}${count}`, { clock: Date.now, setTimer: later })).close()
  }

const store = await openStoreAt(path, { clock: Date.now, setTimer: later })
const log = { store, clock: Date.now, notify: () => undefined, actor: SERVER_ACTOR }

if (command === "first") console.log((await createFirstAccount(store, Date.now, random, null)).kind)
if (command === "create")
  for (let count = 0; count < 4; count++)
    console.log((await createKey(log, random, { accountId: id, kind: "secret", name: null, origins: [] })).kind)
if (command === "revoke") {
  console.log((await revokeKey(log, id, "admin")).kind)
  // Dies as in a crash: nothing is closed, nothing is flushed.
  process.kill(process.pid, "SIGKILL")
}
await store.close()
