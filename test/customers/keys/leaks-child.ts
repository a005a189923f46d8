import { revokeLeakedKey } from "../../../src/customers/keys/keys.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import { openStoreAt } from "../../../src/customers/store/open-store.ts"
import { later } from "../../support/later.ts"

// Another process on the same file: `leaks-child.ts PATH TEXT` revokes the leaked key, prints what became of it, and dies
// as in a crash.

const [path = "", text = ""] = process.argv.slice(2)
const store = await openStoreAt(path, { clock: Date.now, setTimer: later })
const leak = await revokeLeakedKey({ store, clock: Date.now, notify: () => undefined, actor: SERVER_ACTOR }, text)
console.log(JSON.stringify(leak))
process.kill(process.pid, "SIGKILL")
