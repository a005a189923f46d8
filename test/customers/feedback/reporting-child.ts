import { recordFeedback } from "../../../src/customers/feedback/feedback.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import { openStoreAt } from "../../../src/customers/store/open-store.ts"
import { later } from "../../support/later.ts"

// Another process on the same file: `reporting-child.ts PATH ACCOUNT COUNT` prints "ready", waits for a line, reports
// `COUNT` domains, prints the status and the id of each receipt, and dies as in a crash.

const [path = "", accountId = "", count = ""] = process.argv.slice(2)
const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
const store = await openStoreAt(path, { clock: Date.now, setTimer: later })
const log = { store, clock: Date.now, notify: () => undefined, actor: SERVER_ACTOR }

console.log("ready")
await console[Symbol.asyncIterator]().next()
for (let at = 0; at < Number(count); at++) {
  const reporting = await recordFeedback(log, random, {
    accountId,
    domain: `d${at}.example.com`,
    roleWord: null,
    currentCategory: "unknown",
    reportedCategory: "business",
    comment: null,
  })
  if (reporting.kind === "reported") console.log(`${reporting.receipt.status} ${reporting.receipt.id}`)
}
process.kill(process.pid, "SIGKILL")
