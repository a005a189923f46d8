import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { removeAccount, setTier } from "../../../src/customers/accounts/accounts.ts"
import {
  KEY_AUTHENTICATOR_BOUNDS,
  KeyAuthenticator,
  type KeyAuthenticatorBounds,
  type KeyLookup,
} from "../../../src/customers/keys/key-authenticator.ts"
import { changeKey } from "../../../src/customers/keys/key-changes.ts"
import { generateKey } from "../../../src/customers/keys/key-format.ts"
import { createKey, revokeKey } from "../../../src/customers/keys/keys.ts"
import type { AttributedLog } from "../../../src/customers/store/change-log/change-log.ts"
import { readChangesSince } from "../../../src/customers/store/change-log/change-log.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

/** An authenticator over a real store that counts reads, can delay its results, and can fail. */
async function setUp({ path = tempPlace(), bounds = {} as Partial<KeyAuthenticatorBounds> } = {}) {
  const store = await tempStore(path)
  const outside = { elapsedMs: 0, nowMs: 9_000, requests: 0, gate: Promise.resolve(), isBroken: false, readCount: 0 }
  const watched: Store = {
    ...store,
    one: async <Row>(sql: string, params: Parameters<Store["one"]>[1] = []) => {
      outside.requests++
      if (outside.isBroken) throw new Error("the store is broken")
      const row = await store.one<Row>(sql, params)
      outside.readCount++
      await outside.gate
      return row
    },
  }
  const time = { clock: () => outside.nowMs, stopwatch: () => outside.elapsedMs }
  const authenticator = new KeyAuthenticator(watched, time.clock, time.stopwatch, {
    ...KEY_AUTHENTICATOR_BOUNDS,
    ...bounds,
  })
  const log: AttributedLog = { ...tempLog(store), notify: changes => authenticator.applyChanges(changes) }
  const add = async (accountId: string) => {
    const creation = await createKey(log, random, { accountId, kind: "secret", name: null, origins: [] })
    if (creation.kind !== "created") throw new Error(creation.kind)
    return { id: creation.key.id, text: creation.text }
  }
  const kindOf = async (text: string) => (await authenticator.lookup(text)).kind
  return { path, store, outside, authenticator, log, add, kindOf }
}

/** Resolves when the store has read so many results, which may still be delayed. */
async function hasRead(outside: { readonly readCount: number }, count: number): Promise<void> {
  while (outside.readCount < count) await new Promise(resolve => setImmediate(resolve))
}

function isHeld(answer: KeyLookup | Promise<KeyLookup>): boolean {
  return !(answer instanceof Promise)
}

describe("look-up", () => {
  test("an active key is found with its account, the second time synchronously and without the store", async () => {
    const { authenticator, log, add, outside } = await setUp()
    const accountId = await newAccount(log, "jane@example.com", 2)
    const { id, text } = await add(accountId)
    const expected = {
      kind: "active" as const,
      key: { id, kind: "secret" as const, origins: [] },
      account: { id: accountId, tier: 2, acceptedTermsVersion: null, acceptedTermsAtMs: 5_000 },
    }
    expect(await authenticator.lookup(text)).toEqual(expected)
    expect(authenticator.lookup(text)).toEqual(expected)
    expect(outside.requests).toBe(1)
  })

  test("a publishable key brings its origins", async () => {
    const { authenticator, log } = await setUp()
    const accountId = await newAccount(log)
    const origins = ["https://a.com", "https://b.com:8443"]
    const creation = await createKey(log, random, { accountId, kind: "publishable", name: null, origins })
    if (creation.kind !== "created") throw new Error(creation.kind)
    expect(await authenticator.lookup(creation.text)).toMatchObject({
      kind: "active",
      key: { kind: "publishable", origins },
    })
  })

  test("a text that is no key is refused without the store", async () => {
    const { authenticator, outside } = await setUp()
    const key = generateKey("secret", random)
    expect(authenticator.lookup("")).toEqual({ kind: "malformed" })
    expect(authenticator.lookup(key.slice(0, -1))).toEqual({ kind: "malformed" })
    const last = key.endsWith("0") ? "1" : "0"
    expect(authenticator.lookup(key.slice(0, -1) + last)).toEqual({ kind: "bad_checksum" })
    expect(outside.requests).toBe(0)
  })

  test("concurrent look-ups of a key that is not cached read the store once", async () => {
    const { authenticator, log, add, outside } = await setUp()
    const { text } = await add(await newAccount(log))
    const answers = await Promise.all(Array.from({ length: 50 }, () => authenticator.lookup(text)))
    expect(answers.every(answer => answer.kind === "active")).toBe(true)
    expect(outside.requests).toBe(1)
  })

  test("an error of the store is not cached, and the next look-up reads again", async () => {
    const { authenticator, log, add, outside } = await setUp()
    const { text } = await add(await newAccount(log))
    outside.isBroken = true
    expect(await outcomeOf(Promise.resolve(authenticator.lookup(text)))).toThrow("broken")
    outside.isBroken = false
    expect(await authenticator.lookup(text)).toMatchObject({ kind: "active" })
    outside.isBroken = true
    expect(authenticator.lookup(text)).toMatchObject({ kind: "active" })
  })

  test("keys beyond the bound are still found, and the most recently used ones stay cached", async () => {
    const { authenticator, log, add, kindOf } = await setUp({ bounds: { keysMax: 2 } })
    const accountId = await newAccount(log)
    const keys = [await add(accountId), await add(accountId), await add(accountId)]
    for (const { text } of keys) expect(await kindOf(text)).toBe("active")
    expect(keys.map(({ text }) => isHeld(authenticator.lookup(text)))).toEqual([false, true, true])
  })
})

describe("time", () => {
  test("a key is read again at the latest a thirtieth after its TTL, counted from the read and not from the last use", async () => {
    const { authenticator, log, add, outside } = await setUp({ bounds: { keyTtlMs: 100 } })
    const { text } = await add(await newAccount(log))
    await authenticator.lookup(text)
    for (outside.elapsedMs of [50, 100]) expect(isHeld(authenticator.lookup(text))).toBe(true)
    outside.elapsedMs = 104
    const again = authenticator.lookup(text)
    expect(isHeld(again)).toBe(false)
    await again
    expect(outside.requests).toBe(2)
  })

  test("a key in use is refreshed in the background, and in an outage is served until its TTL ends", async () => {
    const { authenticator, log, add, outside } = await setUp()
    const { text } = await add(await newAccount(log))
    await authenticator.lookup(text)
    const { keyFreshMs, keyTtlMs } = KEY_AUTHENTICATOR_BOUNDS
    outside.elapsedMs = keyFreshMs
    expect(isHeld(authenticator.lookup(text))).toBe(true)
    expect(outside.requests).toBe(1)
    // It is busy until it is looked at again.
    outside.elapsedMs = keyFreshMs + 2000
    for (let used = 0; used < 3; used++) expect(isHeld(authenticator.lookup(text))).toBe(true)
    await hasRead(outside, 2)
    expect(outside.requests).toBe(2)
    outside.isBroken = true
    const askedAtMs = outside.elapsedMs
    for (; outside.elapsedMs <= askedAtMs + keyTtlMs; outside.elapsedMs += 1000) {
      expect(isHeld(authenticator.lookup(text))).toBe(true)
      await Promise.resolve()
    }
    // It failed at least once, and not at each use.
    expect(outside.requests).toBeGreaterThan(2)
    expect(outside.requests).toBeLessThan(2 + keyTtlMs / 1000)
    outside.elapsedMs += 2000
    expect(await outcomeOf(Promise.resolve(authenticator.lookup(text)))).toThrow("the store is broken")
    outside.isBroken = false
    expect(await authenticator.lookup(text)).toMatchObject({ kind: "active" })
  })

  test("without notifications a revoked key is refused within the time that a revocation may take", async () => {
    const { authenticator, log, add, outside, store } = await setUp()
    const { id, text } = await add(await newAccount(log))
    const gate = Promise.withResolvers<void>()
    outside.gate = gate.promise
    const first = authenticator.lookup(text)
    await hasRead(outside, 1)
    // Right after it was read; its answer comes late, and then the store is away.
    await revokeKey({ ...log, store, notify: () => undefined }, id, "owner")
    outside.elapsedMs = 12_000
    gate.resolve()
    expect(await first).toMatchObject({ kind: "active" })
    outside.isBroken = true
    let servedMs = 0
    for (; outside.elapsedMs <= 60_000; outside.elapsedMs += 100) {
      const answer = authenticator.lookup(text)
      if (isHeld(answer)) servedMs = outside.elapsedMs
      else expect(await outcomeOf(Promise.resolve(answer))).toThrow("the store is broken")
    }
    const { keyTtlMs } = KEY_AUTHENTICATOR_BOUNDS
    expect(servedMs).toBeGreaterThanOrEqual(keyTtlMs)
    expect(servedMs).toBeLessThanOrEqual(keyTtlMs + keyTtlMs / 30)
    // What a check takes at most is still free.
    expect(servedMs).toBeLessThan((LIMITS.revocationSecondsMax - 5) * 1000)
  })

  test("a key that a refresh finds revoked or missing is refused from then on", async () => {
    for (const [end, kind] of [
      ["UPDATE keys SET revoked_at_ms = 1 WHERE id = $1", "revoked"],
      ["DELETE FROM keys WHERE id = $1", "unknown"],
    ] as const) {
      const { authenticator, log, add, outside, store } = await setUp()
      const { id, text } = await add(await newAccount(log))
      await authenticator.lookup(text)
      await store.run(end, [id])
      outside.elapsedMs = KEY_AUTHENTICATOR_BOUNDS.keyFreshMs + 1
      expect(await authenticator.lookup(text)).toMatchObject({ kind: "active" })
      await hasRead(outside, 2)
      await Promise.resolve()
      expect(await authenticator.lookup(text)).toMatchObject({ kind })
    }
  })

  test("unknown keys are cached separately, for a short time of their own", async () => {
    const { authenticator, log, add, outside } = await setUp({ bounds: { unknownMax: 3, unknownTtlMs: 10 } })
    const { text } = await add(await newAccount(log))
    await authenticator.lookup(text)
    const unknown = generateKey("secret", random)
    expect(await authenticator.lookup(unknown)).toEqual({ kind: "unknown" })
    outside.elapsedMs = 10
    expect(authenticator.lookup(unknown)).toEqual({ kind: "unknown" })
    outside.elapsedMs = 11
    expect(isHeld(authenticator.lookup(unknown))).toBe(false)
    for (let n = 0; n < 50; n++) await authenticator.lookup(generateKey("secret", random))
    expect(isHeld(authenticator.lookup(text))).toBe(true)
  })
})

describe("change", () => {
  test("a key revoked in this process is refused as soon as the revocation is acknowledged", async () => {
    const { authenticator, log, add } = await setUp()
    const { id, text } = await add(await newAccount(log))
    await authenticator.lookup(text)
    await revokeKey(log, id, "owner")
    expect(await authenticator.lookup(text)).toMatchObject({ kind: "revoked", key: { id } })
    expect(authenticator.lookup(text)).toMatchObject({ kind: "revoked" })
  })

  test("a key that is revoked during a read is not cached as active", async () => {
    const { authenticator, log, add, outside } = await setUp()
    const { id, text } = await add(await newAccount(log))
    const gate = Promise.withResolvers<void>()
    outside.gate = gate.promise
    const early = authenticator.lookup(text)
    await hasRead(outside, 1)
    await revokeKey(log, id, "owner")
    const late = authenticator.lookup(text)
    gate.resolve()
    expect(await early).toMatchObject({ kind: "active" })
    expect(await late).toMatchObject({ kind: "revoked" })
    expect(authenticator.lookup(text)).toMatchObject({ kind: "revoked" })
  })

  test("a read that began before a change is not cached after it", async () => {
    const { authenticator, log, add, outside, kindOf } = await setUp()
    const { id, text } = await add(await newAccount(log))
    const gate = Promise.withResolvers<void>()
    outside.gate = gate.promise
    const early = authenticator.lookup(text)
    await hasRead(outside, 1)
    await revokeKey(log, id, "owner")
    gate.resolve()
    expect(await early).toMatchObject({ kind: "active" })
    expect(isHeld(authenticator.lookup(text))).toBe(false)
    expect(await kindOf(text)).toBe("revoked")
  })

  test("a key revoked elsewhere is refused once the change log is read", async () => {
    const here = await setUp()
    const there = await setUp({ path: here.path })
    const { id, text } = await there.add(await newAccount(there.log))
    await here.authenticator.lookup(text)
    await revokeKey(there.log, id, "leak")
    expect(here.authenticator.lookup(text)).toMatchObject({ kind: "active" })
    const read = await readChangesSince(here.store, 0)
    if (read.kind === "read") here.authenticator.applyChanges(read.changes)
    expect(await here.kindOf(text)).toBe("revoked")
  })

  test("revoking a key that was revoked elsewhere takes effect here at once", async () => {
    const here = await setUp()
    const there = await setUp({ path: here.path })
    const { id, text } = await there.add(await newAccount(there.log))
    await here.authenticator.lookup(text)
    await revokeKey(there.log, id, "leak")
    await revokeKey(here.log, id, "owner")
    expect(await here.kindOf(text)).toBe("revoked")
  })

  test("a new tier is seen by all keys of the account, and a removed account's keys are unknown", async () => {
    const { authenticator, log, add, kindOf, outside } = await setUp()
    const [changed, other] = [await newAccount(log, "a@x.com"), await newAccount(log, "b@x.com")]
    const [one, two, three] = [await add(changed), await add(changed), await add(other)]
    for (const { text } of [one, two, three]) await authenticator.lookup(text)
    await setTier(log, changed, 4)
    for (const { text } of [one, two]) expect(await authenticator.lookup(text)).toMatchObject({ account: { tier: 4 } })
    expect(outside.requests).toBe(5)
    await removeAccount(log, changed)
    expect([await kindOf(one.text), await kindOf(two.text), await kindOf(three.text)]).toEqual([
      "unknown",
      "unknown",
      "active",
    ])
    expect(isHeld(authenticator.lookup(three.text))).toBe(true)
  })

  test("a change of an unknown kind, and lost changes, make it read again", async () => {
    const { authenticator, log, add } = await setUp()
    const { text } = await add(await newAccount(log))
    await authenticator.lookup(text)
    authenticator.applyChanges([])
    expect(isHeld(authenticator.lookup(text))).toBe(true)
    authenticator.applyChanges([{ kind: "keys_of_the_future", subject: "x" }])
    const answer = authenticator.lookup(text)
    expect(isHeld(answer)).toBe(false)
    await answer
    authenticator.invalidateAll()
    expect(isHeld(authenticator.lookup(text))).toBe(false)
  })

  test("a renamed key goes on working", async () => {
    const { log, add, kindOf } = await setUp()
    const { id, text } = await add(await newAccount(log))
    await kindOf(text)
    await changeKey(log, id, { name: "other" })
    expect(await kindOf(text)).toBe("active")
  })
})
