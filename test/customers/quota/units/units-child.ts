import { writeSync } from "node:fs"
import { UNIT_QUOTA_BOUNDS, UnitQuota } from "../../../../src/customers/quota/units/unit-quota.ts"
import { openStoreAt } from "../../../../src/customers/store/open-store.ts"
import { later } from "../../../support/later.ts"

// A server without its HTTP: `units-child.ts PATH SUBJECT PER_DAY CLIENTS` has so many clients take one unit after the
// other until each was refused, and then stops cleanly. It writes "+" for each unit, which only then counts as admitted.

const [path = "", subject = "", perDay = "", clients = ""] = process.argv.slice(2)

/** The day does not change while the test runs. */
const clock = () => Date.UTC(2026, 0, 1) + performance.now()
const PAUSE_MS = 20

const failed = (error: unknown) => {
  throw error
}
const store = await openStoreAt(path, { clock: Date.now, setTimer: later })
const units = new UnitQuota(store, clock, UNIT_QUOTA_BOUNDS, failed)
const tidying = setInterval(() => void units.maintain(), 100)

async function client(at: number): Promise<void> {
  await Bun.sleep((PAUSE_MS * at) / Number(clients))
  while ((await units.take(subject, 1, Number(perDay))).isTaken) {
    writeSync(1, "+")
    await Bun.sleep(PAUSE_MS)
  }
}

await Promise.all(Array.from({ length: Number(clients) }, (_, at) => client(at)))
clearInterval(tidying)
await units.releaseAll()
await store.close()
