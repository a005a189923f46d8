import { expect, test } from "bun:test"
import { claimMails, countOutbox, endMail, oldestWaitingAtMs } from "../../../src/customers/notices/outbox.ts"
import { newAccount, tempLog, tempStore } from "../temp-store.ts"
import { post } from "./outbox-rows.ts"

const NOW = 10_000

test("an outbox without a mail has nothing to count, and nothing that waits", async () => {
  const store = await tempStore()
  expect([await countOutbox(store), await oldestWaitingAtMs(store)]).toEqual([[], null])
})

test("mails are counted by notice and state, and the oldest that waits is the one that nobody has taken", async () => {
  const store = await tempStore()
  const accountId = await newAccount(tempLog(store))
  await post(store, accountId)
  expect(await countOutbox(store)).toEqual([{ notice: "key_created", state: "waiting", count: 1 }])
  const writtenMs = await oldestWaitingAtMs(store)
  expect(writtenMs).toBeLessThanOrEqual(NOW)
  await claimMails(store, "me", NOW, 1)
  expect(await countOutbox(store)).toEqual([{ notice: "key_created", state: "under_way", count: 1 }])
  expect(await oldestWaitingAtMs(store)).toBeNull()
  await endMail(store, "me", { accountId, notice: "key_created", subject: "key_1" }, "refused", NOW)
  expect(await countOutbox(store)).toEqual([{ notice: "key_created", state: "refused", count: 1 }])
})
