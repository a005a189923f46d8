import { expect, test } from "bun:test"
import { createAccount, insertAccount } from "../../../src/customers/accounts/accounts.ts"
import { acceptTerms, currentTermsVersion, publishTerms } from "../../../src/customers/terms/terms.ts"
import { notifyNextAccounts } from "../../../src/customers/terms/terms-notices.ts"
import { outboxRows } from "../notices/outbox-rows.ts"
import { newAccount, random, tempLog, tempStore } from "../temp-store.ts"

const DAY_MS = 86_400_000

async function opened() {
  const store = await tempStore()
  const log = tempLog(store)
  const publish = (version: string, isMaterial = true) =>
    publishTerms(log, { version, url: `https://example.com/${version}`, isMaterial })
  const facts = async () => (await outboxRows(store)).map(({ accountId, subject }) => [accountId, subject])
  return { store, log, publish, facts }
}

test("material terms are told to every account 30 days ahead", async () => {
  const { store, log, publish } = await opened()
  const accountId = await newAccount(log)
  await publish("2026-01")
  const rows = await outboxRows(store)
  expect(rows).toMatchObject([{ accountId, notice: "terms_change", subject: "2026-01", writtenAtMs: 5_000 }])
  expect(JSON.parse(rows[0]?.particulars ?? "")).toEqual({
    version: "2026-01",
    url: "https://example.com/2026-01",
    endsAtMs: 5_000 + 30 * DAY_MS,
  })
})

test("terms that are not material, and terms that are published again, are told to nobody", async () => {
  const { store, log, publish, facts } = await opened()
  const accountId = await newAccount(log)
  await publish("1", false)
  expect(await facts()).toEqual([])
  await publish("2")
  await publish("2")
  while (await notifyNextAccounts(store, 6_000));
  expect(await facts()).toEqual([[accountId, "2"]])
})

test("who has accepted them, or has no mail, is not written to", async () => {
  const { store, log, publish, facts } = await opened()
  await newAccount(log, "owner@localhost")
  await publish("1")
  const late = await createAccount(log, random, {
    email: "joe@example.com",
    tier: 0,
    termsVersion: await currentTermsVersion(store),
  })
  await store.run("UPDATE terms SET told_up_to = ''")
  while (await notifyNextAccounts(store, 6_000));
  expect(late.kind).toBe("created")
  expect(await facts()).toEqual([])
})

test("accounts beyond the first batch are written to by the next ones, each once, wherever a crash ended it", async () => {
  const { store, log, publish, facts } = await opened()
  const ids = Array.from({ length: 23 }, (_, at) => `acc_${String(at).padStart(2, "0")}`)
  for (const id of ids) await insertAccount(store, id, 1, { email: `${id}@example.com`, tier: 0, termsVersion: null })
  await publish("1")
  await store.run("DELETE FROM outbox")
  await store.run("UPDATE terms SET told_up_to = ''")
  const failing = store.transaction(async inner => {
    await notifyNextAccounts(inner, 6_000, 5)
    throw new Error("crash")
  })
  expect(await failing.catch(() => "failed")).toBe("failed")
  let batchCount = 0
  for (; await notifyNextAccounts(store, 6_000, 5); batchCount++)
    // Whoever accepts meanwhile has nothing to be told.
    if (batchCount === 0) await acceptTerms(log, "acc_22")
  expect(batchCount).toBe(5)
  expect(await facts()).toEqual(ids.slice(0, 22).map(id => [id, "1"]))
})

test("two publications are told one after the other", async () => {
  const { store, log, publish, facts } = await opened()
  const accountId = await newAccount(log)
  await store.run("DELETE FROM outbox")
  await publish("1")
  await publish("2")
  while (await notifyNextAccounts(store, 6_000));
  expect(await facts()).toEqual([
    [accountId, "1"],
    [accountId, "2"],
  ])
})
