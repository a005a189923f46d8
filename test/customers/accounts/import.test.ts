import { expect } from "bun:test"
import { findAccountByEmail, removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { importAccounts } from "../../../src/customers/accounts/import.ts"
import { suspendAccount } from "../../../src/customers/accounts/suspension.ts"
import { test } from "../engines.ts"
import { newAccount, random, tempLog, tempStore } from "../temp-store.ts"

const row = (email: string, tier = 0) => ({ email, tier, termsVersion: null })

test("an import creates all accounts or none, and a dry run gives the same result and keeps nothing", async () => {
  const log = tempLog(await tempStore())
  await newAccount(log, "taken@x.com")
  const count = async () => (await log.store.all("SELECT id FROM accounts")).length
  const wrong = [row("a@x.com"), row("Taken@x.com"), row("A@X.com"), row("b"), row("c@x.com", 9)]
  const refusals = [
    { index: 1, kind: "email_taken" },
    { index: 2, kind: "repeated", firstIndex: 0 },
    { index: 3, kind: "malformed_email" },
    { index: 4, kind: "unknown_tier" },
  ]
  for (const isDryRun of [true, false])
    expect<unknown>(await importAccounts(log, random, wrong, isDryRun)).toEqual({ kind: "refused", refusals })
  const right = [row("a@x.com"), row("b@x.com", 2)]
  expect(await importAccounts(log, random, right, true)).toMatchObject({
    kind: "imported",
    accounts: right.map(({ email, tier }) => ({ email, tier })),
  })
  expect([await count(), await findAccountByEmail(log.store, "a@x.com")]).toEqual([1, null])
  expect((await importAccounts(log, random, right, false)).kind).toBe("imported")
  expect([await count(), await log.store.all("SELECT id FROM admin_acts")]).toMatchObject([3, [{}, {}, {}]])
})

test("a dry run takes nothing of what a deleted account left for the next one with its email", async () => {
  const log = tempLog(await tempStore())
  const id = await newAccount(log, "a@x.com")
  await suspendAccount(log, id, "")
  await removeAccount(log, id)
  await importAccounts(log, random, [row("a@x.com")], true)
  const [imported] = [await importAccounts(log, random, [row("a@x.com")], false)]
  expect(imported).toMatchObject({ accounts: [{ suspendedAtMs: log.now }] })
})

test("of two imports of the same accounts at one moment, one creates them and the other is refused", async () => {
  const log = tempLog(await tempStore())
  const rows = Array.from({ length: 20 }, (_, at) => row(`u${at}@x.com`))
  const results = await Promise.all([
    importAccounts(log, random, rows, false),
    importAccounts(log, random, rows, false),
  ])
  expect(results.map(({ kind }) => kind).toSorted()).toEqual(["imported", "refused"])
  expect(await log.store.all("SELECT id FROM accounts")).toHaveLength(20)
})
