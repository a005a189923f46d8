import { expect, setDefaultTimeout, test } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { changeKey } from "../../../src/customers/keys/key-changes.ts"
import { hashKey, parseKey } from "../../../src/customers/keys/key-format.ts"
import { NO_RESTRICTIONS } from "../../../src/customers/keys/key-restrictions.ts"
import {
  type ApiKey,
  countActiveKeys,
  createKey,
  findKey,
  type KeyCreation,
  listKeys,
  type NewApiKey,
  revokeKey,
} from "../../../src/customers/keys/keys.ts"
import { ORIGINS_PER_KEY_MAX } from "../../../src/customers/keys/origins.ts"
import { latestChangeId, readChangesSince } from "../../../src/customers/store/change-log/change-log.ts"
import { newAccount, random, runChildren, tempLog, tempPlace, tempStore, writtenAt } from "../temp-store.ts"

setDefaultTimeout(300_000)

async function setUp(path = tempPlace()) {
  const store = await tempStore(path)
  const log = tempLog(store)
  const create = (wanted: Partial<NewApiKey> & { readonly accountId: string }) =>
    createKey(log, random, { kind: "secret", name: null, origins: [], ...wanted })
  return { path, store, log, create }
}

function madeBy(creation: KeyCreation): { readonly key: ApiKey; readonly text: string } {
  if (creation.kind !== "created") throw new Error(creation.kind)
  return creation
}

test("a new key's text is returned once, and its owner recognizes it by its name and last four characters", async () => {
  const { store, log, create } = await setUp()
  const accountId = await newAccount(log)
  const { key, text } = madeBy(await create({ accountId, name: " CI " }))
  expect(parseKey(text)).toEqual({ kind: "well_formed", keyKind: "secret" })
  expect(key).toEqual({
    id: expect.stringMatching(/^key_[0-9A-Za-z]{20}$/),
    accountId,
    kind: "secret",
    name: "CI",
    last4: text.slice(-4),
    origins: [],
    createdAtMs: 5_000,
    lastUsedAtMs: null,
    revokedAtMs: null,
    revokedBy: null,
    publicText: null,
    ...NO_RESTRICTIONS,
  })
  expect(await findKey(store, key.id)).toEqual(key)
  expect(await findKey(store, "key_x")).toBeNull()
})

test("only a key's hash reaches the disk", async () => {
  const { path, log, create } = await setUp()
  const { text } = madeBy(await create({ accountId: await newAccount(log) }))
  expect(writtenAt(path)).toContain(hashKey(text))
  expect(writtenAt(path)).not.toContain(text.slice(9, 30))
})

test("a publishable key stores its origins, each once and in the form of browsers", async () => {
  const { store, log, create } = await setUp()
  const origins = ["https://Example.com:443/", "https://example.com", "http://localhost:3000"]
  const { key, text } = madeBy(await create({ accountId: await newAccount(log), kind: "publishable", origins }))
  expect(text).toStartWith("svc_pub_")
  expect(key.origins).toEqual(["https://example.com", "http://localhost:3000"])
  expect(await findKey(store, key.id)).toEqual(key)
})

test("a key that cannot be created is refused with its reason, and nothing is stored", async () => {
  const { store, log, create } = await setUp()
  const accountId = await newAccount(log)
  const publishable = { accountId, kind: "publishable" } as const
  const many = Array.from({ length: ORIGINS_PER_KEY_MAX + 1 }, (_, n) => `https://x${n}.com`)
  expect(await create({ accountId: "acc_x" })).toEqual({ kind: "unknown_account" })
  expect(await create({ accountId, name: "a\nb" })).toEqual({ kind: "bad_name" })
  expect(await create({ accountId, origins: ["https://a.com"] })).toEqual({ kind: "origins_on_secret" })
  expect(await create(publishable)).toEqual({ kind: "origins_missing" })
  expect(await create({ ...publishable, origins: many })).toEqual({ kind: "too_many_origins" })
  const origins = ["https://a.com", "https://b.com/x"]
  expect(await create({ ...publishable, origins })).toEqual({ kind: "bad_origin", sent: "https://b.com/x" })
  expect(await listKeys(store, accountId, 10)).toEqual([])
  expect((await create({ ...publishable, origins: many.slice(1) })).kind).toBe("created")
})

test("an account has five active keys of both kinds; a revoked one makes room; others have their own five", async () => {
  const { log, create } = await setUp()
  const accountId = await newAccount(log)
  const { key } = madeBy(await create({ accountId, kind: "publishable", origins: ["https://a.com"] }))
  for (let n = 1; n < LIMITS.keysPerAccountMax; n++) madeBy(await create({ accountId }))
  expect(await create({ accountId })).toEqual({ kind: "too_many_keys" })
  madeBy(await create({ accountId: await newAccount(log, "other@example.com") }))
  await revokeKey(log, key.id, "owner")
  madeBy(await create({ accountId }))
  expect(await create({ accountId })).toEqual({ kind: "too_many_keys" })
})

test("an account creates twenty keys a UTC day, revoked ones included, and others have their own twenty", async () => {
  const { log, create } = await setUp()
  const accountId = await newAccount(log)
  const createAndRevoke = async (): Promise<void> => {
    const { key } = madeBy(await create({ accountId }))
    await revokeKey(log, key.id, "owner")
  }
  for (const day of [0, 1]) {
    log.now = day * 86_400_000
    for (let n = 0; n < LIMITS.keysCreatedPerDayMax; n++) await createAndRevoke()
    expect(await create({ accountId })).toEqual({ kind: "too_many_keys_today" })
    log.now = (day + 1) * 86_400_000 - 1
    expect(await create({ accountId, kind: "publishable", origins: ["https://a.com"] })).toEqual({
      kind: "too_many_keys_today",
    })
    madeBy(await create({ accountId: await newAccount(log, `other-${day}@example.com`) }))
  }
})

test("the limit of keys holds for many creations at once, on two connections", async () => {
  const path = tempPlace()
  const [one, other] = [await setUp(path), await setUp(path)]
  const accountId = await newAccount(one.log)
  const requested = Array.from({ length: 20 }, (_, n) => (n % 2 ? one : other).create({ accountId }))
  const kinds = (await Promise.all(requested)).map(creation => creation.kind)
  expect(kinds.filter(kind => kind === "created")).toHaveLength(LIMITS.keysPerAccountMax)
  expect(kinds.filter(kind => kind === "too_many_keys")).toHaveLength(20 - LIMITS.keysPerAccountMax)
})

test("the limit of keys holds for processes that create at once", async () => {
  const { path, store, log } = await setUp()
  const accountId = await newAccount(log)
  const children = await runChildren(3, "create", path, accountId)
  const kinds = children.flatMap(child => child.out)
  expect(kinds).toHaveLength(12)
  expect(kinds.filter(kind => kind === "created")).toHaveLength(LIMITS.keysPerAccountMax)
  expect(await listKeys(store, accountId, 100)).toHaveLength(LIMITS.keysPerAccountMax)
})

test("keys are listed active first, then newest first, up to the requested count; the active ones of all accounts are counted", async () => {
  const { store, log, create } = await setUp()
  const accountId = await newAccount(log)
  const ids: string[] = []
  for (const now of [1, 2, 3, 4]) {
    log.now = now
    ids.push(madeBy(await create({ accountId })).key.id)
  }
  await revokeKey(log, ids[3] ?? "", "owner")
  const listed = async (countMax: number) =>
    (await listKeys(store, accountId, countMax)).map(key => ids.indexOf(key.id))
  expect(await listed(10)).toEqual([2, 1, 0, 3])
  expect(await listed(2)).toEqual([2, 1])
  await create({ accountId: await newAccount(log, "b@example.com") })
  expect(await countActiveKeys(store, 5)).toBe(4)
})

test("a key is revoked once: who and when stay, and other processes are notified once", async () => {
  const { store, log, create } = await setUp()
  const { key } = madeBy(await create({ accountId: await newAccount(log) }))
  log.now = 6_000
  const revoked = { ...key, revokedAtMs: 6_000, revokedBy: "leak" as const }
  expect(await revokeKey(log, key.id, "leak")).toEqual({ kind: "revoked", key: revoked, isNew: true })
  log.now = 7_000
  expect(await revokeKey(log, key.id, "owner")).toEqual({ kind: "revoked", key: revoked, isNew: false })
  expect(await latestChangeId(store)).toBe(1)
  expect(await readChangesSince(store, 0)).toMatchObject({ changes: [{ kind: "key_revoked", subject: key.id }] })
  expect(await revokeKey(log, "key_x", "owner")).toEqual({ kind: "unknown_key" })
})

test("of revocations at the same moment, one is new", async () => {
  const { store, log, create } = await setUp()
  const { key } = madeBy(await create({ accountId: await newAccount(log) }))
  const revoked = await Promise.all(Array.from({ length: 5 }, () => revokeKey(log, key.id, "owner")))
  expect(revoked.filter(revocation => revocation.kind === "revoked" && revocation.isNew)).toHaveLength(1)
  expect(await latestChangeId(store)).toBe(1)
})

test("a revocation that was acknowledged survives the death of its process", async () => {
  const { path, store, log, create } = await setUp()
  const { key } = madeBy(await create({ accountId: await newAccount(log) }))
  await store.close()
  expect(await runChildren(1, "revoke", path, key.id)).toEqual([{ out: ["revoked"], code: 137 }])
  const again = await tempStore(path)
  expect(await findKey(again, key.id)).toMatchObject({ revokedBy: "admin" })
  expect(await latestChangeId(again)).toBe(1)
})

test("a key is renamed; a blank name is the default; a bad one or an unknown key changes nothing", async () => {
  const { store, log, create } = await setUp()
  const { key } = madeBy(await create({ accountId: await newAccount(log), name: "old" }))
  expect(await changeKey(log, key.id, { name: " new " })).toEqual({ kind: "changed", key: { ...key, name: "new" } })
  expect(await findKey(store, key.id)).toMatchObject({ name: "new" })
  expect(log.received).toEqual([{ kind: "key_changed", subject: key.id }])
  expect(await changeKey(log, key.id, { name: "a\0" })).toEqual({ kind: "bad_name" })
  expect(await changeKey(log, "key_x", { name: "x" })).toEqual({ kind: "unknown_key" })
  expect(await changeKey(log, key.id, { name: "" })).toMatchObject({ key: { name: "Secret key" } })
  expect(log.received).toHaveLength(2)
})
