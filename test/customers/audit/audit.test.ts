import { expect, test } from "bun:test"
import { ALL_ACTS, listOperatorActs, pruneActs } from "../../../src/customers/audit/audit.ts"
import type { SqlValue, Store } from "../../../src/customers/store/core/store.ts"
import { openSqlite } from "../../../src/customers/store/sqlite-store.ts"
import { tempPath } from "../temp-store.ts"

const EMAIL = "jane@example.com"

/** A store that remembers its last question, and how it is answered. */
async function explained() {
  const store = await openSqlite(tempPath(), () => 1)
  const asked: (readonly [sql: string, params: readonly SqlValue[]])[] = []
  const watched: Store = {
    ...store,
    all: <Row>(sql: string, params: readonly SqlValue[] = []) => {
      asked.push([sql, params])
      return store.all<Row>(sql, params)
    },
    one: <Row>(sql: string, params: readonly SqlValue[] = []) => {
      asked.push([sql, params])
      return store.one<Row>(sql, params)
    },
  }
  const lastPlan = async (): Promise<string> => {
    const [sql, params] = asked.at(-1) ?? ["", []]
    const steps = await store.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params)
    return steps.map(({ detail }) => detail).find(detail => detail.includes("admin_acts")) ?? ""
  }
  return { store, watched, lastPlan }
}

test("the account with too many acts is found by an index alone, without a look at each act", async () => {
  const { store, watched, lastPlan } = await explained()
  await pruneActs(watched, null, 10)
  expect(await lastPlan()).toBe("SCAN admin_acts USING COVERING INDEX admin_acts_of_accounts")
  await store.close()
})

test("no question about acts reads those of all accounts: each has its index", async () => {
  const { store, watched, lastPlan } = await explained()
  const planOf = async (filter: Partial<typeof ALL_ACTS>): Promise<string> => {
    await listOperatorActs(watched, { ...ALL_ACTS, ...filter }, null, 10)
    return await lastPlan()
  }
  expect(await planOf({})).toStartWith("SEARCH admin_acts USING INDEX admin_acts_of_operators")
  expect(await planOf({ kind: "tier_set" })).toStartWith("SEARCH admin_acts USING INDEX admin_acts_of_operators")
  expect(await planOf({ actor: EMAIL })).toStartWith("SEARCH admin_acts USING INDEX admin_acts_by_actor")
  for (const filter of [{ account: EMAIL }, { account: EMAIL, actor: EMAIL }, { account: EMAIL, kind: "tier_set" }])
    expect(await planOf(filter)).toMatch(/^SEARCH admin_acts USING INDEX admin_acts_by_(?:account|actor) /)
  await store.close()
})
