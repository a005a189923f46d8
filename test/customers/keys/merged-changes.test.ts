import { expect } from "bun:test"
import { changeKey, type KeySettings } from "../../../src/customers/keys/key-changes.ts"
import { createKey, findKey } from "../../../src/customers/keys/keys.ts"
import { test } from "../engines.ts"
import { newAccount, random, tempLog, tempStore } from "../temp-store.ts"

test("of changes at once that each name another setting of a key, all are in it, and none undoes another", async () => {
  const log = tempLog(await tempStore())
  const accountId = await newAccount(log)
  const made = await createKey(log, random, { accountId, kind: "secret", name: "Shop", origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  const wanted: readonly KeySettings[] = [
    { name: "Web" },
    { restrictions: { unitsPerDay: 7 } },
    { restrictions: { requestsPerSecond: 2 } },
    { restrictions: { networks: ["10.0.0.0/8"] } },
    { restrictions: { expiresAtMs: 9_000 } },
  ]
  await Promise.all(wanted.map(settings => changeKey(log, made.key.id, settings)))
  expect(await findKey(log.store, made.key.id)).toMatchObject({
    ...{ name: "Web", unitsPerDay: 7, requestsPerSecond: 2, networks: ["10.0.0.0/8"], expiresAtMs: 9_000 },
  })
})
