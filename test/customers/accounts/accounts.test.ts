import { expect, test } from "bun:test"
import { TIER_MAX } from "../../../src/contract/tiers.ts"
import {
  type AccountSearch,
  countAccounts,
  createAccount,
  findAccount,
  findAccountByEmail,
  removeAccount,
  searchAccounts,
  setTier,
  summarizeAccount,
} from "../../../src/customers/accounts/accounts.ts"
import { suspendAccount } from "../../../src/customers/accounts/suspension.ts"
import { createKey, listKeys, revokeKey } from "../../../src/customers/keys/keys.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

async function opened(path = tempPlace()) {
  const store = await tempStore(path)
  return { store, log: tempLog(store) }
}

test("a new account has its email in one form, and its terms count as accepted", async () => {
  const { store, log } = await opened()
  const creation = await createAccount(log, random, { email: "Jane@Example.com", tier: 2, termsVersion: "2026-01" })
  const account = {
    id: expect.stringMatching(/^acc_[0-9A-Za-z]{20}$/),
    email: "jane@example.com",
    tier: 2,
    createdAtMs: 5_000,
    acceptedTermsVersion: "2026-01",
    acceptedTermsAtMs: 5_000,
  }
  expect(creation).toEqual({ kind: "created", account })
  if (creation.kind !== "created") return
  expect(await findAccount(store, creation.account.id)).toEqual(creation.account)
  expect(await findAccountByEmail(store, " JANE@example.com")).toEqual(creation.account)
})

test("an account that does not exist is not found", async () => {
  const { store } = await opened()
  expect(await findAccount(store, "acc_x")).toBeNull()
  expect(await findAccountByEmail(store, "jane@example.com")).toBeNull()
  expect(await findAccountByEmail(store, "no email")).toBeNull()
  expect(await summarizeAccount(store, "acc_x", 0)).toBeNull()
})

test("a malformed or taken email and an unknown tier make no account", async () => {
  const { store, log } = await opened()
  const create = (email: string, tier: number) => createAccount(log, random, { email, tier, termsVersion: null })
  expect(await create("jane", 0)).toEqual({ kind: "malformed_email" })
  for (const tier of [-1, TIER_MAX + 1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
    expect(await create("jane@example.com", tier)).toEqual({ kind: "unknown_tier" })
  expect((await create("jane@example.com", TIER_MAX)).kind).toBe("created")
  expect(await create("JANE@EXAMPLE.COM", 0)).toEqual({ kind: "email_taken" })
  expect(await searchAccounts(store, { text: "", after: null, countMax: 10, nowMs: 0 })).toHaveLength(1)
})

test("of many who ask for one email at once, on two connections, one gets it", async () => {
  const path = tempPlace()
  const logs = [(await opened(path)).log, (await opened(path)).log]
  const requests = logs.flatMap(log =>
    Array.from({ length: 5 }, () => createAccount(log, random, { email: "a@b.com", tier: 0, termsVersion: null })),
  )
  const kinds = (await Promise.all(requests)).map(creation => creation.kind).sort()
  expect(kinds).toEqual(["created", ...Array.from({ length: 9 }, () => "email_taken" as const)])
})

test("a tier is set, told to others, and survives a restart", async () => {
  const path = tempPlace()
  const { store, log } = await opened(path)
  const id = await newAccount(log)
  expect(await setTier(log, id, 3)).toMatchObject({ kind: "changed", account: { id, tier: 3 } })
  expect(log.received).toEqual([{ kind: "account_changed", subject: id }])
  await store.close()
  expect(await findAccount(await tempStore(path), id)).toMatchObject({ tier: 3 })
})

test("an unknown tier or account changes nothing and tells nobody", async () => {
  const { store, log } = await opened()
  const id = await newAccount(log)
  expect(await setTier(log, id, TIER_MAX + 1)).toEqual({ kind: "unknown_tier" })
  expect(await setTier(log, "acc_x", 1)).toEqual({ kind: "unknown_account" })
  expect(await removeAccount(log, "acc_x")).toBe(false)
  expect(await findAccount(store, id)).toMatchObject({ tier: 0 })
  expect(log.received).toEqual([])
})

test("an account has its counts of keys, of which expired ones are not active", async () => {
  const { store, log } = await opened()
  const [accountId, other] = [await newAccount(log, "c@x.com"), await newAccount(log, "a@x.com")]
  for (let n = 0; n < 3; n++) {
    const creation = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
    if (n === 0 && creation.kind === "created") await revokeKey(log, creation.key.id, "owner")
  }
  expect(await summarizeAccount(store, accountId, 0)).toMatchObject({ activeKeyCount: 2, revokedKeyCount: 1 })
  await store.run("UPDATE keys SET expires_at_ms = 5 WHERE id = (SELECT MIN(id) FROM keys WHERE revoked_at_ms IS NULL)")
  for (const [nowMs, activeKeyCount] of [
    [4, 2],
    [5, 1],
  ] as const)
    expect([nowMs, await summarizeAccount(store, accountId, nowMs)]).toMatchObject([
      nowMs,
      { activeKeyCount, revokedKeyCount: 1 },
    ])
  expect(await summarizeAccount(store, other, 0)).toMatchObject({ activeKeyCount: 0, revokedKeyCount: 0 })
})

test("an account is removed with its keys, others keep theirs, and its email is free again", async () => {
  const { store, log } = await opened()
  const [gone, kept] = [await newAccount(log, "gone@x.com"), await newAccount(log, "kept@x.com")]
  for (const accountId of [gone, kept])
    await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
  expect(await removeAccount(log, gone)).toBe(true)
  expect(log.received).toEqual([{ kind: "account_removed", subject: gone }])
  expect(await findAccount(store, gone)).toBeNull()
  expect(await listKeys(store, gone, 10)).toEqual([])
  expect(await listKeys(store, kept, 10)).toHaveLength(1)
  expect(await newAccount(log, "gone@x.com")).not.toBe(gone)
})

test("accounts are found by the beginning of their email, whatever it goes on with, and by nothing else of it", async () => {
  const store = await tempStore()
  const log = tempLog(store)
  const emails = ["jan@a.com", "jane@a.com", "jane@b.com", "jane.x@a.com", "jané@a.com", "janz@a.com", "x.jane@a.com"]
  for (const email of emails) await newAccount(log, email)
  const found = async (text: string) => {
    const accounts = await searchAccounts(store, { text, after: null, countMax: 10, nowMs: 0 })
    return accounts.map(({ email }) => email).sort()
  }
  expect(await found("jane")).toEqual(["jane.x@a.com", "jane@a.com", "jane@b.com"])
  expect(await found("jané")).toEqual(["jané@a.com"])
  expect(await found("")).toHaveLength(emails.length)
  for (const nothing of ["ane", "jane%", "jan_", "jane@a.com2", "\u{10FFFF}"]) expect(await found(nothing)).toEqual([])
})

test("a search tells the newest accounts first, page by page, by state, tier and time, and when a key was last used", async () => {
  const { store, log } = await opened()
  const ids = [
    await newAccount(log, "a@x.com", 0),
    await newAccount(log, "b@x.com", 2),
    await newAccount(log, "c@x.com", 2),
  ]
  for (const [at, id] of ids.entries())
    await store.run("UPDATE accounts SET created_at_ms = $2 WHERE id = $1", [id, 5_000 + Math.min(at, 1)])
  const [first = "", second = ""] = ids
  await createKey(log, random, { accountId: first, kind: "secret", name: null, origins: [] })
  await store.run("UPDATE keys SET last_used_at_ms = 7 WHERE account_id = $1", [first])
  await suspendAccount(log, second, "")
  const search = (more: Partial<AccountSearch> = {}) =>
    searchAccounts(store, { text: "", after: null, countMax: 10, nowMs: 0, ...more })
  const all = await search()
  expect(all.at(-1)).toMatchObject({ id: first, lastUsedAtMs: 7 })
  expect(all.slice(0, 2).map(({ id }) => id)).toEqual(ids.slice(1).sort().reverse())
  for (let after: AccountSearch["after"] = null, at = 0; at < all.length; at++) {
    const [next] = await search({ after, countMax: 1 })
    expect(next).toEqual(all[at])
    after = next ?? null
  }
  const found = async (more: Partial<AccountSearch>) => (await search(more)).map(({ email }) => email).sort()
  expect(await found({ state: "suspended" })).toEqual(["b@x.com"])
  expect(await found({ state: "active", tier: 2 })).toEqual(["c@x.com"])
  expect(await found({ tier: 0 })).toEqual(["a@x.com"])
  expect(await found({ fromMs: 5_001 })).toEqual(["b@x.com", "c@x.com"])
  expect(await found({ fromMs: 5_000, toMs: 5_001 })).toEqual(["a@x.com"])
})

test("accounts are counted, and those that mail can reach", async () => {
  const store = await tempStore()
  expect(await countAccounts(store)).toEqual({ all: 0, mailable: 0 })
  for (const email of ["owner@localhost", "a@example.com", "b@example.com"]) await newAccount(tempLog(store), email)
  expect(await countAccounts(store)).toEqual({ all: 3, mailable: 2 })
})
