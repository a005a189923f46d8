import { expect, setDefaultTimeout } from "bun:test"
import { OWNER_TIER } from "../../../src/contract/tiers.ts"
import { removeAccount, searchAccounts } from "../../../src/customers/accounts/accounts.ts"
import { createFirstAccount, hasKey } from "../../../src/customers/keys/first-account.ts"
import { parseKey } from "../../../src/customers/keys/key-format.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { StoreError } from "../../../src/customers/store/core/store-error.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { test } from "../engines.ts"
import { newAccount, random, runChildren, tempLog, tempPlace, tempStore } from "../temp-store.ts"

setDefaultTimeout(300_000)

const allAccounts = (store: Store) => searchAccounts(store, { text: "", after: null, countMax: 10, nowMs: 0 })

test("an empty store gets its owner with one secret key, and a second start creates nothing", async () => {
  const path = tempPlace()
  const store = await tempStore(path)
  const first = await createFirstAccount(store, () => 5_000, random, null)
  expect(first).toMatchObject({
    kind: "created",
    account: { email: "owner@localhost", tier: OWNER_TIER, acceptedTermsAtMs: 5_000 },
    key: { kind: "secret", name: "Secret key", revokedAtMs: null },
  })
  if (first.kind !== "created") return
  expect(first.key.accountId).toBe(first.account.id)
  expect(parseKey(first.text)).toEqual({ kind: "well_formed", keyKind: "secret" })
  expect(await createFirstAccount(store, () => 6_000, random, null)).toEqual({ kind: "exists" })
  await store.close()
  const again = await tempStore(path)
  expect(await createFirstAccount(again, () => 7_000, random, null)).toEqual({ kind: "exists" })
  expect(await allAccounts(again)).toMatchObject([{ email: "owner@localhost", activeKeyCount: 1 }])
})

test("a store that has any account gets no owner", async () => {
  const store = await tempStore()
  const log = tempLog(store)
  await newAccount(log)
  await newAccount(log, "owner@localhost")
  expect(await createFirstAccount(store, () => 1, random, null)).toEqual({ kind: "exists" })
  const accounts = await allAccounts(store)
  expect(accounts.map(account => account.activeKeyCount)).toEqual([0, 0])
  for (const account of accounts) await removeAccount(log, account.id)
  expect((await createFirstAccount(store, () => 1, random, null)).kind).toBe("created")
})

test("of several processes that start together on an empty store, one creates the owner", async () => {
  for (let round = 0; round < 3; round++) {
    const path = tempPlace()
    const children = await runChildren(4, "first", path)
    expect(children.flatMap(child => child.out).sort()).toEqual(["created", "exists", "exists", "exists"])
    expect(await allAccounts(await tempStore(path))).toMatchObject([{ activeKeyCount: 1 }])
  }
})

test("an owner whose commit was not answered is shown its key all the same, if it is stored", async () => {
  const store = await tempStore()
  const unsure = new StoreError("unsure", "the database", "its answer did not come")
  let isStored = true
  const losing: Store = {
    ...store,
    transaction: async work => {
      await store.transaction(async inner => {
        await work(inner)
        if (!isStored) throw unsure
      })
      throw unsure
    },
  }
  isStored = false
  expect(await outcomeOf(createFirstAccount(losing, () => 1, random, null))).toThrow("its answer did not come")
  isStored = true
  const first = await createFirstAccount(losing, () => 1, random, null)
  expect([first.kind, first.kind === "created" && (await hasKey(store, first.text))]).toEqual(["created", true])
})

test("an error in between leaves no account without a key", async () => {
  const store = await tempStore()
  let draws = 0
  const failing = (count: number) => {
    if (++draws > 1) throw new Error("no randomness")
    return random(count)
  }
  expect(await outcomeOf(createFirstAccount(store, () => 1, failing, null))).toThrow("no randomness")
  expect(await allAccounts(store)).toEqual([])
  expect((await createFirstAccount(store, () => 1, random, null)).kind).toBe("created")
})
