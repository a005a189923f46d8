import { expect, setDefaultTimeout, test } from "bun:test"
import { createPruning } from "../../src/customers/pruning.ts"
import { openSignIn } from "../../src/customers/sign-in/pending-sign-ins.ts"
import { insertSession } from "../../src/customers/sign-in/sessions.ts"
import { SERVER_ACTOR } from "../../src/customers/store/change-log/actor.ts"
import { NodeClaims } from "../../src/customers/store/poll/node-claims.ts"
import { trustedTime } from "../support/clock.ts"
import { createFakeTime } from "../support/time.ts"
import { newAccount, random, tempStore } from "./temp-store.ts"

// A month goes by, minute by minute.
setDefaultTimeout(300_000)

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

async function opened() {
  const store = await tempStore()
  const time = createFakeTime()
  const { clock, later } = time
  const logged: string[] = []
  const pruning = createPruning({
    store,
    trustedTime: trustedTime(clock),
    claims: new NodeClaims(clock),
    runInterval: (everyMs, work) => {
      let cancel = later(everyMs, function again() {
        work()
        cancel = later(everyMs, again)
      })
      return () => cancel()
    },
    log: (_, message) => void logged.push(message),
    pruneMails: async () => 0,
    freeChecks: null,
  })
  const counts = async () =>
    (await store.one<{ s: number; i: number }>(
      "SELECT (SELECT COUNT(*) FROM sessions) AS s, (SELECT COUNT(*) FROM sign_ins) AS i",
    )) ?? { s: -1, i: -1 }
  return { store, time, clock, logged, pruning, counts }
}

test("what is over by time is deleted within a minute, and what is not stays", async () => {
  const { store, time, clock, pruning, counts } = await opened()
  const accountId = await newAccount({ store, clock, notify: () => undefined, actor: SERVER_ACTOR })
  pruning.start()
  await openSignIn(store, clock, random, "jane@example.com")
  await store.transaction(inner => insertSession(inner, random, clock(), accountId, "Firefox"))
  await time.tick(14 * MINUTE_MS)
  expect(await counts()).toEqual({ s: 1, i: 1 })
  await time.tick(2 * MINUTE_MS)
  expect(await counts()).toEqual({ s: 1, i: 0 })
  await time.tick(30 * DAY_MS - 18 * MINUTE_MS)
  expect(await counts()).toEqual({ s: 1, i: 0 })
  await time.tick(3 * MINUTE_MS)
  expect(await counts()).toEqual({ s: 0, i: 0 })
  pruning.stop()
  expect(time.waiting()).toBe(0)
})

test("however much has become too old at once, all of it is deleted", async () => {
  const { store, clock, pruning } = await opened()
  const accountId = await newAccount({ store, clock, notify: () => undefined, actor: SERVER_ACTOR })
  const rows = Array.from({ length: 2500 }, (_, at) => `('${accountId}', 'k${at}', 'm', 'a', ${clock() - DAY_MS})`)
  await store.run(
    `INSERT INTO idempotent_requests (account_id, key_hash, body_mac, answer, at_ms) VALUES ${rows.join(", ")}`,
  )
  await pruning.pruneAll()
  expect(await store.all<unknown>("SELECT key_hash FROM idempotent_requests")).toEqual([])
})

test("a store that is away is told to the log by each kind of rows, and the next time is another", async () => {
  const { store, logged, pruning } = await opened()
  await store.close()
  await pruning.pruneAll()
  expect(logged.toSorted()).toEqual([
    "expired sign-ins and sessions were not deleted",
    "old acts of administrators and suspensions were not deleted",
    "old answers to repeated requests were not deleted",
    "old networks of keys were not deleted",
    "old traffic was not deleted",
    "old usage, keys and reports were not deleted",
    "the use of deleted accounts was not deleted",
  ])
})
