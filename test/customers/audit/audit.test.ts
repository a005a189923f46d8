import { expect, test } from "bun:test"
import { ALL_ACTS, listOperatorActs } from "../../../src/customers/audit/audit.ts"
import type { SqlValue, Store } from "../../../src/customers/store/core/store.ts"
import { openSqlite } from "../../../src/customers/store/sqlite-store.ts"
import { tempPath } from "../temp-store.ts"

const EMAIL = "jane@example.com"

test("no question about acts reads those of all accounts: each has its index", async () => {
  const store = await openSqlite(tempPath(), () => 1)
  let asked: [sql: string, params: readonly SqlValue[]] = ["", []]
  const watched: Store = {
    ...store,
    all: <Row>(sql: string, params: readonly SqlValue[] = []) => {
      asked = [sql, params]
      return store.all<Row>(sql, params)
    },
  }
  const planOf = async (filter: Partial<typeof ALL_ACTS>): Promise<string> => {
    await listOperatorActs(watched, { ...ALL_ACTS, ...filter }, null, 10)
    const steps = await store.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${asked[0]}`, asked[1])
    return steps.map(({ detail }) => detail).find(detail => detail.includes("admin_acts")) ?? ""
  }
  expect(await planOf({})).toStartWith("SEARCH admin_acts USING INDEX admin_acts_of_operators")
  expect(await planOf({ kind: "tier_set" })).toStartWith("SEARCH admin_acts USING INDEX admin_acts_of_operators")
  expect(await planOf({ actor: EMAIL })).toStartWith("SEARCH admin_acts USING INDEX admin_acts_by_actor")
  for (const filter of [{ account: EMAIL }, { account: EMAIL, actor: EMAIL }, { account: EMAIL, kind: "tier_set" }])
    expect(await planOf(filter)).toMatch(/^SEARCH admin_acts USING INDEX admin_acts_by_(?:account|actor) /)
  await store.close()
})
