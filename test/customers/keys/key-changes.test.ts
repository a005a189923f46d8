import { expect, test } from "bun:test"
import { DAY_MS } from "../../../src/base/time.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { changeKey, keyVersion } from "../../../src/customers/keys/key-changes.ts"
import {
  type KeyRestrictions,
  NO_CEILING,
  NO_RESTRICTIONS,
  type RestrictionRefusal,
} from "../../../src/customers/keys/key-restrictions.ts"
import { KEY_STATES, type KeyState, keyState } from "../../../src/customers/keys/key-state.ts"
import { createKey, findKey, type NewApiKey, revokeKey } from "../../../src/customers/keys/keys.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

const CEILING = { unitsPerDay: 1000, requestsPerSecond: 5 }

async function setUp() {
  const path = tempPlace()
  const log = tempLog(await tempStore(path))
  const accountId = await newAccount(log)
  const create = async (wanted: Partial<NewApiKey> = {}) => {
    const made = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [], ...wanted })
    if (made.kind !== "created") throw new Error(made.kind)
    return made
  }
  const change = (id: string, wanted: Partial<KeyRestrictions>, seen: string | null = null) =>
    changeKey(log, id, { restrictions: { ...NO_RESTRICTIONS, ...wanted } }, CEILING, seen)
  return { path, log, store: log.store, accountId, create, change }
}

/** Each state by what decides it, on both sides of every border. */
const STATE_CASES: readonly (readonly [KeyState, expiresInMs: number | null, isRevoked: boolean])[] = [
  ["active", null, false],
  ["active", LIMITS.keyExpiryNoticeDays * DAY_MS + 1, false],
  ["expiring", LIMITS.keyExpiryNoticeDays * DAY_MS, false],
  ["expiring", 1, false],
  ["expired", 0, false],
  ["expired", -DAY_MS, false],
  ["revoked", null, true],
  ["revoked", 1, true],
  ["revoked", -1, true],
]

test.each(STATE_CASES)("a key is %s when it expires in %p ms and revoked is %p", (state, inMs, isRevoked) => {
  const life = { expiresAtMs: inMs === null ? null : 10 * DAY_MS + inMs, revokedAtMs: isRevoked ? 1 : null }
  expect(keyState(life, 10 * DAY_MS)).toBe(state)
})

test("every state of a key has a case", () => {
  expect([...new Set(STATE_CASES.map(([state]) => state))].toSorted()).toEqual(
    Object.keys(KEY_STATES).toSorted() as KeyState[],
  )
})

test("a key keeps what it is restricted to, in the form of the table", async () => {
  const { store, log, create, change } = await setUp()
  const { key } = await create()
  const wanted = { expiresAtMs: log.now + DAY_MS, unitsPerDay: 999, requestsPerSecond: 4, networks: ["10.1.2.3/8"] }
  expect(await change(key.id, wanted)).toMatchObject({ kind: "changed" })
  expect(await findKey(store, key.id)).toEqual({ ...key, ...wanted, networks: ["10.0.0.0/8"] })
})

const NOW_MS = 5_000

test("what a key cannot be restricted to is refused, at its creation too, and changes nothing", async () => {
  const { log, store, accountId, create, change } = await setUp()
  const { key } = await create()
  const refused: readonly (readonly [Partial<KeyRestrictions>, RestrictionRefusal["kind"]])[] = [
    [{ expiresAtMs: NOW_MS }, "bad_expiry"],
    [{ expiresAtMs: NOW_MS - 1 }, "bad_expiry"],
    [{ expiresAtMs: Number.NaN }, "bad_expiry"],
    [{ expiresAtMs: NOW_MS + LIMITS.keyExpiryDaysMax * DAY_MS + 1 }, "bad_expiry"],
    ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1000, 1001].map(
      unitsPerDay => [{ unitsPerDay }, "bad_units"] as const,
    ),
    ...[0, 0.5, Number.NaN, 5, 6].map(requestsPerSecond => [{ requestsPerSecond }, "bad_rate"] as const),
    [{ networks: ["10.0.0.0/8", "nowhere"] }, "bad_network"],
    [
      { networks: Array.from({ length: LIMITS.networksPerKeyMax + 1 }, (_, at) => `10.${at}.0.0/16`) },
      "too_many_networks",
    ],
  ]
  for (const [wanted, kind] of refused) {
    expect([wanted, (await change(key.id, wanted)).kind]).toEqual([wanted, kind])
    const restrictions = { ...NO_RESTRICTIONS, ...wanted }
    const newKey = { accountId, kind: "secret", name: null, origins: [], restrictions, ceiling: CEILING } as const
    expect((await createKey(log, random, newKey)).kind).toBe(kind)
  }
  expect(await findKey(store, key.id)).toEqual(key)
})

test("a publishable key has limits below those of all such keys, and no networks", async () => {
  const { create, change } = await setUp()
  const { key } = await create({ kind: "publishable", origins: ["https://a.example"] })
  expect((await change(key.id, { unitsPerDay: LIMITS.publishableUnitsPerDay })).kind).toBe("bad_units")
  expect((await change(key.id, { requestsPerSecond: LIMITS.publishablePerSecond })).kind).toBe("bad_rate")
  expect((await change(key.id, { networks: ["10.0.0.0/8"] })).kind).toBe("networks_on_publishable")
  expect((await change(key.id, { unitsPerDay: 999, requestsPerSecond: 9 })).kind).toBe("changed")
})

test("a value that a key has already stays possible when the account's limits are lower by now", async () => {
  const { log, create } = await setUp()
  const restrictions = { ...NO_RESTRICTIONS, unitsPerDay: 500, expiresAtMs: log.now + 1 }
  const { key } = await create({ restrictions })
  log.now += DAY_MS
  const lower = { unitsPerDay: 100, requestsPerSecond: null }
  const wanted = { ...restrictions, requestsPerSecond: 3 }
  expect(await changeKey(log, key.id, { restrictions: wanted }, lower)).toMatchObject({ kind: "changed", key: wanted })
})

test("of two changes at once that saw the same key one is told, and the key is as the other wanted", async () => {
  const { path, log, store, create } = await setUp()
  const { key } = await create()
  const others = tempLog(await tempStore(path))
  const wants = [
    { ...NO_RESTRICTIONS, unitsPerDay: 1, networks: ["10.0.0.0/8"] },
    { ...NO_RESTRICTIONS, requestsPerSecond: 2, expiresAtMs: 5 * DAY_MS },
  ] as const
  const seen = keyVersion(key)
  const changes = await Promise.all([
    changeKey(log, key.id, { restrictions: wants[0] }, NO_CEILING, seen),
    changeKey(others, key.id, { restrictions: wants[1] }, NO_CEILING, seen),
  ])
  expect(changes.map(({ kind }) => kind).toSorted()).toEqual(["changed", "changed_meanwhile"])
  const winner = changes[0].kind === "changed" ? wants[0] : wants[1]
  expect(await findKey(store, key.id)).toEqual({ ...key, ...winner })
})

test("an expired key that works again counts among the active ones", async () => {
  const { log, create, change } = await setUp()
  const { key } = await create({ restrictions: { ...NO_RESTRICTIONS, expiresAtMs: log.now + 1 } })
  log.now += 1
  for (let count = 0; count < LIMITS.keysPerAccountMax; count++) await create()
  expect((await change(key.id, {})).kind).toBe("too_many_keys")
  expect((await change(key.id, { expiresAtMs: log.now + 1 })).kind).toBe("too_many_keys")
  expect((await change(key.id, { expiresAtMs: log.now, unitsPerDay: 5 })).kind).toBe("changed")
})

test("a limit that is set holds for the whole day: what the key used before counts", async () => {
  const { log, store, accountId, create, change } = await setUp()
  const { key } = await create()
  const insert = "INSERT INTO usage (account_id, key_id, day, measure, count) VALUES ($1, $2, $3, $4, $5)"
  await store.run(insert, [accountId, key.id, 0, "used", 70])
  await store.run(insert, [accountId, key.id, 0, "checks", 70])
  await store.run(insert, [accountId, "key_other", 0, "used", 9])
  log.now += 1
  await change(key.id, { unitsPerDay: 100 })
  expect(await store.all<unknown>("SELECT subject, day, leased FROM units")).toEqual([
    { subject: key.id, day: 0, leased: 70 },
  ])
})

test("the text of a publishable key can be read again, and that of a secret key nowhere", async () => {
  const { store, create } = await setUp()
  const pub = await create({ kind: "publishable", origins: ["https://a.example"] })
  const secret = await create()
  expect((await findKey(store, pub.key.id))?.publicText).toBe(pub.text)
  expect((await findKey(store, secret.key.id))?.publicText).toBeNull()
})

test("the origins of a key are replaced as a whole, and known for preflights", async () => {
  const { log, store, create } = await setUp()
  const { key } = await create({ kind: "publishable", origins: ["https://a.example", "https://b.example"] })
  const listed = async () =>
    (await store.all<{ origin: string }>("SELECT origin FROM key_origins ORDER BY origin")).map(({ origin }) => origin)
  const moved = await changeKey(log, key.id, { origins: ["https://b.example/", "https://c.example:8443"] })
  expect(moved).toMatchObject({ kind: "changed", key: { origins: ["https://b.example", "https://c.example:8443"] } })
  expect(await listed()).toEqual(["https://b.example", "https://c.example:8443"])
  expect((await changeKey(log, key.id, { origins: [] })).kind).toBe("origins_missing")
  expect((await changeKey(log, key.id, { origins: ["https://*.example"] })).kind).toBe("bad_origin")
  expect((await changeKey(log, key.id, { origins: ["https://d.example"] }, NO_CEILING, "https://a.example")).kind).toBe(
    "changed_meanwhile",
  )
  await revokeKey(log, key.id, "owner")
  expect((await changeKey(log, key.id, { origins: ["https://d.example"] })).kind).toBe("revoked")
  expect(await listed()).toEqual(["https://b.example", "https://c.example:8443"])
  expect((await changeKey(log, "key_x", { origins: ["https://d.example"] })).kind).toBe("unknown_key")
})

test("deleting an account deletes what its keys used of their own limits, and the networks that were seen", async () => {
  const { log, store, accountId, create } = await setUp()
  const { key } = await create()
  await store.run("INSERT INTO units (subject, day, leased) VALUES ($1, 0, 5)", [key.id])
  await store.run("INSERT INTO key_networks VALUES ($1, 'hash', 1, 1)", [key.id])
  await removeAccount(log, accountId)
  for (const table of ["keys", "units", "key_networks"]) expect(await store.all(`SELECT * FROM ${table}`)).toEqual([])
})
