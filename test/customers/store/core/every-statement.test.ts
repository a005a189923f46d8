import { expect } from "bun:test"
import { join } from "node:path"
import { Glob } from "bun"
import { EXPORTED_LISTS, exportAccount } from "../../../../src/customers/accounts/account-export.ts"
import { createKey } from "../../../../src/customers/keys/keys.ts"
import { countParameters } from "../../../../src/customers/store/core/sql-text.ts"
import { ROOT } from "../../../architecture/source-files.ts"
import { test } from "../../engines.ts"
import { newAccount, random, tempLog, tempStore } from "../../temp-store.ts"

/** The files of the store's own folder whose statements run on both engines. */
const OF_BOTH = ["changes.ts", "migrate.ts"]

/** A statement as it stands in the source, between quotation marks or backticks, and its name if it has one. */
const TEXT = /(?:const (\w+) =\s+)?(["`])\s*((?:SELECT|INSERT|UPDATE|DELETE|WITH) (?:(?!\2)[\s\S])*)\2/g

/** All statements of the product that are written out in one piece; the tests of the nouns ask the others. */
async function statements(): Promise<string[]> {
  const found: string[] = []
  for (const path of new Glob("src/customers/**/*.ts").scanSync(ROOT)) {
    const [, name] = /^src\/customers\/store\/(.*)$/.exec(path) ?? []
    if (name !== undefined && !OF_BOTH.includes(name)) continue
    const source = await Bun.file(join(ROOT, path)).text()
    for (const [, constant = "", , text = ""] of source.matchAll(TEXT)) {
      const isPart = text.includes("${") || source.includes(`\${${constant}}`)
      if (!isPart) found.push(text.replaceAll("\\\\", "\\"))
    }
  }
  return found
}

test("every statement is understood by the engine, and each of its parameters may be null", async () => {
  const store = await tempStore()
  const all = await statements()
  expect(all.length).toBeGreaterThan(90)
  const refused: string[] = []
  for (const sql of all) {
    const nulls = Array.from({ length: countParameters(sql) }, () => null)
    await store.all(`EXPLAIN ${sql}`, nulls).catch((error: unknown) => refused.push(`${sql}: ${error}`))
  }
  expect(refused).toEqual([])
})

test("the export of an account, whose statements are composed, reads all of its tables", async () => {
  const store = await tempStore()
  const log = tempLog(store)
  const accountId = await newAccount(log)
  await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
  for (let day = 0; day <= 500; day++)
    await store.run("INSERT INTO usage (account_id, key_id, day, measure, count) VALUES ($1, 'k', $2, 'checks', 1)", [
      accountId,
      day,
    ])
  let text = ""
  for await (const part of exportAccount(store, 1_000, accountId)) text += part
  const exported = JSON.parse(text)
  expect(Object.keys(exported)).toEqual(expect.arrayContaining(Object.keys(EXPORTED_LISTS)))
  expect([exported.keys.length, exported.usage.length]).toEqual([1, 501])
})
