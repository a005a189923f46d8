import { expect, test } from "bun:test"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { createFirstAccount } from "../../../src/customers/keys/first-account.ts"
import { createKey, insertKey, type Revoker, revokeKey } from "../../../src/customers/keys/keys.ts"
import { outboxRows } from "../notices/outbox-rows.ts"
import { newAccount, random, tempLog, tempStore } from "../temp-store.ts"

async function setUp() {
  const store = await tempStore()
  const log = tempLog(store)
  const accountId = await newAccount(log)
  const create = async (name: string | null = "Billing") => {
    const made = await createKey(log, random, { accountId, kind: "secret", name, origins: [] })
    if (made.kind !== "created") throw new Error(made.kind)
    return made
  }
  const posted = async () =>
    (await outboxRows(store)).map(row => [row.notice, row.subject, JSON.parse(row.particulars)])
  return { store, log, accountId, create, posted }
}

test("the owner of a new key gets a mail with its name and last four characters", async () => {
  const { create, posted } = await setUp()
  const { key } = await create()
  const particulars = { kind: "secret", name: "Billing", last4: key.last4, atMs: 5_000 }
  expect(await posted()).toEqual([["key_created", key.id, particulars]])
})

const NOTICE_BY: { readonly [R in Revoker]: string } = {
  owner: "key_revoked_by_owner",
  admin: "key_revoked_by_admin",
  leak: "key_leaked",
}

for (const [by, notice] of Object.entries(NOTICE_BY) as [Revoker, string][]) // the table's own
  test(`a revocation by ${by} is told once`, async () => {
    const { log, create, posted } = await setUp()
    const { key } = await create()
    log.now = 7_000
    await revokeKey(log, key.id, by)
    log.now = 8_000
    for (const again of ["owner", "admin", "leak"] as const) await revokeKey(log, key.id, again)
    const facts = (await posted()).filter(([kind]) => kind !== "key_created")
    expect(facts).toEqual([[notice, key.id, { kind: "secret", name: "Billing", last4: key.last4, atMs: 7_000 }]])
  })

test("a mail is enqueued in the transaction that causes it", async () => {
  const { store, accountId, posted } = await setUp()
  const failing = store.transaction(async inner => {
    await insertKey(inner, random, { nowMs: 1, day: 0 }, { accountId, kind: "secret", name: null, origins: [] })
    throw new Error("no")
  })
  expect(await failing.catch(() => "failed")).toBe("failed")
  expect(await posted()).toEqual([])
})

test("a key that is not created causes no mail", async () => {
  const { log, accountId, create, posted } = await setUp()
  for (let at = 0; at < 5; at++) await create()
  await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
  expect(await posted()).toHaveLength(5)
})

test("the outbox contains no key, even when one was pasted into the name of another", async () => {
  const { store, create } = await setUp()
  const { text } = await create()
  const { key } = await create(`old ${text}`)
  expect(key.name).toContain(text)
  const rows = JSON.stringify(await outboxRows(store))
  expect(rows).toContain("old svc_live_…")
  expect(rows).not.toContain(text.slice(9, 20))
})

test("the first account of an installation gets no mail", async () => {
  const store = await tempStore()
  await createFirstAccount(store, () => 1, random, null)
  expect(await outboxRows(store)).toEqual([])
})

test("removing an account removes its mails", async () => {
  const { log, accountId, create, posted } = await setUp()
  await create()
  await removeAccount(log, accountId)
  expect(await posted()).toEqual([])
})
