import { describe, expect } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { createKeyOnce, isIdempotencyKey, newIdempotencyKey } from "../../../src/customers/keys/idempotent-creation.ts"
import { listKeys, type NewApiKey, revokeKey } from "../../../src/customers/keys/keys.ts"
import { test } from "../engines.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

async function setUp(path = tempPlace()) {
  const log = tempLog(await tempStore(path))
  const accountId = await newAccount(log, `${crypto.randomUUID()}@example.com`)
  const wanted: NewApiKey = { accountId, kind: "secret", name: "Shop", origins: [] }
  return { log, accountId, wanted, keys: () => listKeys(log.store, accountId, 100) }
}

describe("with one idempotency key", () => {
  test("an account gets one key, with an id like others", async () => {
    const { log, wanted, keys } = await setUp()
    const idempotencyKey = newIdempotencyKey(random)
    const first = await createKeyOnce(log, random, wanted, idempotencyKey)
    expect(first.kind).toBe("created")
    const [key] = await keys()
    expect(key?.id).toMatch(/^key_[0-9A-Za-z]{20}$/)
    if (key === undefined) throw new Error("it was just created")
    expect(await createKeyOnce(log, random, { ...wanted, name: "Other" }, idempotencyKey)).toEqual({
      kind: "created_before",
      key,
    })
    expect(await keys()).toHaveLength(1)
  })

  test("two processes that create at once create one key", async () => {
    const path = tempPlace()
    const { log, wanted, keys } = await setUp(path)
    const other = tempLog(await tempStore(path))
    const idempotencyKey = newIdempotencyKey(random)
    const made = await Promise.all(
      [log, other, log, other].map(each => createKeyOnce(each, random, wanted, idempotencyKey)),
    )
    expect(made.map(({ kind }) => kind).sort()).toEqual([
      "created",
      "created_before",
      "created_before",
      "created_before",
    ])
    expect(await keys()).toHaveLength(1)
  })

  test("it stays one key when it was revoked, and when the account has as many as it may have", async () => {
    const { log, wanted, keys } = await setUp()
    const idempotencyKey = newIdempotencyKey(random)
    await createKeyOnce(log, random, wanted, idempotencyKey)
    for (let count = 1; count < LIMITS.keysPerAccountMax; count++)
      await createKeyOnce(log, random, wanted, newIdempotencyKey(random))
    expect((await createKeyOnce(log, random, wanted, idempotencyKey)).kind).toBe("created_before")
    expect((await createKeyOnce(log, random, wanted, newIdempotencyKey(random))).kind).toBe("too_many_keys")
    for (const { id } of await keys()) await revokeKey(log, id, "owner")
    expect((await createKeyOnce(log, random, wanted, idempotencyKey)).kind).toBe("created_before")
  })

  test("every account gets its own key", async () => {
    const path = tempPlace()
    const [one, other] = [await setUp(path), await setUp(path)]
    const idempotencyKey = newIdempotencyKey(random)
    expect((await createKeyOnce(one.log, random, one.wanted, idempotencyKey)).kind).toBe("created")
    expect((await createKeyOnce(other.log, random, other.wanted, idempotencyKey)).kind).toBe("created")
  })
})

test("an idempotency key whose creation was refused can create a key later", async () => {
  const { log, wanted, keys } = await setUp()
  const idempotencyKey = newIdempotencyKey(random)
  expect((await createKeyOnce(log, random, { ...wanted, kind: "publishable" }, idempotencyKey)).kind).toBe(
    "origins_missing",
  )
  expect((await createKeyOnce(log, random, { ...wanted, accountId: "acc_none" }, idempotencyKey)).kind).toBe(
    "unknown_account",
  )
  expect((await createKeyOnce(log, random, wanted, idempotencyKey)).kind).toBe("created")
  expect(await keys()).toHaveLength(1)
})

test("an idempotency key is recognized by its form", () => {
  expect(isIdempotencyKey(newIdempotencyKey(random))).toBe(true)
  for (const text of ["", "a".repeat(19), "a".repeat(21), `${"a".repeat(19)}-`, `${"a".repeat(20)}\n`])
    expect(isIdempotencyKey(text)).toBe(false)
})
