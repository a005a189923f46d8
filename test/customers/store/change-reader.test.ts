import { expect } from "bun:test"
import { KEY_RING_BOUNDS, KeyRing } from "../../../src/customers/keys/key-ring.ts"
import { createKey, revokeKey } from "../../../src/customers/keys/keys.ts"
import { changeReader } from "../../../src/customers/store/change-reader.ts"
import { latestChange } from "../../../src/customers/store/changes.ts"
import { settled } from "../../world/time.ts"
import { test } from "../engines.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

test("a key that another process revoked is refused after the next turn, and after one that follows a failure", async () => {
  const path = tempPlace()
  const [ours, theirs] = [await tempStore(path), await tempStore(path)]
  const log = tempLog(theirs)
  const accountId = await newAccount(log)
  const made = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  const ring = new KeyRing(ours, log.clock, () => 0, KEY_RING_BOUNDS)
  let fails = true
  const failures: unknown[] = []
  const store = { ...ours, one: <Row>(sql: string) => (fails ? Promise.reject(new Error("away")) : ours.one<Row>(sql)) }
  const turn = changeReader(store, [ring], await latestChange(ours), error => void failures.push(error))
  await ring.lookup(made.text)
  await revokeKey(log, made.key.id, "owner")
  turn()
  turn()
  await settled()
  expect(failures).toHaveLength(1)
  expect(await ring.lookup(made.text)).toMatchObject({ kind: "active" })
  fails = false
  turn()
  await settled()
  expect(await ring.lookup(made.text)).toMatchObject({ kind: "revoked" })
})
