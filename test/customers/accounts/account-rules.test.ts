import { expect } from "bun:test"
import type { AccountRules } from "../../../src/contract/account-rules.ts"
import {
  changeAccountRules,
  readAccountRules,
  rulesVersion,
  setAccountRules,
} from "../../../src/customers/accounts/account-rules.ts"
import { findAccount } from "../../../src/customers/accounts/accounts.ts"
import { KEY_AUTHENTICATOR_BOUNDS, KeyAuthenticator } from "../../../src/customers/keys/key-authenticator.ts"
import { createKey } from "../../../src/customers/keys/keys.ts"
import { latestChangeId } from "../../../src/customers/store/change-log/change-log.ts"
import { createChangePoller } from "../../../src/customers/store/change-log/change-poller.ts"
import { test } from "../engines.ts"
import { newAccount, openAt, random, tempLog, tempPlace } from "../temp-store.ts"

/** Two nodes over one database, each with its cache of keys; what one changes the other hears when it polls. */
async function twoNodes() {
  const place = tempPlace()
  const stores = [await openAt(place, () => 0), await openAt(place, () => 0)] as const
  const node = async (store: (typeof stores)[number]) => {
    const keys = new KeyAuthenticator(
      store,
      () => 0,
      () => 0,
      KEY_AUTHENTICATOR_BOUNDS,
    )
    const log = { ...tempLog(store), notify: keys.applyChanges.bind(keys) }
    return { store, keys, log, poll: createChangePoller(store, [keys], await latestChangeId(store), () => undefined) }
  }
  const [one, other] = [await node(stores[0]), await node(stores[1])]
  const accountId = await newAccount(one.log, "ada@example.com")
  const made = await createKey(one.log, random, { accountId, kind: "secret", name: null, origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  const rulesBy = async ({ keys }: typeof one) => {
    const found = await keys.lookup(made.text)
    return "account" in found ? found.account.rules : null
  }
  return { one, other, accountId, rulesBy, close: () => Promise.all(stores.map(store => store.close())) }
}

test("rules come with the key of the account: at once in the node that sets them, and in another one when it hears of it", async () => {
  const { one, other, accountId, rulesBy, close } = await twoNodes()
  expect([await rulesBy(one), await rulesBy(other)]).toEqual([undefined, undefined])
  for (const rules of [{ personal: "block" }, { new_domain: "review", relay: "allow" }] as const) {
    const before = await rulesBy(other)
    expect(await setAccountRules(one.log, accountId, rules)).toBe(true)
    expect(await rulesBy(one)).toEqual(rules)
    expect(await rulesBy(other)).toEqual(before)
    other.poll()
    for (let turn = 0; turn < 1000 && !Bun.deepEquals(await rulesBy(other), rules); turn++)
      await other.store.one("SELECT 1")
    expect(await rulesBy(other)).toEqual(rules)
  }
  await close()
})

test("rules that another node set before hold at once in the node that is asked for the same", async () => {
  const { one, other, accountId, rulesBy, close } = await twoNodes()
  expect(await rulesBy(one)).toBeUndefined()
  await setAccountRules(other.log, accountId, { personal: "block" })
  await setAccountRules(one.log, accountId, { personal: "block" })
  expect(await rulesBy(one)).toEqual({ personal: "block" })
  await close()
})

test("of rules that two nodes set at a time, those of one hold as a whole", async () => {
  const { one, other, accountId, close } = await twoNodes()
  const sets: readonly AccountRules[] = [
    { personal: "block", business: "block", relay: "block" },
    { personal: "allow", role_account: "allow" },
  ]
  for (let round = 0; round < 5; round++) {
    await Promise.all([one, other].map(({ log }, at) => setAccountRules(log, accountId, sets[at] ?? {})))
    const held = await readAccountRules(one.store, accountId)
    expect(sets.some(rules => Bun.deepEquals(rules, held))).toBe(true)
  }
  await close()
})

test("of rules that two nodes set at a time because of the same ones, one is set, and the other node is told", async () => {
  const { one, other, accountId, close } = await twoNodes()
  const sets: readonly AccountRules[] = [{ personal: "block" }, { relay: "review" }]
  const changes = await Promise.all(
    [one, other].map(({ log }, at) => changeAccountRules(log, accountId, sets[at] ?? {}, rulesVersion({}))),
  )
  expect(changes.toSorted()).toEqual(["changed", "changed_meanwhile"])
  expect<unknown>(await readAccountRules(one.store, accountId)).toEqual(sets[changes.indexOf("changed")])
  await close()
})

test("no rules, an account that is gone, and rules that this version does not know", async () => {
  const { one, accountId, close } = await twoNodes()
  expect(await readAccountRules(one.store, accountId)).toEqual({})
  await setAccountRules(one.log, accountId, { personal: "block" })
  await setAccountRules(one.log, accountId, {})
  expect(await findAccount(one.store, accountId)).not.toHaveProperty("rules")
  expect(await setAccountRules(one.log, "acc_gone", { personal: "block" })).toBe(false)
  expect(await readAccountRules(one.store, "acc_gone")).toBeNull()
  for (const [stored, rules] of [
    ['{"personal":"block","of_tomorrow":"allow","relay":"ask"}', { personal: "block" }],
    ["not JSON", {}],
    ["[1]", {}],
    ["null", {}],
  ] as const) {
    await one.store.run("UPDATE accounts SET rules = $1", [stored])
    expect(await readAccountRules(one.store, accountId)).toEqual(rules)
  }
  await close()
})
