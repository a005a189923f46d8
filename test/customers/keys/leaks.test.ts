import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { KEY_AUTHENTICATOR_BOUNDS, KeyAuthenticator } from "../../../src/customers/keys/key-authenticator.ts"
import { generateKey } from "../../../src/customers/keys/key-format.ts"
import { createKey, findKey, revokeKey, revokeLeakedKey } from "../../../src/customers/keys/keys.ts"
import { latestChangeId } from "../../../src/customers/store/change-log/change-log.ts"
import { createChangePoller } from "../../../src/customers/store/change-log/change-poller.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

setDefaultTimeout(300_000)

async function withKey(origins: readonly string[] = []) {
  const path = tempPlace()
  const store = await tempStore(path)
  const log = tempLog(store)
  const accountId = await newAccount(log)
  const kind = origins.length > 0 ? "publishable" : "secret"
  const made = await createKey(log, random, { accountId, kind, name: null, origins })
  if (made.kind !== "created") throw new Error(made.kind)
  return { path, store, log, accountId, id: made.key.id, text: made.text }
}

describe("a secret key that leaked", () => {
  test("is revoked by the detection of leaks, and this process is notified", async () => {
    const { store, log, id, text } = await withKey()
    expect(await revokeLeakedKey(log, text)).toEqual({ kind: "revoked", isNew: true })
    expect(await findKey(store, id)).toMatchObject({ revokedAtMs: 5_000, revokedBy: "leak" })
    expect(log.received.at(-1)).toEqual({ kind: "key_revoked", subject: id })
  })

  test("keeps its first revocation when it leaks again or its owner had revoked it", async () => {
    for (const by of ["leak", "owner", "admin"] as const) {
      const { store, log, id, text } = await withKey()
      await revokeKey(log, id, by)
      log.now = 9_000
      expect(await revokeLeakedKey(log, text)).toEqual({ kind: "revoked", isNew: false })
      expect(await findKey(store, id)).toMatchObject({ revokedAtMs: 5_000, revokedBy: by })
    }
  })

  test("is not recorded as used", async () => {
    const { store, log, id, text } = await withKey()
    await revokeLeakedKey(log, text)
    expect((await findKey(store, id))?.lastUsedAtMs).toBeNull()
  })

  test("is refused here after another process revoked it and died at once", async () => {
    const { path, store, log, text } = await withKey()
    const authenticator = new KeyAuthenticator(
      store,
      () => 0,
      () => 0,
      KEY_AUTHENTICATOR_BOUNDS,
    )
    expect((await authenticator.lookup(text)).kind).toBe("active")
    const { promise: received, resolve, reject } = Promise.withResolvers<void>()
    const listener = {
      applyChanges: (changes: Parameters<KeyAuthenticator["applyChanges"]>[0]) => {
        authenticator.applyChanges(changes)
        resolve()
      },
      invalidateAll: () => authenticator.invalidateAll(),
    }
    const read = createChangePoller(store, [listener], await latestChangeId(log.store), reject)
    const child = Bun.spawnSync([process.execPath, join(import.meta.dir, "leaks-child.ts"), path, text])
    expect(JSON.parse(child.stdout.toString())).toEqual({ kind: "revoked", isNew: true })
    read()
    await received
    expect((await authenticator.lookup(text)).kind).toBe("revoked")
  })
})

describe("nothing is revoked for", () => {
  test("a publishable key, which is public by its nature", async () => {
    const { store, log, id, text } = await withKey(["https://shop.example"])
    expect(await revokeLeakedKey(log, text)).toEqual({ kind: "no_secret_key" })
    expect((await findKey(store, id))?.revokedAtMs).toBeNull()
  })

  test("a text that is no key, or none that exists", async () => {
    const { store, log, id, text } = await withKey()
    const heardCount = log.received.length
    for (const other of [
      ...["", "some_token", "svc_live_", "x".repeat(60_000), `${text} `, ` ${text}`, `${text}a`, text.slice(0, -1)],
      text.replace(/.$/, last => (last === "a" ? "b" : "a")),
      generateKey("secret", random),
      generateKey("publishable", random),
      id,
    ])
      expect(await revokeLeakedKey(log, other)).toEqual({ kind: "no_secret_key" })
    expect((await findKey(store, id))?.revokedAtMs).toBeNull()
    expect(log.received).toHaveLength(heardCount)
  })

  test("a key whose account is gone", async () => {
    const { log, accountId, text } = await withKey()
    await removeAccount(log, accountId)
    expect(await revokeLeakedKey(log, text)).toEqual({ kind: "no_secret_key" })
  })
})
